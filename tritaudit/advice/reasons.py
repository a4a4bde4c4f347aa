"""Why a finding's output is wrong: in words, with the kernel's names and the example's numbers.

Every sentence follows from what was proved (the fault and its parameters), from the example, or
from the source; what is not recognised there is left out.
"""

from __future__ import annotations

from collections.abc import Callable

from tritaudit.advice.memory import (
    api_rejects,
    input_mutated,
    out_of_bounds_read,
    out_of_bounds_write,
    unwritten_output,
    wrong_dtype,
)
from tritaudit.advice.numbers import (
    int_abs_overflow,
    int_overflow,
    nan_contamination,
    nan_lost,
    precision_loss,
    sign_kept,
    signed_zero_kept,
    signed_zero_lost,
    unsigned_as_signed,
)
from tritaudit.advice.places import (
    alias_race,
    block_local_flip,
    not_reversed,
    off_by_one,
    padding_leak,
    stride_ignored,
    tile_order_only,
    wrong_axis,
)
from tritaudit.advice.subject import Subject


def value_mismatch(subject: Subject) -> str:
    told = (
        "Every other fault was asked to predict these values, and none of the predictions held, "
        "here or on further examples."
    )
    if not subject.finding.proof.rivals:
        return told
    return f"{told} Those that fitted some of them are listed below."


def nothing(subject: Subject) -> str:
    """No more is known than the summary and the evidence say."""
    del subject
    return ""


REASONS: dict[str, Callable[[Subject], str]] = {
    "crash": nothing,
    "timeout": nothing,
    "api-rejects": api_rejects,
    "wrong-shape": nothing,
    "wrong-dtype": wrong_dtype,
    "nondeterministic": nothing,
    "out-of-bounds-write": out_of_bounds_write,
    "out-of-bounds-read": out_of_bounds_read,
    "unwritten-output": unwritten_output,
    "input-mutated": input_mutated,
    "not-reversed": not_reversed,
    "wrong-axis": wrong_axis,
    "stride-ignored": stride_ignored,
    "block-local-flip": block_local_flip,
    "tile-order-only": tile_order_only,
    "padding-leak": padding_leak,
    "alias-race": alias_race,
    "off-by-one": off_by_one,
    "signed-zero-kept": signed_zero_kept,
    "signed-zero-lost": signed_zero_lost,
    "nan-contamination": nan_contamination,
    "nan-lost": nan_lost,
    "int-abs-overflow": int_abs_overflow,
    "unsigned-as-signed": unsigned_as_signed,
    "sign-kept": sign_kept,
    "int-overflow": int_overflow,
    "precision-loss": precision_loss,
    "backend-divergence": nothing,
    "value-mismatch": value_mismatch,
}
