"""The `tritaudit` command."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback

from tritaudit.commands import INTERRUPTED, UNABLE

__all__ = ["main"]

#: what a shell reports of a program that SIGPIPE ends.
_CLOSED_PIPE = 141
#: what a stream says that can take no more: a full disk, a quota, a device that fails.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without the signs for borders
    try:
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader (`| head`) has gone
        code = _CLOSED_PIPE
        _give_up_output()
    except OSError as error:
        if error.errno not in _FULL:
            raise
        code = UNABLE
        _give_up_output()
        sys.stderr.write(f"tritaudit: the output cannot be written: {error.strerror}\n")
    sys.exit(code)


def _give_up_output() -> None:
    """Send what is left to nowhere. Python would complain again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run() -> int | str | None:
    try:
        from tritaudit.cli import app  # here, so that Ctrl-C leaves no traceback of an import

        app(prog_name="tritaudit")
    except SystemExit as end:
        return end.code
    except KeyboardInterrupt:
        sys.stderr.write("tritaudit: interrupted\n")
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, BrokenPipeError) or getattr(error, "errno", None) in _FULL:
            raise
        traceback.print_exc()
        sys.stderr.write("tritaudit: this is an error in tritaudit itself\n")
        return UNABLE
    return 0


if __name__ == "__main__":
    main()
