"""Memory beside a tensor was written.

## What happens

A store went before the start or beyond the end of a tensor. The tool surrounds every tensor with a
guard band and looks at it after the launch.

## Why

A tile has a power-of-two size, an axis has not: every store of a padded tile needs a mask that is
true only inside. It is missing, or tests something else than the address that is stored to:
flipped (claim A41), inverted (claim B47), or computed before the offsets were shifted.

## How to see it

Not at all, as a rule. The values of the output can be right, and no error is raised: memory beyond
a tensor mostly belongs to the caching allocator's own block, so another tensor is overwritten,
some time, somewhere else. `compute-sanitizer` sees only what leaves the allocation
(`PYTORCH_NO_CUDA_MEMORY_CACHING=1` makes that the tensor). At multiples of the tile there is
nothing to see.

## Wrong

`abs/missing_mask`:

```python
offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
x = tl.load(x_ptr + offs)
tl.store(out_ptr + offs, tl.abs(x))
```

## Right

`abs/vector`:

```python
offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
mask = offs < n
x = tl.load(x_ptr + offs, mask=mask)
tl.store(out_ptr + offs, tl.abs(x), mask=mask)
```

## Fix

Mask the store, with a condition on the very index that is stored to: `dst < n` for
`out_ptr + dst`, and `dst >= 0` as well where dst can be negative. With two axes mask both.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Direct, Fault
from tritaudit.report.wording import count
from tritaudit.trial import Trial


def _places(name: str, places: tuple[int, ...], size: int) -> str:
    before, after = [p for p in places if p < 0], [p for p in places if p >= 0]
    parts = []
    if before:
        parts.append(
            f"{count(len(before), 'element')} before its start (the nearest at {max(before)})"
        )
    if after:
        word = "after its end" if min(after) >= size else "between its elements"
        last = f"; its last index is {size - 1}" if min(after) >= size > 0 else ""
        parts.append(
            f"{count(len(after), 'element')} {word} (the first at index {min(after)}{last})"
        )
    return f"memory beside {name} was written: " + ", ".join(parts)


def direct(trial: Trial) -> Direct | None:
    """Guard bands of the output or of an input that changed."""
    evidence = []
    if trial.seen.outside:
        evidence.append(_places("the output", trial.seen.outside, trial.wrong.numel()))
    for name, places in trial.seen.beside_inputs:
        evidence.append(_places(name, places, trial.inputs[name].numel()))
    return Direct(tuple(evidence)) if evidence else None


FAULT = Fault("out-of-bounds-write", direct=direct)
