"""The output is wrong, and no other fault explains it.

## What happens

Output elements differ from what the contract asks for. Every other fault was asked to predict the
wrong values, and none of the predictions held.

## Why

The tool does not guess: a fault is named only if it predicts the wrong output bit for bit, here
and on further examples. What is left has a cause that no fault describes: a wrong formula, a wrong
constant, elements that are sorted or shuffled, two mistakes that act on the same elements, or a
contract that says something else than the kernel was meant to do.

## How to see it

The example is the smallest one that was found, so start there: compare input, expected and got by
hand, and look at what the wrong elements have in common. The faults that were ruled out, and by
which example, stand in the proof.

## Wrong

`loss/huber_wrong_slope`, right for delta = 1 only:

```python
d = tl.abs(x - y)
loss = tl.where(d <= delta, 0.5 * d * d, d - 0.5 * delta)
```

## Right

`loss/huber`:

```python
d = tl.abs(x - y)
loss = tl.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))
```

## Fix

Check the contract first, and its tolerance: a `Reference` compares with the result in float64, 4
units in the last place by default, which a chain of float32 operations can exceed without a
mistake (`tolerance=` allows more). Then run the example in the interpreter, where `print` works in
a kernel.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Fault

# What remains when every candidate is refuted; `tritaudit.faults.diagnosis` says so.
FAULT = Fault("value-mismatch")
