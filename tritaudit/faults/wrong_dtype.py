"""The output has another dtype than the contract asks for.

## What happens

The launch function returned, say, float32 for a float16 input. The values may all be right.

## Why

`torch.empty(x.shape, device=x.device)` is float32 whatever x is. The store converts silently, so
the kernel has nothing to complain of. In Triton itself `tl.flip` of bfloat16 gave float32 up to
3.2 (claim A4), and `tl.where` with a scalar did so for half precision up to 3.1 (claim B36).

## How to see it

A test with float32 inputs cannot. `assert_close` checks the dtype unless `check_dtype=False`,
which is what a comparison with a wide reference tends to set. Downstream the tensor takes twice
the memory, or a matrix product refuses the mixed types.

## Wrong

`abs/default_dtype`:

```python
out = torch.empty(x.shape, device=x.device)
abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
return out
```

## Right

```python
out = torch.empty_like(x)
abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
return out
```

## Fix

Allocate with `torch.empty_like(x)`, or pass `dtype=x.dtype`. If another dtype is meant, say so in
the case: `out_dtype="float32"`, or a function of the input's dtype.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Another dtype was returned."""
    if trial.seen.dtype is None:
        return None
    wanted = str(trial.expected.value.dtype).removeprefix("torch.")
    return Direct((f"the output is {trial.seen.dtype}, not {wanted}",))


FAULT = Fault("wrong-dtype", direct=direct)
