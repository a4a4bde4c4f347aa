"""The `tritaudit` command."""

from __future__ import annotations

import io
import os
import sys
import traceback

from tritaudit.cli import app
from tritaudit.commands import UNABLE

__all__ = ["main"]

#: what a shell reports of a program that SIGPIPE ends.
_CLOSED_PIPE = 141


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without the signs for borders
    try:
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (`| head`) has gone. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _CLOSED_PIPE
    sys.exit(code)


def _run() -> int | str | None:
    try:
        app(prog_name="tritaudit")
    except SystemExit as end:
        return end.code
    except BrokenPipeError:
        raise
    except Exception:
        traceback.print_exc()
        sys.stderr.write("tritaudit: this is an error in tritaudit itself\n")
        return UNABLE
    return 0


if __name__ == "__main__":
    main()
