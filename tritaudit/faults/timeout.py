"""A launch did not end.

## What happens

The launch was still running when the time for a launch was over: 20 s, or less where the whole
case has less (a third of that time, in the interpreter a sixth). The tool ends the process and
reports the smallest example that it found to do so. In the interpreter it is processor time that
counts, so that a machine with other work does not make a kernel look endless; a launch that only
waits has twice as long.

## Why

A loop in the kernel whose condition never becomes false: a `while` whose variable does not grow, a
step that is 0 for some sizes, a lock or a counter that waits for a program which cannot start
before this one has ended. On a GPU a grid is not guaranteed to run all at once.

A case can also simply be slow: in the interpreter every program is a Python loop, and a flip of a
tile of 1024 takes about 0.3 s. Then raise `--timeout`, or give the case smaller tiles and axes.

## How to see it

A hang with the GPU at 100 % and no message. Neither Ctrl-C nor a timeout of the test runner ends a
kernel; only ending the process does.

## Wrong

```python
tile = tl.program_id(0)
while tile * BLOCK < n:
    offs = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.abs(x), mask=offs < n)
```

## Right

```python
for tile in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
    offs = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, tl.abs(x), mask=offs < n)
```

## Fix

Loop with `for … in range(first, end, step)`, whose end is fixed before the first turn, and check
that the step cannot be 0. Do not wait inside a kernel for another program; split the work into two
launches.
"""

from __future__ import annotations

from tritaudit.faults.protocol import Fault

# Seen by the supervisor alone: the process that ran the launch is killed.
FAULT = Fault("timeout")
