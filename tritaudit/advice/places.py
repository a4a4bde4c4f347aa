"""Why elements are in wrong places."""

from __future__ import annotations

import ast
import re

from tritaudit.advice.kernel import argument
from tritaudit.advice.memory import returned_input
from tritaudit.advice.subject import (
    Move,
    Subject,
    axis_of,
    is_or_are,
    listed,
    moved,
    moves,
    number_of,
    tile_size,
)


def block_local_flip(subject: Subject) -> str:
    move = moved(subject)
    if move is None or move.way not in ("local", "within"):
        return ""
    axis, what = axis_of(move), subject.call("flip") or "The kernel"
    count = -(-move.extent // move.size)
    came = min(move.size, move.extent) - 1
    return (
        f"{what} reverses the elements of one tile, {move.named()} along {axis}, and knows "
        f"nothing of the others. {axis} = {move.extent} takes {count} tiles, and each is "
        f"stored where it was loaded from: position 0 gets element {came}, where element "
        f"{move.extent - 1} belongs."
    )


def padding_leak(subject: Subject) -> str:
    return _short_mask(subject) or _reduced_padding(subject) or _turned_padding(subject)


#: which elements come from masked lanes where all others are in their places.
_ENDS = {"headless": "the first", "tailless": "the last", "nothing": "every"}


def _short_mask(subject: Subject) -> str:
    """A mask of the load that is false at one end, or everywhere."""
    for axis, way in subject.parameters.items():
        if way in _ENDS:
            end = "wherever it should be true" if way == "nothing" else f"for {_ENDS[way]} one"
            return (
                f"Along {axis} {_ENDS[way]} element comes from a masked lane"
                + ("" if way == "nothing" else ", and all others are right")
                + f": the mask of the load is false {end}."
            )
    return ""


def _reduced_padding(subject: Subject) -> str:
    """Padding that takes part in a sum or another reduction."""
    held = subject.parameters.get("masked lanes")
    for axis, text in subject.parameters.items():
        way, _, tile = text.partition(" ")
        extent = subject.sizes.get(axis)
        if way != "padded" or extent is None:
            continue
        size = tile_size(tile, extent, dict(subject.finding.example.tiles))
        lanes = "" if not size else f" ({number_of(-extent % size, 'lane')} at {axis} = {extent})"
        what = subject.call("sum", "max", "min", "reduce", "dot")
        return (
            f"{axis} is padded to whole tiles, and the masked lanes{lanes} take part in "
            f"{what or 'the reduction'} as {held}."
        )
    return ""


def _turned_padding(subject: Subject) -> str:
    leaky = [m for m in moves(subject) if m.size and m.lanes]
    if not leaky:
        return ""
    move = leaky[0]
    masked = " ".join(_masked(m, subject) for m in leaky)
    if move.way not in ("local", "within"):
        return (
            f"{masked} The tiles are taken from the padded end, so these lanes are stored at the "
            f"front, and as many elements of {subject.source} are lost."
        )
    what = subject.call("flip") or "The kernel"
    text = (
        f"{masked} {what} turns the whole tile, padding included, so that the padding comes first."
    )
    valid = move.extent % move.size
    lost = min(move.lanes, valid)
    if len(leaky) > 1:
        return f"{text} The store still writes the first lanes, and those that held data are lost."
    if valid == 1:
        return (
            f"{text} The store still writes the first lane, which is padding now, and element "
            f"{move.extent - 1} of {subject.source} is lost."
        )
    return (
        f"{text} The store still writes the first {valid} lanes: {lost} of them {is_or_are(lost)} "
        f"padding now, and {number_of(lost, 'element')} of {subject.source} {is_or_are(lost)} lost."
    )


def _masked(move: Move, subject: Subject) -> str:
    """How many lanes of the last tile along an axis are masked, and what they hold."""
    axis, valid, size = axis_of(move), move.extent % move.size, move.size
    leaked = subject.finding.index_map.leaked if subject.finding.index_map is not None else ""
    rest = "The other lane is" if move.lanes == 1 else f"The other {move.lanes} lanes are"
    held = f" and hold{'s' * (move.lanes == 1)} {leaked}" if leaked else ""
    if move.extent < size:
        text = f"{axis} = {move.extent} fills {valid} of the {size} lanes of its tile"
    else:
        text = f"{axis} = {move.extent} fills {valid} of the {size} lanes of the last tile"
    name = "" if move.tile == str(size) else f" ({move.named()})"
    return f"{text}{name}. {rest} masked{held}."


def tile_order_only(subject: Subject) -> str:
    move = moved(subject)
    if move is None or move.way not in ("order", "front"):
        return ""
    text = (
        f"The tiles of {move.named()} along {axis_of(move)} are exchanged, first with last, but "
        "the lanes inside each still count upwards"
    )
    if move.extent <= move.size:
        return f"{text}. {axis_of(move)} = {move.extent} is a single tile: nothing moves at all."
    return f"{text}: position 0 gets the first element of the last tile, not its last one."


def wrong_axis(subject: Subject) -> str:
    turned = [m.axis for m in moves(subject) if m.way == "reverse"]
    if not turned or turned == ["flat"]:
        return ""
    asked = re.findall(r'"(\w+)"', subject.contract) if subject.contract.startswith("Flip") else []
    text = f"{listed(turned)} {'is' if len(turned) == 1 else 'are'} reversed"
    text += f"; the contract asks for {listed(asked)}." if asked else "."
    kernel = subject.kernel
    if len(turned) == len(subject.sizes) > 1 and len(kernel.loads) == 1:
        load = kernel.loads[0]
        flat = [i for i in kernel.indices(load) if i.dim is None]
        if len(flat) == 1 and len(load.mask or ()) == 1 and not kernel.flips:
            name = flat[0].name
            text += (
                f" `{name}` (line {load.line}) counts the elements of the whole tensor; mirrored, "
                "it reverses every axis at once."
            )
    return text


def not_reversed(subject: Subject) -> str:
    kernel = subject.kernel
    if returned_input(subject):
        return returned_input(subject)
    for flip in kernel.flips:
        if isinstance(kernel.statement(flip.call), ast.Expr):
            return (
                f"`{kernel.source(flip.call)}` (line {flip.call.lineno}) makes a new tile, and "
                "nothing uses it. The store writes what was loaded."
            )
    if not kernel.flips:
        return ""
    load = next(iter(kernel.loads), None)
    if load is not None and any(" - 1 - " in text for text in load.offsets):
        return (
            f"The load in line {load.line} mirrors the addresses, and {subject.call('flip')} "
            "reverses the tile again: two reversals undo each other."
        )
    return ""


def off_by_one(subject: Subject) -> str:
    shifts = [(a, v) for a, v in subject.parameters.items() if re.fullmatch(r"[+-]\d+", v)]
    if not shifts:
        return ""
    axis, shift = shifts[0][0], int(shifts[0][1])
    extent = subject.sizes.get(axis)
    if extent is None:
        return ""
    came = extent - 1 - shift
    text = (
        f"Along {axis} every element is taken from {abs(shift)} position{'s' * (abs(shift) > 1)} "
        f"too {'high' if shift < 0 else 'low'}: position 0 reads index {came}, where "
        f"{axis} - 1 = {extent - 1} belongs."
    )
    return text if 0 <= came < extent else f"{text} {_BEYOND[subject.parameters.get('edge', '')]}"


#: what comes in at the end that a shifted index goes beyond.
_BEYOND = {
    "": "That lies outside the axis.",
    "clamp": "What would lie outside the axis is taken from its end.",
    "memory": "That lies outside the axis: what stands there in memory comes out.",
    "wrap": "What would lie outside the axis is taken from the other end.",
    "zero": "That lies outside the axis.",
}


def alias_race(subject: Subject) -> str:
    axis, tile = subject.parameters.get("axis", ""), subject.parameters.get("tile", "")
    size = dict(subject.finding.example.tiles).get(tile)
    extent = subject.sizes.get(axis)
    text = (
        f"The output is {subject.source} itself. A program stores its tile over elements that the "
        "program of the mirrored tile has still to read."
    )
    if size is None or extent is None or extent <= size:
        return text
    return (
        f"{text} At {axis} = {extent} the first program ({tile} = {size}) writes positions 0 to "
        f"{size - 1}, and the last one reads some of them: before or after, as it happens."
    )


#: what the strides of a layout mean.
_LAYOUTS = {
    "expanded": "its rows are one and the same in memory",
    "strided": "its elements do not lie one behind the other in memory",
    "transposed": "its elements do not lie in memory in the order of its axes",
}


def stride_ignored(subject: Subject) -> str:
    name = subject.parameters.get("input", subject.source)
    if "strides" in subject.parameters:
        told = subject.finding.proof.statement
        return f"{told[:1].upper()}{told[1:]}." if told else ""
    layout = dict(subject.finding.example.layouts).get(name, "")
    if layout not in _LAYOUTS:
        return ""
    text = f"In this example {name} is {layout}: {_LAYOUTS[layout]}."
    kernel = subject.kernel
    for load in kernel.loads:
        address = argument(load.call, 0, "pointer")
        if address is not None and "stride" not in ast.unparse(kernel.resolved(address)):
            text += (
                f" The address `{kernel.source(address)}` (line {load.line}) has no stride in it: "
                "it counts as if they did."
            )
            break
    return text
