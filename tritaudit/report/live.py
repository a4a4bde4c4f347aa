"""Progress of a run, drawn from the events that it yields."""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tritaudit.model import CaseResult, Event, Outcome, Progress, UnitFinished, UnitStarted
from tritaudit.report.resultline import name_column, render_result_line
from tritaudit.report.severity import outcome_look
from tritaudit.report.wording import count, line, seconds, shorten

#: units that the live area names; a machine with many cores runs more.
_SHOWN = 6


class LiveProgress:
    """Draws events: result lines as units finish and, on a terminal, what runs now.

    On a console that is no terminal only the result lines are printed, without control codes.

        with LiveProgress(console, names) as progress:
            for event in events:
                progress.handle(event)

    Args:
        console: where to print.
        names: the case names of all units of the run, one for each unit.
        show_backend: whether result lines name the backend (where a run has several).
        quiet: print no line for a case that passed or is known.
    """

    def __init__(
        self,
        console: Console,
        names: Iterable[str],
        *,
        show_backend: bool = False,
        quiet: bool = False,
    ) -> None:
        self._console = console
        self._names = tuple(names)
        self._name_width = name_column(self._names, console.width)
        self._show_backend = show_backend
        self._quiet = quiet
        self._running: dict[tuple[str, str], Progress] = {}
        self._finished = 0
        self._examples = 0
        self._attention = 0
        self._begun = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> LiveProgress:
        self._begun = time.monotonic()
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=self._area,
                refresh_per_second=8,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def handle(self, event: Event) -> None:
        """Take note of an event; a finished unit prints its line."""
        match event:
            case UnitStarted(case, backend):
                self._running[case, backend] = Progress(case, backend, 0, "starting")
            case Progress(case, backend):
                self._running[case, backend] = event
            case UnitFinished(result):
                self._running.pop((result.case, result.backend), None)
                self._finish(result)

    def _finish(self, result: CaseResult) -> None:
        self._finished += 1
        self._examples += result.coverage.examples
        self._attention += outcome_look(result.outcome).attention
        if self._quiet and result.outcome in (Outcome.PASS, Outcome.KNOWN):
            return
        drawn = render_result_line(
            result,
            self._console.width,
            name_width=self._name_width,
            show_backend=self._show_backend,
        )
        self._console.print(Group(drawn), crop=False)

    def _area(self) -> RenderableType:
        """The live area. Drawn from another thread, so it looks at a copy of what runs."""
        running = list(self._running.values())
        examples = self._examples + sum(p.examples for p in running)
        head = Table.grid(padding=(0, 1))
        bar = ProgressBar(
            total=max(len(self._names), 1),
            completed=self._finished,
            width=24,
            complete_style="cyan",
        )
        text = Text(f"{self._finished} of {count(len(self._names), 'case')}", "bold")
        text.append(f" · {count(examples, 'example')}", "")
        text.append(f" · {seconds(time.monotonic() - self._begun)}", "dim")
        if self._attention:
            text.append(f" · {self._attention} to look at", "bold red")
        head.add_row(bar, text)
        shown = [self._unit(p) for p in running[:_SHOWN]]
        if len(running) > _SHOWN:
            shown.append(Text(f"  … and {len(running) - _SHOWN} more", "dim"))
        return Group(head, *shown)

    def _unit(self, progress: Progress) -> Text:
        row = f"  {line(progress.case)}  {line(progress.phase)}"
        if self._show_backend:
            row += f" on {line(progress.backend)}"
        row += f", {count(progress.examples, 'example')}"
        if progress.example:
            row += f"  {line(progress.example)}"
        return Text(shorten(row, self._console.width - 1), "dim", no_wrap=True)
