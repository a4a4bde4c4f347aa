"""Case files for the tests of the command: one right kernel and ways to spoil it."""

from __future__ import annotations

RIGHT = '''"""Take absolute values."""

import triton
import triton.language as tl

from tritaudit import Abs, Case, Tensor, Tile


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.abs(x), mask=offs < n)


def run(x, out, *, BLOCK):
    n = x.numel()
    kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)


case = Case(run=run, contract=Abs(), inputs=Tensor("x", "N"), tiles=Tile("BLOCK", "N", (16, 32)))
'''
#: lines of RIGHT, counted from 1, that the tests name.
STORE, CASE = 13, 21


def spoiled(old: str, new: str) -> str:
    """RIGHT with one text replaced."""
    assert RIGHT.count(old) == 1, old
    return RIGHT.replace(old, new)


def expecting(*faults: str) -> str:
    """RIGHT, which claims to show faults."""
    return spoiled("(16, 32)))", f"(16, 32)), expect={faults!r})")


DROPS_THE_LAST = spoiled("tl.abs(x), mask=offs < n", "tl.abs(x), mask=offs < n - 1")
KEEPS_MINUS_ZERO = spoiled("tl.abs(x)", "tl.where(x < 0, -x, x)")
KEEPS_THE_SIGN = spoiled("tl.abs(x)", "x")
FAR_OUT_OF_BOUNDS = spoiled("out_ptr + offs", "out_ptr + offs + 1000000000")
ENDLESS = spoiled("    tl.store", "    while n > -1:\n        n += 0\n    tl.store")
ENDLESS_IF_ODD = spoiled(
    "    tl.store", "    while (n % 2 == 1) & (n >= 3):\n        n += 0\n    tl.store"
)
ABORTS_FROM_2 = spoiled("x.numel()", "x.numel()\n    if n >= 2:\n        __import__('os').abort()")
SLEEPS_FROM_4 = spoiled(
    "x.numel()", "x.numel()\n    if n >= 4:\n        __import__('time').sleep(1000)"
)
TALKATIVE = spoiled(
    "    n = x.numel()",
    '    print("\\x1b[31mred \\x1b]0;title\\x07[bold]text[/bold]")\n    n = x.numel()',
)
