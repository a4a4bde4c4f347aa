"""Why memory is left alone, or touched, that should not be; and what the language refuses."""

from __future__ import annotations

import ast
import math

from tritaudit.advice.kernel import (
    allocates_without_dtype,
    argument,
    constant,
    launches,
    passed,
)
from tritaudit.advice.patch import BEYOND, SHORT, unused_output, wrong_bound, wrong_return
from tritaudit.advice.subject import Subject, listed, number_of


def unwritten_output(subject: Subject) -> str:
    return (
        _swapped(subject)
        or _stored_back(subject)
        or _wrong_mask(subject)
        or _rounded_down(subject)
        or _fixed_grid(subject)
    )


def returned_input(subject: Subject) -> str:
    """A launch function that returns an input, and not what the kernel writes to."""
    found = wrong_return(subject.kernel, subject.inputs)
    if found is None:
        return ""
    statement, output = found
    return (
        f"`{subject.kernel.name}` writes to {output}, but line {statement.lineno} returns "
        f"{ast.unparse(statement.value) if statement.value else ''}, the input."
    )


def _stored_back(subject: Subject) -> str:
    """A store to the pointer of the input, while another pointer is never used."""
    unused = unused_output(subject.kernel, subject.inputs)
    if not unused:
        return ""
    store = subject.kernel.stores[0]
    return (
        f"The store in line {store.line} goes to `{store.pointer}`, from which the kernel also "
        f"loads. `{unused}` is never used."
    )


def _swapped(subject: Subject) -> str:
    """An input that is passed for the pointer that the kernel writes to."""
    kernel = subject.kernel
    inputs = subject.inputs
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
            told = (
                f"The grid `{grid}` (line {launch.call.lineno}) is rounded down: there is no "
                "program for what remains after the whole tiles"
            )
            # `max(1, n // BLOCK)` is at least one program.
            least = any(isinstance(n, ast.Call) for n in ast.walk(launch.grid))
            return f"{told}." if least else f"{told}, and none at all for less than one."
    return ""


def _fixed_grid(subject: Subject) -> str:
    """A grid of numbers, `(1,)`, of a kernel without a loop."""
    kernel = subject.kernel
    if any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(kernel.function)):
        return ""
    for launch in launches(kernel):
        parts = launch.grid.elts if isinstance(launch.grid, ast.Tuple) else [launch.grid]
        if all(constant(part) is not None for part in parts):
            sizes = [
                f"{k.arg} = {constant(k.value)}"
                for k in launch.call.keywords
                if k.arg in kernel.parameters and constant(k.value) is not None
            ]
            tile = f" of {listed(sizes)}" if sizes else ""
            programs = math.prod(constant(part) or 0 for part in parts)
            return (
                f"The grid `{kernel.source(launch.grid)}` (line {launch.call.lineno}) does not "
                f"grow with the input: {number_of(programs, 'program')}{tile} for every size."
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
    found = wrong_bound(kernel, SHORT | BEYOND)
    if found is None:
        return ""
    condition, _, kind = found
    told = f"The mask of the store, `{kernel.source(condition)}` (line {condition.lineno}), "
    if kind == "inverted":
        return f"{told}is true beyond the end and false inside."
    return told + ("ends before the end." if kind == "short" else "is still true beyond the end.")


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
    return _wrong_mask(subject) or _swapped(subject) or _stored_back(subject)


def out_of_bounds_read(subject: Subject) -> str:
    kernel = subject.kernel
    for load in kernel.loads:
        if load.mask == ():
            return (
                f"`{kernel.source(load.call)}` (line {load.line}) has no mask, and reads whatever "
                "lies beyond the end."
            )
        found, address = kernel.indices(load), argument(load.call, 0, "pointer")
        if len(found) != 1 or address is None or found[0].name in load.offsets:
            continue
        return (
            f"The mask in line {load.line} tests `{found[0].text} < {found[0].extent}`, but the "
            f"address is `{kernel.source(address)}`: another index, which no one tests."
        )
    return ""


def input_mutated(subject: Subject) -> str:
    if subject.parameters.get("changed by") == "torch":
        name = f"`{subject.kernel.name}`" if subject.kernel.parameters else "The launch function"
        return (
            f"{name}, or what it calls, changes it with an operation of torch that works in place. "
            "No store of a kernel is needed for that."
        )
    return _swapped(subject) or _stored_back(subject)


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
