"""What a shell offers when Tab is pressed. Nothing here loads a case file."""

from __future__ import annotations

__all__ = ["complete_case", "complete_explain", "complete_fault", "complete_report"]


def complete_case(incomplete: str) -> list[str]:
    """Names of the catalogue; a folder of it first, then what is in it."""
    from tritaudit.targets import builtin_root, python_files

    root = builtin_root()
    names = [p.relative_to(root).with_suffix("").as_posix() for p in python_files(root)]
    if "/" in incomplete:
        return [name for name in names if name.startswith(incomplete)]
    folders = dict.fromkeys(f"{name.partition('/')[0]}/" for name in names)
    return [folder for folder in folders if folder.startswith(incomplete)]


def complete_fault(incomplete: str) -> list[str]:
    """The ids of faults."""
    from tritaudit.faults import FAULT_IDS

    return [fault for fault in FAULT_IDS if fault.startswith(incomplete)]


def complete_explain(incomplete: str) -> list[str]:
    """Cases and faults."""
    return complete_case(incomplete) + complete_fault(incomplete)


def complete_report(incomplete: str) -> list[str]:
    """The beginnings of `--report`."""
    from tritaudit.commands.reports import FORMATS

    return [f"{name}=" for name in FORMATS if f"{name}=".startswith(incomplete)]
