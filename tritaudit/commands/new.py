"""`tritaudit new`: a case file for a function, to begin with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tritaudit.commands import NOTHING_UNEXPECTED, Usage
from tritaudit.commands.functions import FunctionOptions, spec_of
from tritaudit.commands.options import BackendChoice
from tritaudit.commands.reports import ReportWriteError
from tritaudit.commands.session import open_backend, output
from tritaudit.forkserver import BackendError, Call, Died, Overdue, Raised, Returned
from tritaudit.plain import to_plain
from tritaudit.report.wording import line
from tritaudit.targets import function_target, shown_path

__all__ = ["new"]

#: seconds for importing a function and calling it a few times.
_LIMIT = 120.0
#: the line of a draft whose contract is left to be filled in.
_OPEN = "    contract=None,"


def new(target: str, path: str | None, function: FunctionOptions) -> int:
    """Write a case file for a function.

    Raises:
        Usage: the function cannot be loaded or called, or the file is there already.
        ReportWriteError: the file cannot be written.
        BackendError: torch or triton is missing.
    """
    if function_target(target) is None:
        raise Usage(f"{target!r} is not of the form module:function or file.py:function")
    file = Path(path or f"audit_{target.rpartition(':')[2].replace('.', '_')}.py")
    if file.suffix != ".py":
        raise Usage(f"{file} is not the name of a Python file")
    if file.exists():
        raise Usage(f"{file} is there already: name another file with -o FILE")
    text = _drafted(replace(spec_of(function), target=target))
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise ReportWriteError(f"{file} cannot be written: {error.strerror or error}") from error
    then = f"tritaudit run {shown_path(file)}"
    if _OPEN in text.splitlines():
        place = text.splitlines().index(_OPEN) + 1
        then = f"say in line {place} what the function promises, then: {then}"
    output().print(f"{shown_path(file)} written. Next: {then}")
    return NOTHING_UNEXPECTED


def _drafted(call: object) -> str:
    with open_backend(BackendChoice.AUTO) as supervisor:
        ended = supervisor.call(Call("draft", to_plain(call), _LIMIT))
    match ended:
        case Returned(value={"text": str(text)}):
            return text
        case Returned(value={"problem": problem}):
            raise Usage(line(str(problem)))
        case Raised():
            raise BackendError(ended.message)
        case Died():
            raise Usage(f"calling the function ended the process ({ended.how})")
        case Overdue():
            raise Usage(f"calling the function had not ended after {ended.seconds:.0f} s")
        case _:
            raise BackendError("the worker gave no answer")
