"""Launches that go wrong whatever the values are, written in plain torch."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable

import torch

from tritaudit import FLOATS, SIGNED_INTS, Abs, Case, Flip, Tensor

NUMBERS = (*FLOATS, *SIGNED_INTS, "uint8")
_LAUNCHES = itertools.count()


def reversing(
    run: Callable[..., torch.Tensor | None],
    *faults: str,
    axes: str = "N",
    dtypes: tuple[str, ...] = NUMBERS,
    also: tuple[str, ...] = (),
    why: str = "",
) -> Case:
    """A case that reverses its last axis. The faults are read from the text of this file."""
    del faults, also, why
    return Case(
        run=run,
        contract=Flip(axes.split()[-1]),
        inputs=Tensor("x", axes, dtypes=dtypes),
        axes=dict.fromkeys(axes.split(), (1, 40)),
    )


def taking_absolutes(run: Callable[..., torch.Tensor | None], *faults: str) -> Case:
    """A case of absolute values of integers. The faults are read from the text of this file."""
    del faults
    return Case(run=run, contract=Abs("wrap"), inputs=Tensor("x", "N", dtypes=SIGNED_INTS))


# --------------------------------------------------------------------------- outputs


def _as_float64(x: torch.Tensor) -> torch.Tensor:
    """The result is converted to float64."""
    return x.flip(0).to(torch.float64)


def _absolute_as_float(x: torch.Tensor) -> torch.Tensor:
    """The absolute value of integers comes out as float32."""
    return x.abs().to(torch.float32)


def _column(x: torch.Tensor) -> torch.Tensor:
    """The result is a column."""
    return x.flip(0).unsqueeze(1)


def _without_first(x: torch.Tensor) -> torch.Tensor:
    """The first element of the result is missing."""
    return x.flip(0)[1:]


def _turned(x: torch.Tensor) -> torch.Tensor:
    """The result is transposed."""
    return x.flip(1).t()


as_float64 = reversing(_as_float64, "wrong-dtype", dtypes=("float16", "float32", "int8"))
absolute_as_float = taking_absolutes(_absolute_as_float, "wrong-dtype")
column = reversing(_column, "wrong-shape")
without_first = reversing(_without_first, "wrong-shape")
turned = reversing(
    _turned,
    "wrong-shape",
    axes="H W",
    also=("value-mismatch",),
    why="a square matrix keeps its shape, and no fault is named for a transposition",
)


# --------------------------------------------------------------------------- memory


def _input_cleared(x: torch.Tensor, out: torch.Tensor) -> None:
    """The result is right, and the input is cleared."""
    out.copy_(x.flip(0))
    x.zero_()


def _input_reversed(x: torch.Tensor) -> torch.Tensor:
    """The first element of the input is overwritten with the last one."""
    result = x.flip(1)
    x[:, 0] = x[:, -1]
    return result


def _beyond_end(x: torch.Tensor, out: torch.Tensor) -> None:
    """One element behind the output is written."""
    out.copy_(x.flip(0))
    torch.as_strided(out, (len(x) + 1,), (1,))[-1] = 1


def _before_start(x: torch.Tensor, out: torch.Tensor) -> None:
    """One element before the output is written."""
    out.copy_(x.flip(1))
    start = out.storage_offset() - 1
    torch.as_strided(out, (1,), (1,), start)[0] = 1


def _beside_input(x: torch.Tensor, out: torch.Tensor) -> None:
    """One element behind the input is written."""
    out.copy_(x.flip(0))
    torch.as_strided(x, (len(x) + 1,), (1,))[-1] = 1


def _read_behind(x: torch.Tensor, out: torch.Tensor) -> None:
    """The first element of the result is read from behind the input."""
    out.copy_(x.flip(0))
    out[0] = torch.as_strided(x, (len(x) + 1,), (1,))[-1]


def _read_before(x: torch.Tensor) -> torch.Tensor:
    """The last element of each row of the result is read from before the input."""
    result = x.flip(1)
    result[:, -1] = torch.as_strided(x, (1,), (1,), x.storage_offset() - 1)[0]
    return result


def _nothing_written(x: torch.Tensor, out: torch.Tensor) -> None:
    """Nothing happens."""


input_cleared = reversing(_input_cleared, "input-mutated")
input_reversed = reversing(_input_reversed, "input-mutated", axes="H W")
beyond_end = reversing(_beyond_end, "out-of-bounds-write")
before_start = reversing(_before_start, "out-of-bounds-write", axes="H W")
beside_input = reversing(_beside_input, "out-of-bounds-write")
read_behind = reversing(_read_behind, "out-of-bounds-read")
read_before = reversing(_read_before, "out-of-bounds-read", axes="H W")
nothing_written = reversing(_nothing_written, "unwritten-output")


# --------------------------------------------------------------------------- not the same twice


def _every_other_launch(x: torch.Tensor, out: torch.Tensor) -> None:
    """Every other launch adds one to the first element."""
    out.copy_(x.flip(0))
    out[0] += next(_LAUNCHES) % 2


def _noisy(x: torch.Tensor) -> torch.Tensor:
    """One element of each result is a random number."""
    result = x.flip(0)
    result[int(torch.randint(len(x), (1,)))] = torch.randint(100, (1,)).to(x.dtype)[0]
    return result


def _shuffled(x: torch.Tensor, out: torch.Tensor) -> None:
    """Rows come out in another order each time."""
    order = torch.randperm(x.shape[0], device=x.device)
    out.copy_(x.flip(1)[order])


every_other_launch = reversing(_every_other_launch, "nondeterministic", dtypes=SIGNED_INTS)
noisy = reversing(_noisy, "nondeterministic", dtypes=("int32", "int64"))
shuffled = reversing(_shuffled, "nondeterministic", axes="H W")


# --------------------------------------------------------------------------- dead and endless


def _refuses_odd(x: torch.Tensor, out: torch.Tensor) -> None:
    """Odd lengths raise an exception."""
    if len(x) % 2:
        raise ValueError("the length has to be even")
    out.copy_(x.flip(0))


def _aborts(x: torch.Tensor, out: torch.Tensor) -> None:
    """Long vectors end the process."""
    if len(x) > 9:
        os.abort()
    out.copy_(x.flip(0))


def _returns_nothing(x: torch.Tensor) -> None:
    """The result is not returned."""
    x.flip(0)


def _sleeps(x: torch.Tensor, out: torch.Tensor) -> None:
    """Vectors of more than 20 elements are waited for without end."""
    out.copy_(x.flip(0))
    while len(x) > 20:
        time.sleep(0.01)


refuses_odd = reversing(_refuses_odd, "crash")
aborts = reversing(_aborts, "crash")
returns_nothing = reversing(_returns_nothing, "crash")
sleeps = reversing(_sleeps, "timeout")
