"""Why memory is left alone, or touched, that should not be; and what the language refuses."""

from __future__ import annotations

import ast

from tritaudit.advice.kernel import allocates_without_dtype, argument, launches, passed
from tritaudit.advice.subject import Subject


def unwritten_output(subject: Subject) -> str:
    return _swapped(subject) or _wrong_mask(subject) or _rounded_down(subject)


def _swapped(subject: Subject) -> str:
    """An input that is passed for the pointer that the kernel writes to."""
    kernel = subject.kernel
    inputs = [name for name, _ in subject.finding.example.dtypes]
    if len(kernel.loads) != 1 or len(kernel.stores) != 1:
        return ""
    load, store = kernel.loads[0], kernel.stores[0]
    for launch in launches(kernel):
        read, given = (passed(kernel, launch, a.pointer) for a in (load, store))
        match read, given:
            case ast.Name(id=source), ast.Name(id=target):
                if target in inputs and source not in inputs:
                    return (
                        f"`{kernel.name}` takes {', '.join(kernel.parameters[:2])} in this order "
                        f"and writes to `{store.pointer}` (line {store.line}). The launch in line "
                        f"{launch.call.lineno} passes {target} for it, so {target} is overwritten "
                        "and the output never touched."
                    )
    return ""


def _rounded_down(subject: Subject) -> str:
    """A grid of `n // BLOCK` programs."""
    kernel = subject.kernel
    for launch in launches(kernel):
        grid = kernel.source(launch.grid)
        if "//" in grid:
            return (
                f"The grid `{grid}` (line {launch.call.lineno}) is rounded down: there is no "
                "program for what remains after the whole tiles, and none at all for less than one."
            )
    return ""


def _wrong_mask(subject: Subject) -> str:
    """A mask of the store that is inverted, or flipped while the addresses are not."""
    kernel = subject.kernel
    for store in kernel.stores:
        mask = argument(store.call, 2, "mask")
        if isinstance(mask, ast.Call) and any(mask is f.call for f in kernel.flips):
            return (
                f"`{kernel.source(store.call)}` (line {store.line}) flips the mask and leaves the "
                "addresses as they were. The lanes that it lets through are the last ones of the "
                "tile: their addresses reach beyond the end, and nothing is stored at the front."
            )
        for condition in store.mask or ():
            match condition:
                case ast.Compare(left=ast.Name(id=name), ops=[ast.Gt() | ast.GtE()]):
                    if name in store.offsets:
                        return (
                            f"The mask of the store, `{kernel.source(condition)}` (line "
                            f"{condition.lineno}), is true beyond the end and false inside."
                        )
    return ""


def out_of_bounds_write(subject: Subject) -> str:
    kernel = subject.kernel
    for store in kernel.stores:
        if store.mask == ():
            tiles = [f"{n} = {v}" for n, v in subject.finding.example.tiles]
            size = f" ({', '.join(tiles)})" if tiles else ""
            return (
                f"`{kernel.source(store.call)}` (line {store.line}) has no mask: a tile{size} that "
                "is not full writes its padding lanes beyond the end."
            )
    return _wrong_mask(subject) or _swapped(subject)


def out_of_bounds_read(subject: Subject) -> str:
    kernel = subject.kernel
    for load in kernel.loads:
        if load.mask == ():
            return (
                f"`{kernel.source(load.call)}` (line {load.line}) has no mask, and reads whatever "
                "lies beyond the end."
            )
        for index in kernel.indices(load):
            address = argument(load.call, 0, "pointer")
            if address is None or index.name in load.offsets:
                continue
            return (
                f"The mask in line {load.line} tests `{index.text} < {index.extent}`, but the "
                f"address is `{kernel.source(address)}`: another index, which no one tests."
            )
    return ""


def input_mutated(subject: Subject) -> str:
    return _swapped(subject)


# --------------------------------------------------------------------------- the language


def api_rejects(subject: Subject) -> str:
    kernel = subject.kernel
    for flip in kernel.flips:
        at = f"`{kernel.source(flip.call)}` (line {flip.call.lineno})"
        dims = argument(flip.call, 1, "dim")
        if isinstance(dims, (ast.Tuple, ast.List)):
            return f"{at} names several axes. Every version of Triton takes one (claim A2)."
        if dims is None and flip.literal:
            return f"{at} names no axis. Triton 3.4 to 3.8 refuses that (claim A3)."
        if flip.dim is not None and flip.dim < 0:
            return f"{at} counts the axis from the end. Triton up to 3.3 refuses that (claim A27)."
    evidence = " ".join(subject.finding.evidence)
    if "numel" in evidence and kernel.flips:
        return f"{subject.call('flip')} flips a tile of one element: every version refuses that."
    if "arange" in evidence and "power of 2" in evidence:
        return f"{subject.call('arange')}: its range has to be a power of two (claim A14)."
    return ""


def wrong_dtype(subject: Subject) -> str:
    kernel = subject.kernel
    for launch in launches(kernel):
        for node in ast.walk(launch.function):
            if allocates_without_dtype(node):
                return (
                    f"`{kernel.source(node)}` (line {node.lineno}) names no dtype, so it is "
                    "float32 whatever the input is. The store converts without a word."
                )
    return ""
