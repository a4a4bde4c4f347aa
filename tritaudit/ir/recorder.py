"""Records the launches of a case's `run`, and has each kernel compiled instead of started.

Triton itself turns the arguments of a launch into a signature, constants and hints such as
"divisible by 16", as it does on a GPU: only the driver is replaced by one that names the target.
So nothing here depends on how a version of Triton spells all that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import Autotuner, JITFunction, driver

from tritaudit.ir.model import Argument, Target

__all__ = ["Launch", "driver_target", "forcing", "recording", "stand_in", "version"]


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: the kernel, what it was given, and what Triton made of it."""

    function: Any
    grid: tuple[int, ...]
    arguments: tuple[Argument, ...]
    compiled: Any
    configurations: int = 0


class _Driver:
    """As much of a driver as a launch that only compiles, and a typical `run`, asks for."""

    def __init__(self, target: Target, device: str) -> None:
        arch: int | str = int(target.arch) if target.backend == "cuda" else target.arch
        self._target = GPUTarget(target.backend, arch, target.lanes)
        self._device = device

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        del device
        return 0

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_active_torch_device(self) -> torch.device:
        return torch.device(self._device)


def driver_target() -> Target | None:
    """The GPU at hand as a target, None where there is none."""
    try:
        found = driver.active.get_current_target()
    except Exception:  # every version and every driver has its own
        return None
    return Target(str(found.backend), str(found.arch))


def stand_in(target: Target, device: str) -> None:
    """From now on, compile for a target that need not be there. For the life of the process.

    Args:
        device: where the tensors lie that a launch gets.
    """
    driver.set_active(_Driver(target, device))


@contextmanager
def recording(
    num_warps: int | None = None,
    prepare: Callable[[Any], None] = lambda function: None,
    start: bool = False,
) -> Iterator[list[Launch]]:
    """Note each launch in the list that is given.

    Args:
        num_warps: takes the place of what the case launches with.
        prepare: called with each kernel before it is compiled for the first time.
        start: start the kernels as well (needs a GPU).
    """
    launches: list[Launch] = []
    prepared: set[int] = set()
    tuned: list[int] = []
    original, tune = JITFunction.run, Autotuner.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        if num_warps is not None:
            kwargs["num_warps"] = num_warps
        if id(self) not in prepared:
            prepared.add(id(self))
            prepare(self)
        compiled = original(self, *args, grid=grid, warmup=warmup or not start, **kwargs)
        bound = _bind(self, args, kwargs)
        size = grid(bound) if callable(grid) else grid
        arguments = tuple(_argument(self, name, value) for name, value in bound.items())
        # A grid may be one number, or hold numbers of other types.
        counts = tuple(int(n) for n in (size if isinstance(size, (tuple, list)) else (size,)))
        launches.append(Launch(self, counts, arguments, compiled, sum(tuned)))
        return compiled

    def first_only(self: Any, *args: Any, **kwargs: Any) -> Any:
        configs = self.configs
        self.configs = configs[:1]
        tuned.append(len(configs))
        try:
            return tune(self, *args, **kwargs)
        finally:
            self.configs = configs
            tuned.pop()

    JITFunction.run = run
    Autotuner.run = tune if start else first_only
    try:
        yield launches
    finally:
        JITFunction.run, Autotuner.run = original, tune


@contextmanager
def forcing(num_warps: int | None) -> Iterator[None]:
    """Launch kernels with another number of warps, at no cost that a measurement would show."""
    if num_warps is None:
        yield
        return
    original = JITFunction.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs["num_warps"] = num_warps
        return original(self, *args, **kwargs)

    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = original


def version() -> str:
    """The version of the Triton that compiles."""
    return str(triton.__version__)


def _bind(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    signature = inspect.signature(function.fn)
    own = {name: value for name, value in kwargs.items() if name in signature.parameters}
    bound = signature.bind(*args, **own)
    bound.apply_defaults()
    return dict(bound.arguments)


def _argument(function: Any, name: str, value: Any) -> Argument:
    if name in {p.name for p in function.params if p.is_constexpr}:
        return Argument(name, f"constexpr {getattr(value, '__name__', value)}")
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return Argument(name, f"*{dtype}", value.data_ptr() % 16 == 0)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return Argument(name, f"{value}", whole and value % 16 == 0)
