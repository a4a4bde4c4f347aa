"""Autotuned kernels without a measurement: the configuration that is run is chosen.

`triton.autotune` times each configuration on a device and keeps the fastest, which the interpreter
cannot do: it has no device, and its times say nothing. A kernel has to be right in whichever
configuration turns out to be the fastest on some GPU, so here the example names the one that is
run, as `config=1` among its launch options. Numbers count the configurations that pruning leaves
and that differ in what the kernel sees: those that differ in warps and stages alone are one.

As in every launch of Triton but those that measure, `reset_to_zero` and `restore_value` do nothing,
and the hook of the configuration is called.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from triton.runtime import Autotuner, interpreter

__all__ = ["CONFIG", "UntunedError", "choices", "choosing", "forget", "install", "notes", "taken"]

#: the launch option of an example that names the configuration.
CONFIG = "config"
#: configurations that the sweep runs at every size.
MOST = 8
_MARK = "tritaudit_chooses"


class UntunedError(RuntimeError):
    """Which configurations a kernel has could not be found out without a device."""


class _Tuning:
    """What is chosen, and what was seen of the autotuned kernels of this process."""

    def __init__(self) -> None:
        #: the number of the configuration that is run; None: as Triton measures.
        self.config: int | None = None
        self.measured = True
        #: kernel -> how many configurations differ in what it sees, and how many it has in all.
        self.offered: dict[str, tuple[int, int]] = {}
        #: kernel -> the configurations that were run, in words.
        self.ran: dict[str, dict[str, None]] = {}
        #: the kernels of the latest launch and their configurations, in words.
        self.latest: dict[str, None] = {}


_TUNING = _Tuning()


def install(*, measured: bool) -> None:
    """Let this process choose configurations; idempotent.

    Args:
        measured: an example that names no configuration is tuned as ever, on a device; else the
            first configuration is run.
    """
    _TUNING.measured = measured
    _TUNING.config = None if measured else 0
    if getattr(Autotuner.run, _MARK, False):
        return
    run, make = Autotuner.run, Autotuner.__init__

    def chosen(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _TUNING.config is None:
            return run(self, *args, **kwargs)
        configs = self.configs
        config = _choose(self, args, kwargs, _TUNING.config)
        self.configs = [config if _TUNING.measured else _for_interpreter(self, config)]
        try:
            return run(self, *args, **kwargs)
        finally:
            self.configs = configs

    setattr(chosen, _MARK, True)
    Autotuner.run = chosen
    if not measured and "do_bench" in inspect.signature(make).parameters:

        def unmeasured(self: Any, *args: Any, **kwargs: Any) -> None:
            # Triton 3.2 and 3.3 ask the driver for a way to measure as soon as a kernel is read.
            if kwargs.get("do_bench") is None:
                kwargs["do_bench"] = _never
            make(self, *args, **kwargs)

        Autotuner.__init__ = unmeasured


def _never(*args: Any, **kwargs: Any) -> Any:
    raise UntunedError("nothing is measured on the interpreter")


def _choose(tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], number: int) -> Any:
    """The configuration of a number, counted round.

    Raises:
        UntunedError: the author's pruning raised, or it leaves none.
    """
    left, reason = list(tuner.configs), ""
    if len(left) > 1:
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        try:
            left = list(tuner.prune_configs(kwargs))
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    name = getattr(tuner.base_fn, "__name__", "a kernel")
    if reason or not left:
        why = f"raised {reason}" if reason else "leaves none"
        raise UntunedError(
            f"the configurations of {name} cannot be pruned on the interpreter: the pruning {why}"
        )
    different = _different(tuner, left)
    config = different[number % len(different)]
    if len(tuner.configs) > 1:
        words = _in_words(tuner, config)
        _TUNING.offered[name] = (len(_different(tuner, tuner.configs)), len(tuner.configs))
        _TUNING.ran.setdefault(name, {})[words] = None
        _TUNING.latest[f"{name} with {words}" if words else name] = None
    return config


def _seen_by_kernel(tuner: Any, config: Any) -> dict[str, Any]:
    """What a configuration sets among the arguments of its kernel."""
    everything = config.all_kwargs()
    return {k: v for k, v in everything.items() if k in config.kwargs or k in tuner.arg_names}


def _for_interpreter(tuner: Any, config: Any) -> Any:
    """A configuration without the options of a launch that the interpreter refuses (Triton 3.2)."""
    known = getattr(interpreter, "RESERVED_KWS", None)
    if known is None:
        return config
    own = {*config.kwargs, *tuner.arg_names, *known}
    options = {k: v for k, v in config.all_kwargs().items() if k in own}
    copied = copy.copy(config)
    copied.all_kwargs = lambda: options
    return copied


def _different(tuner: Any, configs: list[Any]) -> list[Any]:
    """The first of each group of configurations that are alike for the kernel."""
    found: dict[object, Any] = {}
    for config in configs:
        own = sorted(_seen_by_kernel(tuner, config).items())
        found.setdefault((repr(own), config.pre_hook), config)
    return list(found.values())


def _in_words(tuner: Any, config: Any) -> str:
    return ", ".join(f"{k}={v}" for k, v in _seen_by_kernel(tuner, config).items())


@contextmanager
def choosing(launch: tuple[tuple[str, int], ...]) -> Iterator[dict[str, Any]]:
    """Run the configuration that launch options name; gives the other options, for `run`."""
    options = dict(launch)
    before = _TUNING.config
    _TUNING.config = options.pop(CONFIG, before)
    _TUNING.latest.clear()
    try:
        yield options
    finally:
        _TUNING.config = before


def taken() -> tuple[str, ...]:
    """The autotuned kernels of the latest launch with the configurations that were run."""
    return tuple(_TUNING.latest)


def choices() -> list[tuple[tuple[str, int], ...]]:
    """The launch options that name a configuration each, of the kernels seen; the first is ()."""
    most = max((different for different, _ in _TUNING.offered.values()), default=1)
    return [(), *(((CONFIG, k),) for k in range(1, min(most, MOST)))]


def forget() -> None:
    """Forget the kernels that were seen."""
    _TUNING.offered.clear()
    _TUNING.ran.clear()


def notes() -> list[str]:
    """What was run of each autotuned kernel."""
    out = []
    for name, (different, every) in _TUNING.offered.items():
        ran = list(_TUNING.ran[name])
        if different == 1:
            words = f"the first of its {every} configurations was run: they differ in launch alone"
        else:
            which = "; ".join(ran)
            words = f"{len(ran)} of {different} different configurations were run ({which})"
            if len(ran) < different:
                words += ", the others were not judged"
        out.append(f"{name} is autotuned, which is not measured on the interpreter: {words}")
    return out
