"""The HTML pages: self-contained, safe with any name, and pictures that are well-formed."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import report_samples as samples

from tritaudit.model import MASKED, Cell, Excerpt, Finding, IndexMap, Location, Outcome
from tritaudit.report import html
from tritaudit.report.bits import FIELDS
from tritaudit.report.explain import Explained, Source
from tritaudit.report.mapdraw import legend, render_map, render_runs
from tritaudit.report.markup import Html, content, drawn, tag
from tritaudit.report.picture import bits_picture, map_picture, words_in

FINDINGS = samples.all_findings()
SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """The tags, attributes and visible text of a page; fails where a tag is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in ("meta", "input", "br"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("script", "style"):
            self.words += data


def whole_report(text: str = "plain") -> str:
    finding = replace(
        samples.unexplained(),
        case=text,
        summary=text,
        output=text,
        location=Location(text, 1, text),
    )
    report = samples.report()
    extra = samples.result(text, Outcome.FAIL, [finding], reason=text, notes=(text,), output=text)
    return html.render(replace(report, results=(*report.results, extra), ended=text))


PAGES = [whole_report(), *(html.explain_page([Explained(f)]) for f in FINDINGS)]


@pytest.mark.parametrize("text", PAGES, ids=range(len(PAGES)))
def test_a_page_asks_for_nothing_outside(text: str) -> None:
    page = Page(text)
    assert not {"img", "link", "iframe", "object", "base", "form", "a"} & set(page.tags)
    for _, name, value in page.attributes:
        assert name not in ("src", "href", "srcset", "data", "action")
        assert not name.startswith("on")
        assert "url(" not in (value or "")
    assert "@import" not in text and "url(" not in text and "fetch(" not in text
    policies = [v for _, n, v in page.attributes if n == "content" and "default-src" in (v or "")]
    assert policies and policies[0] is not None and policies[0].startswith("default-src 'none'")


@pytest.mark.parametrize(
    "text",
    [
        samples.HOSTILE,
        "</script><script>alert(1)</script>",
        "</pre></details><img src=x onerror=alert(1)>",
        "\" onmouseover=alert(1) x=\"' onclick='y",
        "</style></title><svg onload=alert(1)>",
        "\x00\x1b[31m\ud800&lt;b&gt;",
    ],
)
def test_hostile_text_stays_text(text: str) -> None:
    plain, odd = Page(whole_report()), Page(whole_report(text))
    assert odd.tags.count("script") == 1
    assert set(odd.tags) == set(plain.tags)
    assert {n for _, n, _ in odd.attributes} <= {n for _, n, _ in plain.attributes} | {"class"}
    whole_report(text).encode("utf-8")


def test_a_run_shows_every_case_once_and_its_outcome() -> None:
    page = Page(html.render(samples.report()))
    outcomes = [v for _, n, v in page.attributes if n == "data-outcome"]
    assert sorted(map(str, outcomes)) == sorted(str(r.outcome) for r in samples.report().results)
    boxes = [v for t, n, v in page.attributes if t == "input" and n == "value"]
    assert boxes == ["pass", "known", "fail", "stale", "error", "skip"]
    assert samples.padding_leak().evidence[0] in page.words
    assert "tritaudit explain flip/single_tile --repro" in page.words


def test_many_failures_are_folded() -> None:
    def unfolded(number: int) -> int:
        results = tuple(samples.result("a", Outcome.FAIL, [samples.crash()]) for _ in range(number))
        page = Page(html.render(replace(samples.report(), results=results)))
        return sum(name == "open" for _, name, _ in page.attributes)

    assert unfolded(5) == 5
    assert unfolded(6) == 0


def test_an_explanation_has_all_that_the_terminal_has() -> None:
    source = Source(16, ("    x = tl.load(p)", "    y = tl.flip(x, 0)", "    tl.store(q, y)"))
    page = Page(
        html.explain_page(
            [
                Explained(
                    samples.padding_leak(),
                    source=source,
                    why="A tile has no end: `tl.flip(x, 0)` turns it.",
                    fix="Shift the store.\n"
                    "    -  18  tl.store(q, y)\n    +      tl.store(q - 3, y)",
                    twin="flip/single_tile_shifted",
                    twin_path="cases/flip/single_tile_shifted.py",
                ),
                Explained(samples.block_local_flip()),
            ]
        )
    )
    for words in (
        "padding-leak in flip/single_tile",
        "A tile has no end: tl.flip(x, 0) turns it.",
        ">   17      y = tl.flip(x, 0)",
        "block-local-flip is ruled out by",
        "would have failed",
        "Shift the store.",
        "-  18  tl.store(q, y)",
        "block-local-flip in ",
        "cases/flip/single_tile_shifted.py",
        "N=5 BLOCK=8",
    ):
        assert words in page.words


# --------------------------------------------------------------------------- pictures


def picture(index_map: IndexMap) -> ElementTree.Element:
    svg = map_picture(index_map)
    assert svg is not None
    return ElementTree.fromstring(svg)


def classes(svg: ElementTree.Element, kind: str) -> list[str]:
    return [e.get("class", "") for e in svg.iter(f"{SVG}{kind}")]


def test_boxes_have_a_line_from_each_source() -> None:
    index_map = samples.block_local_flip().index_map
    assert index_map is not None
    svg = picture(index_map)
    assert classes(svg, "line").count("move wrong") == 32
    assert classes(svg, "line").count("border") == 1
    assert [t.text for t in svg.iter(f"{SVG}text")].count("×") == 32


def test_right_and_wrong_lines_differ() -> None:
    index_map = IndexMap(("N",), (3,), (0,), (2, MASKED, 0), (2, 1, 0), "0.0")
    svg = picture(index_map)
    assert classes(svg, "line") == ["move right", "move right"]
    assert "box wrong hollow" in classes(svg, "rect")


def test_many_elements_are_bands() -> None:
    index_map = samples.tail_dropped().index_map
    assert index_map is not None
    svg = picture(index_map)
    assert classes(svg, "polygon") == ["band right"]
    assert "box hollow wrong" in classes(svg, "rect")


@pytest.mark.parametrize("shape", [(3, 5), (40, 200), (2, 2)])
def test_two_axes_are_grids_that_stay_small(shape: tuple[int, int]) -> None:
    index_map = samples.wrong_axis(*shape, (2, 4)).index_map
    assert index_map is not None
    svg = picture(index_map)
    assert len(classes(svg, "rect")) == 2 * min(shape[0], 16) * min(shape[1], 14)
    assert any("wrong" in c for c in classes(svg, "rect"))
    assert float(svg.attrib["width"]) <= 960


def padded(columns: int, pad: int = 0) -> IndexMap:
    """Two rows reversed right, but for a masked lane in one column of each."""
    right = [row * columns + columns - 1 - k for row in range(2) for k in range(columns)]
    source = [MASKED if i % columns == pad else s for i, s in enumerate(right)]
    shape = (2, columns)
    return IndexMap(("H", "W"), shape, (0, 16), tuple(source), tuple(right), "0.0")


@pytest.mark.parametrize(("columns", "pad"), [(17, 16), (17, 0), (60, 59), (60, 30)])
def test_what_came_from_nowhere_is_in_sight(columns: int, pad: int) -> None:
    index_map = padded(columns, pad)
    # Everything is wrong, so that the first tile border is no better than any other.
    wrong = tuple(s if s < 0 else (s + 1) % len(index_map.source) for s in index_map.source)
    index_map = replace(index_map, source=wrong)
    svg = picture(index_map)
    assert "pad" in {text.text for text in svg.iter(f"{SVG}text")}
    assert float(svg.attrib["width"]) <= 960
    for width in (60, 80, 110):
        assert " pad" in render_map(index_map, width).plain


def test_a_legend_tells_of_what_is_drawn_alone() -> None:
    drawn = render_map(padded(5), 80).plain
    told = "pad = a masked lane of a padded tile (value 0.0), ✗ = wrong"
    assert legend(padded(5), drawn) == told
    assert legend(padded(5), drawn.replace("pad", "3,4")) == "✗ = wrong"
    assert legend(padded(5), "H,W") == ""
    found = map_picture(padded(5))
    assert found is not None
    assert legend(padded(5), words_in(found)) == told


def test_four_axes_are_drawn_along_the_one_that_moves() -> None:
    index_map = samples.four_axes().index_map
    assert index_map is not None
    assert len([c for c in classes(picture(index_map), "line") if "move" in c]) == 4


def test_an_empty_map_has_no_picture() -> None:
    assert map_picture(IndexMap(("N",), (0,), (8,), (), ())) is None


@pytest.mark.parametrize("dtype", FIELDS)
def test_bits_are_boxes(dtype: str) -> None:
    top = 1 << (FIELDS[dtype].bits - 1)
    cell = Cell((0,), "-0.0", "0.0", "-0.0", True, top, 0, top)
    svg = bits_picture(Excerpt(("N",), (1,), dtype, dtype, (0,), (cell,), 1, 1))
    assert svg is not None
    root = ElementTree.fromstring(svg)
    assert len(classes(root, "rect")) == 3 * FIELDS[dtype].bits
    assert classes(root, "rect").count("box wrong") == 1


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda f: f.fault)
def test_pictures_carry_a_title(finding: Finding) -> None:
    if finding.index_map is None:
        pytest.skip("no picture")
    title = picture(finding.index_map).find(f"{SVG}title")
    assert title is not None and title.text and "wrong" in title.text


# --------------------------------------------------------------------------- markup


def test_only_markup_is_left_unescaped() -> None:
    assert content("<b>") == "&lt;b&gt;"
    assert content(Html("<b>")) == "<b>"
    assert content(["a", Html("<i>"), ["&", None]]) == "a<i>&amp;"
    assert tag("p", "x", class_="a", data_x='"<', hidden=True, open=False, id=None) == (
        '<p class="a" data-x="&quot;&lt;" hidden>x</p>'
    )


def test_drawings_keep_their_marks_in_line() -> None:
    index_map = samples.padding_leak().index_map
    assert index_map is not None
    table = render_runs(index_map)
    assert table is not None
    text = drawn(table)
    assert "✗" not in text and text.count("×") == 2
    assert '<span class="wrong">' in text
