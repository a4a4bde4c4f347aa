"""The command line. Commands parse, call and exit; what they do is in `tritaudit.commands`.

Nothing heavy is imported here, so that `--help` is quick and works where torch is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tritaudit import __version__
from tritaudit.commands import INTERRUPTED, UNABLE, USAGE, Usage
from tritaudit.commands.completion import complete_explain
from tritaudit.commands.examples import epilog
from tritaudit.commands.functions import FunctionOptions
from tritaudit.commands.grouped import grouped
from tritaudit.commands.kerneloptions import (
    JsonOption,
    NumWarpsOption,
    SizeOption,
    TileOption,
)
from tritaudit.commands.options import (
    BackendOption,
    ConfigOption,
    FailOnOption,
    FastInterpreterOption,
    JobsOption,
    MaxExamplesOption,
    ReportOption,
    SeedOption,
    SelectOption,
    StrictInterpreterOption,
    Targets,
    TimeoutOption,
    VerboseOption,
    parse_jobs,
)
from tritaudit.commands.runoptions import RunOptions

__all__ = ["app"]


class _Commands(TyperGroup):
    """The commands, each with its examples below its help."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None and not command.epilog:
            command.epilog = epilog(cmd_name)
        return command


app = typer.Typer(
    name="tritaudit",
    cls=_Commands,
    help="Finds correctness bugs in Triton kernels that reverse data or take absolute values.",
    epilog="Exit codes: 0 nothing unexpected, 1 findings, 2 wrong usage, 3 unable to work, "
    "130 interrupted (Ctrl-C), 143 terminated.",
    no_args_is_help=True,
    context_settings={"max_content_width": 100},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing what draws boxes takes longer than all the rest of --help
)


def _finish(command: Callable[[], int]) -> None:
    """Run a command and exit with its code; what it cannot do is told in a sentence."""
    from tritaudit.commands.reports import ReportWriteError
    from tritaudit.forkserver import BackendError
    from tritaudit.targets import CatalogueError

    try:
        code = command()
    except Usage as error:
        code = _say(error, USAGE)
    except (BackendError, CatalogueError, ReportWriteError) as error:
        code = _say(error, UNABLE)
    except KeyboardInterrupt:
        code = _say("interrupted", INTERRUPTED)
    raise typer.Exit(code)


def _say(problem: object, code: int) -> int:
    from tritaudit.report.wording import line

    for sentence in str(problem).splitlines():
        typer.echo(f"tritaudit: {line(sentence)}", err=True)
    return code


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tritaudit {__version__}")
        raise typer.Exit


@app.callback()
def _tritaudit(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
@grouped
def run(options: RunOptions, function: FunctionOptions) -> None:
    """Audit kernels: find their bugs, name them and prove the names."""
    from tritaudit.commands.run import run as run_targets

    _finish(lambda: run_targets(options, function))


@app.command()
@grouped
def explain(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="CASE|FAULT|REPORT",
            help="What to explain. None: the last failure.",
            show_default=False,
            autocompletion=complete_explain,
        ),
    ] = None,
    repro: Annotated[
        str | None,
        typer.Option("--repro", metavar="TOKEN", help="Replay this example.", show_default=False),
    ] = None,
    backend: BackendOption = None,
    seed: SeedOption = None,
    max_examples: MaxExamplesOption = None,
    timeout: TimeoutOption = None,
    fast_interpreter: FastInterpreterOption = False,
    strict_interpreter: StrictInterpreterOption = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html", metavar="PATH", help="Write a page with pictures, too.", show_default=False
        ),
    ] = None,
    config: ConfigOption = None,
    *,
    function: FunctionOptions,
) -> None:
    """Show in full what is wrong with a case, or what a fault means."""
    from tritaudit.commands.explain import explain_case, explain_fault
    from tritaudit.commands.stored import explain_last, explain_report
    from tritaudit.faults import FAULT_IDS

    if what is None:
        _refuse_token(repro)
        _finish(lambda: explain_last(config, html))
    elif what.endswith(".json"):
        _refuse_token(repro)
        _finish(lambda: explain_report(what, html))
    elif what in FAULT_IDS and repro is None:
        if html is not None:
            raise typer.BadParameter("a fault has no page: --html needs a case")
        _finish(lambda: explain_fault(what))
    else:
        options = RunOptions(
            backend=backend,
            seed=seed,
            max_examples=max_examples,
            timeout=timeout,
            fast_interpreter=fast_interpreter,
            strict_interpreter=strict_interpreter,
            config=config,
        )
        _finish(lambda: explain_case(what, repro, options, function, html))


def _refuse_token(token: str | None) -> None:
    if token is not None:
        raise typer.BadParameter("--repro needs a case")


@app.command()
def compare(
    reports: Annotated[
        list[str], typer.Argument(metavar="REPORT", help="JSON reports, oldest first.")
    ],
    everything: Annotated[
        bool, typer.Option("--all", help="Show the cases that did not change, too.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Set reports side by side: what appeared, vanished or changed. Exits with 1 on a regression.

    Two versions of Triton, the interpreter against a GPU, before against after.
    """
    from tritaudit.commands.compare import compare_reports

    _finish(lambda: compare_reports(reports, everything=everything, markdown=markdown, json=json))


@app.command()
def merge(
    reports: Annotated[list[str], typer.Argument(metavar="REPORT", help="JSON reports.")],
    report: ReportOption = None,
    fail_on: FailOnOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Join the reports of shards, backends and machines, and exit as one run would have.

    Two reports with a verdict on the same case and backend are refused; a shard that is missing is
    named, and the exit code is 3.
    """
    from tritaudit.commands.merge import merge_reports

    _finish(lambda: merge_reports(reports, report, fail_on, config, verbose=verbose))


@app.command()
def selftest(
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A fixed part: 28 searches, some two minutes on two cores."),
    ] = False,
    jobs: JobsOption = None,
    seed: SeedOption = None,
    backend: BackendOption = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="FILE",
            help="Add each result to this file, and run nothing that is in it.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="PATH", help="Write all results.", show_default=False),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="GLOB",
            help="Only these mutants and right kernels; may be repeated.",
            show_default=False,
        ),
    ] = None,
    fast_interpreter: FastInterpreterOption = False,
) -> None:
    """Plant faults in right kernels and count how many are found, and by their right names.

    Exits with 1 if fewer than 99 % are found, fewer than 97 % get the right name, or a right kernel
    is flagged.
    """
    from tritaudit.commands.selftest import SelfTest
    from tritaudit.commands.selftest import selftest as measure

    plan = SelfTest(
        quick=quick,
        jobs=parse_jobs(jobs) if jobs else 0,
        seed=seed or 0,
        only=tuple(only or ()),
        resume=resume,
        json=json,
        fast_interpreter=fast_interpreter,
    )
    _finish(lambda: measure(backend, plan))


@app.command()
def schema() -> None:
    """Print the JSON Schema of the JSON report."""
    from tritaudit.report.json_report import schema as text

    typer.echo(text(), nl=False)


@app.command()
@grouped
def new(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FUNCTION",
            help="mypkg.ops:reverse_rows or ops.py:reverse_rows.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where to.", show_default="audit_FUNCTION.py"
        ),
    ] = None,
    *,
    function: FunctionOptions,
) -> None:
    """Write a case file for a function, to begin with."""
    from tritaudit.commands.new import new as write_case_file

    _finish(lambda: write_case_file(target, out, function))


@app.command("list")
def list_(
    targets: Targets = None,
    select: SelectOption = None,
    faults: Annotated[bool, typer.Option("--faults", help="List the faults instead.")] = False,
    config: ConfigOption = None,
) -> None:
    """List cases with contract, dtypes and expectations, or the faults."""
    from tritaudit.commands.listing import list_cases, list_faults

    _finish(list_faults if faults else lambda: list_cases(targets, select or [], config))


@app.command()
@grouped
def ir(
    function: FunctionOptions,
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="The case to compile.", show_default=False)
    ],
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="CASE", help="Another case.", show_default=False),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            metavar="GPU",
            help="Such as cuda:90, cuda:80, hip:gfx942; it need not be there.",
            show_default="the GPU at hand, else cuda:90",
        ),
    ] = "",
    stage: Annotated[
        list[str] | None,
        typer.Option(
            "--stage",
            metavar="STAGE",
            help="Print ttir, ttgir, llir, ptx, sass or amdgcn; lines of the call are marked.",
            show_default=False,
        ),
    ] = None,
    num_warps: NumWarpsOption = None,
    dim: Annotated[
        str | None,
        typer.Option(
            "--dim", metavar="N,N", help="Flip this axis of the tile instead.", show_default=False
        ),
    ] = None,
    tile: TileOption = None,
    size: SizeOption = None,
    json: JsonOption = None,
) -> None:
    """Show what the compiler made of tl.flip or tl.abs, and what it costs. Needs no GPU.

    A search for "flip" in the IR finds only names: tl.flip is a library function, taken apart into
    reshape, xor and reduce before the first IR is written. --stage ttir marks them.
    """
    from tritaudit.commands.ir import Plan, named_numbers, numbers
    from tritaudit.commands.ir import ir as show_ir

    _finish(
        lambda: show_ir(
            Plan(
                case=case,
                compare=compare,
                target=target,
                stages=tuple(stage or ()),
                num_warps=numbers("--num-warps", num_warps, 1),
                dims=numbers("--dim", dim, -8),
                tiles=named_numbers("--tile", tile or [], 1),
                sizes=named_numbers("--size", size or [], 0),
                json=json,
            ),
            function,
        )
    )


@app.command()
@grouped
def bench(
    function: FunctionOptions,
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CASE",
            help="Cases, with their twins. None: what is claimed of tl.flip and tl.abs.",
            show_default=False,
        ),
    ] = None,
    num_warps: NumWarpsOption = None,
    tile: TileOption = None,
    size: SizeOption = None,
    json: JsonOption = None,
) -> None:
    """Measure kernels on the GPU: against a copy, against torch, and against each other."""
    from tritaudit.commands.bench import Plan
    from tritaudit.commands.bench import bench as run_bench
    from tritaudit.commands.ir import named_numbers, numbers

    _finish(
        lambda: run_bench(
            Plan(
                cases=tuple(cases or ()),
                sizes=named_numbers("--size", size or [], 1),
                tiles=named_numbers("--tile", tile or [], 1),
                num_warps=numbers("--num-warps", num_warps, 1),
                json=json,
            ),
            function,
        )
    )


@app.command()
def matrix(
    targets: Targets = None,
    *,
    triton: Annotated[
        str,
        typer.Option(
            "--triton", metavar="VERSION,VERSION", help="Such as 3.4.0,3.9.0.", show_default=False
        ),
    ],
    offline: Annotated[
        bool, typer.Option("--offline", help="Install nothing: use the versions that are there.")
    ] = False,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="PATH", help="Write it as JSON, too.", show_default=False),
    ] = None,
    markdown: Annotated[
        str | None,
        typer.Option(
            "--markdown", metavar="PATH", help="Write it as Markdown, too.", show_default=False
        ),
    ] = None,
    backend: BackendOption = None,
    seed: SeedOption = None,
    max_examples: MaxExamplesOption = None,
    timeout: TimeoutOption = None,
    jobs: JobsOption = None,
    fast_interpreter: FastInterpreterOption = False,
) -> None:
    """Run cases on several versions of Triton: when did it break, when was it repaired.

    Each version is installed once, into a folder of its own in your cache; the installed one is
    used as it is. Expected faults are compared like others.
    """
    from tritaudit.choices import BackendChoice, ProfileChoice
    from tritaudit.commands.auditing import Plan
    from tritaudit.commands.matrix import Files, run_matrix
    from tritaudit.profiles import PROFILES

    plan = Plan(
        seed or 0,
        max_examples or 0,
        timeout or PROFILES[ProfileChoice.CI].timeout,
        parse_jobs(jobs) if jobs else 0,
        fast_interpreter=fast_interpreter,
    )
    chosen, files = backend or BackendChoice.AUTO, Files(json, markdown)
    _finish(lambda: run_matrix(targets, triton, chosen, plan, files, offline=offline))


@app.command()
def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Check versions, backends and the cache, and show what this Triton does with flip and abs."""
    from tritaudit.commands.doctor import doctor as examine

    _finish(lambda: examine(as_json=json))
