"""An input was changed.

## What happens

After the launch an input holds other bits than before, though the case does not say that it is the
output (`in_place=`).

## Why

Mostly the arguments of the kernel are in another order than those of the call: pointers carry no
names, so `kernel[grid](x, out, …)` on `kernel(out_ptr, x_ptr, …)` writes into x, and out stays as
it was (claim B46). Or a kernel uses its input as scratch space, or an output is a view of it. Or no
kernel did it, but an in-place operation of torch around the launch (`x.abs_()`); the evidence says
so.

## How to see it

A test that computes its reference from x after the launch compares the kernel with itself. Take
the reference first, or keep a clone of x and compare it at the end. Running the kernel twice on
the same x shows it as well, unless it is idempotent, as abs is.

## Wrong

`abs/swapped_arguments`:

```python
def abs_kernel(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)
def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
```

## Right

`abs/vector`:

```python
def abs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.abs(x), mask=mask)
def run(x: torch.Tensor, out: torch.Tensor, *, BLOCK: int) -> None:
    abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
```

## Fix

Put the pointers in the order of the kernel's parameters, or pass them by keyword
(`x_ptr=x, out_ptr=out`). If the input is meant to be overwritten, say so: `Case(in_place="x")`,
for a function on the command line `--in-place`.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.report.wording import share
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Inputs whose bits differ after the launch."""
    seen = trial.seen
    evidence = [
        f"{share(int(mask.sum()), mask.numel(), 'element')} of {name} "
        f"{'was' if int(mask.sum()) == 1 else 'were'} changed"
        + (", by an in-place operation of torch" if name in seen.assigned else "")
        for name, mask in seen.mutated.items()
    ]
    if not evidence:
        return None
    known = set(seen.mutated) == set(seen.assigned)
    return Direct(tuple(evidence), parameters=(("changed by", "torch"),) if known else ())


FAULT = Fault("input-mutated", direct=direct)
