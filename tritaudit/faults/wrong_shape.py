"""The output has another shape than the contract asks for.

## What happens

The returned tensor has more elements, fewer, or other axes than the contract promises.

## Why

Usually the output was allocated in whole tiles and not cut, flattened for a kernel that works on
vectors and not reshaped, or a reduced axis was kept.

## How to see it

`assert_close` compares shapes, so any test at an odd size sees it; where the size is a multiple of
the tile, an output in whole tiles has the right shape. `torch.allclose` and plain `==` broadcast,
so `[n, 1]` against `[n]` passes or gives an n by n comparison.

## Wrong

```python
n = x.numel()
out = torch.empty(triton.cdiv(n, BLOCK) * BLOCK, dtype=x.dtype, device=x.device)
abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
return out
```

## Right

```python
n = x.numel()
out = torch.empty_like(x)
abs_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
return out
```

## Fix

Allocate the output in its final shape and mask the store, rather than allocating whole tiles. If
the shape differs from the first input's on purpose, name its axes: `Case(out_shape="H")`.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.trial import Trial


def direct(trial: Trial) -> Direct | None:
    """Another shape was returned."""
    if trial.seen.shape is None:
        return None
    wanted = tuple(trial.expected.value.shape)
    return Direct((f"the output has the shape {trial.seen.shape}, not {wanted}",))


FAULT = Fault("wrong-shape", direct=direct)
