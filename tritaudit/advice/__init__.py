"""Why a finding is wrong and what repairs it, in the words of the kernel that shows it.

Plain data in, text out: the kernel is read from its source and never imported, so this works in a
process without torch and triton. Where the source is gone, or written in a way that is not
recognised, the general words of the fault's documentation are given.
"""

from __future__ import annotations

import re

from tritaudit import faults
from tritaudit.advice.kernel import read_kernel
from tritaudit.advice.reasons import REASONS
from tritaudit.advice.repairs import REPAIRS, Repair
from tritaudit.advice.subject import Subject
from tritaudit.model import Finding

__all__ = ["fix", "repair", "twin", "why"]


def _subject(finding: Finding, contract: str) -> Subject:
    return Subject(finding, read_kernel(finding.location, finding.launches), contract)


def why(finding: Finding, contract: str = "") -> str:
    """What happened, with the names of the kernel and the numbers of the example.

    Args:
        finding: what is explained.
        contract: the case's contract as its author writes it (`CaseInfo.contract`).
    """
    told = REASONS[finding.fault](_subject(finding, contract))
    return told or f"Where this usually comes from: {_told(finding.fault, 'Why')}"


def repair(finding: Finding, contract: str = "") -> Repair:
    """The smallest change that repairs a finding, as words and, where it is known, as a patch."""
    found = REPAIRS[finding.fault](_subject(finding, contract))
    return found or Repair(f"In general: {_told(finding.fault, 'Fix')}")


def fix(finding: Finding, contract: str = "") -> str:
    """The smallest change that repairs a finding, as text; changed lines begin with four spaces."""
    return repair(finding, contract).text()


def _told(fault: str, section: str) -> str:
    """The first paragraph of a section of a fault's documentation, as one line."""
    _, _, after = faults.info(fault).text.partition(f"\n## {section}\n")
    first = next((p for p in re.split(r"\n\s*\n", after) if p.strip()), "")
    return " ".join(first.split())


# --------------------------------------------------------------------------- kernels to read

#: right kernels of the catalogue for the faults of values.
_FOR_VALUES = {
    "int-abs-overflow": "abs/widened",
    "int-overflow": "abs/difference_widened",
    "unsigned-as-signed": "abs/unsigned",
}


def twin(finding: Finding, contract: str) -> str:
    """A right kernel of the catalogue for a case that names none; "" where none fits.

    Chosen by the contract and by which of how many axes are reversed.
    """
    if finding.fault in ("crash", "timeout", "value-mismatch", "backend-divergence"):
        return ""
    if contract.startswith("Flip"):
        axes = [axis for axis, _ in finding.example.sizes]
        turned = re.findall(r'"(\w+)"', contract)
        return _flip_twin(len(axes), [axes.index(a) for a in turned if a in axes])
    if contract.startswith("Abs"):
        saturated = "saturate" in contract
        return "abs/saturating" if saturated else _FOR_VALUES.get(finding.fault, "abs/vector")
    return "abs/difference_widened" if finding.fault == "int-overflow" else ""


def _flip_twin(rank: int, dims: list[int]) -> str:
    match rank, dims:
        case 1, _:
            return "flip/address_remap"
        case 2, [0]:
            return "flip/tiles_2d_h_remap"
        case 2, [1]:
            return "flip/rows_remap"
        case 2, [_, _]:
            return "flip/both_axes_remap"
        case 4, [2]:
            return "flip/kv_cache_remap"
    return ""
