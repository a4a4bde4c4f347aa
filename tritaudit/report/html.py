"""HTML: a run as one page with a filter, and the explanation of one finding as a page.

A page is self-contained: styles, script and pictures stand in it, and its content policy forbids
every request. Without script everything is shown; the filter only hides.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from tritaudit.model import CaseResult, Finding, Outcome, Report
from tritaudit.report import prose, terminal
from tritaudit.report.bits import worth_a_bit_table
from tritaudit.report.excerpt import caption, render_excerpt
from tritaudit.report.explain import PLACES, Explained, Source, map_place, values_in_words
from tritaudit.report.mapdraw import legend, render_runs
from tritaudit.report.markup import Child, Html, drawn, tag
from tritaudit.report.picture import bits_picture, map_picture, words_in
from tritaudit.report.severity import OUTCOMES, outcome_look, severity_look
from tritaudit.report.wording import (
    block,
    count,
    coverage_pieces,
    dtypes_in_short,
    example_label,
    explain_command,
    fault_in_short,
    line,
    seconds,
    sentence,
)

#: nothing may be loaded, not even a picture.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
#: cells of a line of preformatted text.
_WIDTH = 110
#: failures up to this number are shown unfolded.
_UNFOLDED = 5


def render(report: Report) -> str:
    """The whole run as one page."""
    body = [
        tag("h1", "tritaudit"),
        tag("p", _counts(report)),
        tag("p", " · ".join(terminal.circumstances(report)), class_="soft"),
    ]
    if report.ended:
        body.append(tag("p", f"The run ended early. {sentence(report.ended)}", class_="wrong"))
    body += [tag("p", sentence(remark)) for remark in report.remarks]
    body += [_filter(report), tag("p", "No case fits the filter.", id="none", class_="hidden")]
    order = sorted(report.results, key=lambda r: not outcome_look(r.outcome).attention)
    unfold = sum(r.outcome is Outcome.FAIL for r in order) <= _UNFOLDED
    body += [_case(result, unfold and result.outcome is Outcome.FAIL) for result in order]
    return _page("tritaudit report", body, script=True)


def explain_page(explained: Sequence[Explained]) -> str:
    """The explanations of findings as one page."""
    titles = [f"{line(e.finding.fault)} in {line(e.finding.case)}" for e in explained]
    body: list[Html] = []
    for k, (title, e) in enumerate(zip(titles, explained, strict=True)):
        body.append(tag("h1", title, class_="next" if k else None))
        body += _article(e.finding, e.source, e.why, _repair(e))
    return _page(" · ".join(titles) or "tritaudit", body)


def _repair(e: Explained) -> list[Html]:
    out = prose.in_html(e.fix) if e.fix else []
    if e.twin:
        where = [" (", tag("span", line(e.twin_path), class_="mono"), ")"] if e.twin_path else None
        out.append(tag("p", "A right kernel to read: ", tag("code", line(e.twin)), where))
    return [tag("h3", "How to repair it"), *out] if out else []


def _page(title: str, body: Sequence[Html], script: bool = False) -> str:
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", _asset("page.css")),
    )
    end = [tag("script", _asset("page.js"))] if script else []
    return f"<!doctype html>\n{tag('html', head, tag('body', body, end), lang='en')}\n"


def _asset(name: str) -> Html:
    """A style sheet or script of the package; it is ours, so it needs no escape."""
    return Html(resources.files("tritaudit.report").joinpath(name).read_text(encoding="utf-8"))


# --------------------------------------------------------------------------- a run


def _counts(report: Report) -> list[Child]:
    parts: list[Child] = [tag("strong", count(len(report.results), "case"))]
    for outcome, look in OUTCOMES.items():
        number = sum(r.outcome is outcome for r in report.results)
        if number:
            class_ = "wrong" if look.attention else None
            parts += [" · ", tag("span", f"{number} {look.plural}", class_=class_)]
    examples = sum(r.coverage.examples for r in report.results)
    return [*parts, f" · {count(examples, 'example')} in {seconds(report.seconds)}"]


def _filter(report: Report) -> Html:
    boxes = [
        tag("label", tag("input", type="checkbox", checked=True, value=str(o)), look.word)
        for o, look in OUTCOMES.items()
        if any(r.outcome is o for r in report.results)
    ]
    search = tag(
        "input", type="search", id="search", placeholder="case, fault, …", aria_label="Filter"
    )
    return tag("div", boxes, search, class_="chips hidden")


def _case(result: CaseResult, unfolded: bool) -> Html:
    look = outcome_look(result.outcome)
    what = "; ".join([*map(fault_in_short, result.findings), *_remarks(result)])
    if not what:
        what = " · ".join(coverage_pieces(result.coverage))
    summary = tag(
        "summary",
        tag("span", f"{look.symbol} {look.word}", class_=f"badge {result.outcome}"),
        tag("span", line(result.case), class_="name mono"),
        tag("span", what, class_="what"),
        tag("span", f"{line(result.backend)} {seconds(result.seconds)}", class_="soft"),
    )
    return tag(
        "details",
        summary,
        tag("div", _inside(result), class_="inside"),
        class_="case",
        open=unfolded,
        data_outcome=str(result.outcome),
        data_text=f"{line(result.case)} {what} {line(result.backend)}".lower(),
    )


def _remarks(result: CaseResult) -> list[str]:
    out = [f"{line(fault)} did not show" for fault in result.missing]
    return [*out, line(result.reason)] if result.reason and not out else out


def _inside(result: CaseResult) -> list[Html]:
    out = [
        tag("section", tag("h2", _badge(finding), " ", line(finding.fault)), _article(finding))
        for finding in result.findings
    ]
    if result.outcome in (Outcome.ERROR, Outcome.STALE, Outcome.SKIP) and result.reason:
        out.append(tag("pre", block(result.reason)))
    out += [tag("p", sentence(note)) for note in result.notes]
    if result.output:
        out += [tag("h3", "What the case printed"), tag("pre", block(result.output))]
    return [*out, _coverage(result)]


def _badge(finding: Finding) -> Html:
    if finding.expected:
        return tag("span", "known", class_="badge known")
    look = severity_look(finding.severity)
    return tag("span", look.word, class_=f"badge {finding.severity}")


def _coverage(result: CaseResult) -> Html:
    covered = " · ".join(coverage_pieces(result.coverage))
    reasons = [
        tag("li", f"{count(s.count, 'example')} not judged: {line(s.reason)}")
        for s in result.coverage.skipped
    ]
    listed = tag("ul", reasons, class_="soft") if reasons else None
    return tag("div", tag("h3", "Covered"), tag("p", covered, class_="soft"), listed)


# --------------------------------------------------------------------------- a finding


def _article(
    finding: Finding, source: Source | None = None, why: str = "", repair: Sequence[Html] = ()
) -> list[Html]:
    out = [tag("p", sentence(finding.summary), class_="strong")]
    out += [tag("p", sentence(s)) for s in finding.evidence]
    out += prose.in_html(why) if why else []
    out += [_facts(finding), *_source(finding, source), *_picture(finding)]
    if finding.excerpt is not None:
        out.append(tag("h3", "Input, expected and got"))
        out.append(tag("p", caption(finding.excerpt), class_="soft"))
        out.append(drawn(render_excerpt(finding.excerpt, _WIDTH)))
    out += [*_proof(finding), *repair]
    if finding.output:
        out += [tag("h3", "What the kernel printed"), tag("pre", block(finding.output))]
    return [*out, tag("h3", "To see this again"), tag("pre", explain_command(finding))]


def _facts(finding: Finding) -> Html:
    example = f"{example_label(finding.example)}  {line(finding.dtype)}, "
    rows: list[Child] = [
        tag("dt", "smallest example"),
        tag("dd", tag("span", example + values_in_words(finding), class_="mono")),
        tag("dt", "backend"),
        tag("dd", line(finding.backend)),
    ]
    if finding.dtypes:
        rows += [tag("dt", "in"), tag("dd", dtypes_in_short(finding.dtypes))]
    if finding.location is not None:
        place = f"{line(finding.location.path)}:{finding.location.line}"
        rows += [tag("dt", "at"), tag("dd", tag("span", place, class_="mono"))]
    if finding.accepted:
        rows += [tag("dt", "accepted"), tag("dd", line(finding.accepted))]
    return tag("dl", rows)


def _source(finding: Finding, source: Source | None) -> list[Html]:
    at = finding.location
    if at is None or (source is None and not at.text):
        return []
    rows = source or Source(at.line, (at.text,))
    lines: list[Child] = []
    for number, text in enumerate(rows.lines, rows.first):
        words = f"{'>' if number == at.line else ' '} {number:>4}  {block(text).rstrip()}"
        lines += [tag("span", words, class_="here") if number == at.line else words, "\n"]
    return [tag("pre", lines[:-1])]


def _picture(finding: Finding) -> list[Html]:
    index_map, excerpt = finding.index_map, finding.excerpt
    if index_map is not None:
        picture = map_picture(index_map)
        if picture is None:
            return []
        table = render_runs(index_map)
        out = [tag("h3", "Where each element came from")]
        if index_map.example is not None:
            out.append(tag("p", sentence(map_place(index_map.example)), class_="soft"))
        out.append(tag("div", picture, class_="picture"))
        out += [drawn(table)] if table is not None else []
        signs = legend(index_map, words_in(picture))
        signs = signs.replace("✗", "×").replace("│", "thick line")
        return [*out, tag("p", signs, class_="soft")]
    if excerpt is not None and finding.fault not in PLACES and worth_a_bit_table(excerpt):
        picture = bits_picture(excerpt)
        if picture is not None:
            return [tag("h3", "Bit by bit"), tag("div", picture, class_="picture")]
    return []


def _proof(finding: Finding) -> list[Html]:
    text = terminal.proof_text(finding, rivals=False)
    out = [tag("h3", "How this is known")]
    out += [tag("p", text.plain)] if text is not None else []
    rivals = [
        tag("li", f"{line(fault)} is ruled out" + (f" by {line(by)}" if by else ""))
        for fault, by in finding.proof.rivals
    ]
    out += [tag("ul", rivals)] if rivals else []
    close = terminal.assert_close_text(finding.assert_close_passes)
    said = [close.plain] if close is not None else []
    said += [sentence(s) for s in finding.unnoticed]
    if len(out) == 1:
        out = []
    if said:
        out.append(tag("h3", "What an ordinary test would have said"))
        out += [tag("p", words) for words in said]
    return out
