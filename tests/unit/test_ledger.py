"""What a unit remembers of what it has launched."""

from __future__ import annotations

import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import torch
from trials import build, tags

from tritaudit.contracts import Flip
from tritaudit.ledger import PUZZLED, PUZZLED_ALIKE, is_puzzling
from tritaudit.trial import Trial


def scrambled(dtype: torch.dtype) -> Trial:
    x = tags(4, dtype=dtype)
    return build(Flip("N"), x, x[torch.tensor([2, 0, 3, 1])])


def test_what_nothing_explains_in_one_dtype_keeps_nobody_from_looking_at_another() -> None:
    whole, real = scrambled(torch.int8), scrambled(torch.float32)
    many = [whole] * PUZZLED
    assert is_puzzling(whole, many)
    assert not is_puzzling(whole, many[1:])
    assert not is_puzzling(real, many)
    assert not is_puzzling(real, [*many, *[real] * (PUZZLED_ALIKE - 1)])
    assert is_puzzling(real, [*many, *[real] * PUZZLED_ALIKE])
