"""The kinds of bugs: their ids, severities and documentation.

A fault is one module of this package, named by its id with underscores; its docstring is its
documentation. This file needs the standard library alone, so that the ids and texts can be listed
where neither torch nor triton is installed. `tritaudit.faults.diagnosis` names faults.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tritaudit.model import Severity

#: every fault, in the order in which equally good explanations are preferred.
SEVERITIES: dict[str, Severity] = {
    "crash": Severity.ERROR,
    "timeout": Severity.ERROR,
    "api-rejects": Severity.ERROR,
    "wrong-shape": Severity.ERROR,
    "wrong-dtype": Severity.ERROR,
    "nondeterministic": Severity.ERROR,
    "out-of-bounds-write": Severity.ERROR,
    "out-of-bounds-read": Severity.ERROR,
    "unwritten-output": Severity.ERROR,
    "input-mutated": Severity.ERROR,
    "not-reversed": Severity.ERROR,
    "wrong-axis": Severity.ERROR,
    "stride-ignored": Severity.ERROR,
    "block-local-flip": Severity.ERROR,
    "tile-order-only": Severity.ERROR,
    "padding-leak": Severity.ERROR,
    "alias-race": Severity.ERROR,
    "off-by-one": Severity.ERROR,
    "signed-zero-kept": Severity.WARNING,
    "signed-zero-lost": Severity.WARNING,
    "nan-contamination": Severity.ERROR,
    "nan-lost": Severity.ERROR,
    "int-abs-overflow": Severity.ERROR,
    "unsigned-as-signed": Severity.ERROR,
    "sign-kept": Severity.ERROR,
    "int-overflow": Severity.ERROR,
    "precision-loss": Severity.ERROR,
    "backend-divergence": Severity.WARNING,
    "value-mismatch": Severity.ERROR,
}

FAULT_IDS: tuple[str, ...] = tuple(SEVERITIES)


@dataclass(frozen=True, slots=True)
class FaultInfo:
    """What a reader is told of a fault: id, severity, one sentence, the whole text (Markdown)."""

    id: str
    severity: Severity
    title: str
    text: str


def module_path(fault: str) -> Path:
    """The file of a fault.

    Raises:
        KeyError: there is no fault of that id.
    """
    if fault not in SEVERITIES:
        raise KeyError(fault)
    return Path(__file__).parent / f"{fault.replace('-', '_')}.py"


@cache
def info(fault: str) -> FaultInfo:
    """The documentation of a fault, read from its file without importing it.

    Raises:
        KeyError: there is no fault of that id.
    """
    source = module_path(fault).read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(source)) or ""
    title = text.split("\n", 1)[0].strip()
    return FaultInfo(fault, SEVERITIES[fault], title, text)
