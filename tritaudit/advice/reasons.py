"""Why a finding's output is wrong: in words, with the kernel's names and the example's numbers.

Every sentence follows from what was proved (the fault and its parameters), from the example, or
from the source; what is not recognised there is left out.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from tritaudit.advice.kernel import (
    Kernel,
    allocates_without_dtype,
    argument,
    launches,
    passed,
)
from tritaudit.advice.values import handwritten_abs
from tritaudit.model import INTS, Cell, Finding


@dataclass(frozen=True, slots=True)
class Subject:
    """A finding with what is known around it: its kernel's source and the case's contract."""

    finding: Finding
    kernel: Kernel
    contract: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        return dict(self.finding.proof.parameters)

    @property
    def sizes(self) -> dict[str, int]:
        return dict(self.finding.example.sizes)

    @property
    def source(self) -> str:
        """The name of the first input."""
        dtypes = self.finding.example.dtypes
        return dtypes[0][0] if dtypes else "x"

    def call(self, *names: str) -> str:
        """The first call of one of these names, with its line: "`tl.flip(x, 0)` (line 23)"."""
        for name in names:
            for call in self.kernel.calls(name):
                return f"`{self.kernel.source(call)}` (line {call.lineno})"
        return ""

    def first_wrong(self) -> Cell | None:
        cells = self.finding.excerpt.cells if self.finding.excerpt is not None else ()
        return next((c for c in cells if c.wrong), None)


@dataclass(frozen=True, slots=True)
class Move:
    """One axis that moves the wrong way: its way, its extent, its tile in words and in elements."""

    axis: str
    way: str
    extent: int
    tile: str
    size: int

    @property
    def lanes(self) -> int:
        """Masked lanes of the last tile."""
        return -self.extent % self.size if self.size else 0

    def named(self) -> str:
        """`BLOCK = 4`, or the size alone where the tile has no name."""
        return str(self.size) if self.tile == str(self.size) else f"{self.tile} = {self.size}"


_POWER = re.compile(r"(?:max\((\d+), )?next_power_of_2\(\w*\)\)?\Z")


def moves(subject: Subject) -> list[Move]:
    """The moves that the proof names, axis by axis; of the flat tensor under the name "flat"."""
    out = []
    tiles, sizes = dict(subject.finding.example.tiles), subject.sizes
    for axis, text in subject.parameters.items():
        way, _, tile = text.partition(" ")
        extent = math.prod(sizes.values()) if axis == "flat" else sizes.get(axis)
        if extent is None or way not in _WAYS:
            continue
        size = _tile_size(tile, extent, tiles) if tile else 0
        if size is not None:
            name = tile if tile.isidentifier() else _tile_name(subject.kernel, axis)
            out.append(Move(axis, way, extent, name or str(size), size))
    return out


def _tile_name(kernel: Kernel, axis: str) -> str:
    """What a kernel calls the tile along an axis, where the case has no name for it."""
    found = [i for load in kernel.loads[:1] for i in kernel.indices(load)]
    for index in found:
        if len(found) == 1 or index.extent.lower() == axis.lower():
            return kernel.tile_of(index)
    return ""


def _tile_size(text: str, extent: int, tiles: dict[str, int]) -> int | None:
    if text in tiles:
        return tiles[text]
    if text.isdigit():
        return int(text)
    power = _POWER.match(text)
    if power is None:
        return None
    return max(int(power[1] or 1), 1 << max(extent - 1, 0).bit_length())


_WAYS = ("keep", "reverse", "local", "within", "order", "front", "mirrored")


def _moved(subject: Subject) -> Move | None:
    """The move of a tile that the proof is about."""
    return next((m for m in moves(subject) if m.size), None)


def _axis(move: Move) -> str:
    return "the flat tensor" if move.axis == "flat" else move.axis


# --------------------------------------------------------------------------- places


def block_local_flip(subject: Subject) -> str:
    move = _moved(subject)
    if move is None or move.way not in ("local", "within"):
        return ""
    what = subject.call("flip") or "The kernel"
    count = -(-move.extent // move.size)
    came = min(move.size, move.extent) - 1
    return (
        f"{what} reverses the elements of one tile, {move.named()} along {_axis(move)}, and knows "
        f"nothing of the others. {_axis(move)} = {move.extent} takes {count} tiles, and each is "
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
        size = _tile_size(tile, extent, dict(subject.finding.example.tiles))
        lanes = "" if not size else f" ({_number(-extent % size, 'lane')} at {axis} = {extent})"
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
        f"{text} The store still writes the first {valid} lanes: {lost} of them {_is(lost)} "
        f"padding now, and {_number(lost, 'element')} of {subject.source} {_is(lost)} lost."
    )


def _masked(move: Move, subject: Subject) -> str:
    """How many lanes of the last tile along an axis are masked, and what they hold."""
    axis, valid, size = _axis(move), move.extent % move.size, move.size
    leaked = subject.finding.index_map.leaked if subject.finding.index_map is not None else ""
    rest = "The other lane is" if move.lanes == 1 else f"The other {move.lanes} lanes are"
    held = f" and hold{'s' * (move.lanes == 1)} {leaked}" if leaked else ""
    if move.extent < size:
        text = f"{axis} = {move.extent} fills {valid} of the {size} lanes of its tile"
    else:
        text = f"{axis} = {move.extent} fills {valid} of the {size} lanes of the last tile"
    name = "" if move.tile == str(size) else f" ({move.named()})"
    return f"{text}{name}. {rest} masked{held}."


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def tile_order_only(subject: Subject) -> str:
    move = _moved(subject)
    if move is None or move.way not in ("order", "front"):
        return ""
    text = (
        f"The tiles of {move.named()} along {_axis(move)} are exchanged, first with last, but the "
        "lanes inside each still count upwards"
    )
    if move.extent <= move.size:
        return f"{text}. {_axis(move)} = {move.extent} is a single tile: nothing moves at all."
    return f"{text}: position 0 gets the first element of the last tile, not its last one."


def wrong_axis(subject: Subject) -> str:
    turned = [m.axis for m in moves(subject) if m.way == "reverse"]
    if not turned or turned == ["flat"]:
        return ""
    asked = re.findall(r'"(\w+)"', subject.contract) if subject.contract.startswith("Flip") else []
    text = f"{_listed(turned)} {'is' if len(turned) == 1 else 'are'} reversed"
    text += f"; the contract asks for {_listed(asked)} alone." if asked else "."
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


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def not_reversed(subject: Subject) -> str:
    kernel = subject.kernel
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
    where = "inside" if 0 <= came < extent else "outside"
    text = (
        f"Along {axis} every element is taken from {abs(shift)} position{'s' * (abs(shift) > 1)} "
        f"too {'high' if shift < 0 else 'low'}: position 0 reads index {came}, where "
        f"{axis} - 1 = {extent - 1} belongs."
    )
    return f"{text} That lies {where} the axis." if where == "outside" else text


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


def stride_ignored(subject: Subject) -> str:
    name = subject.parameters.get("input", subject.source)
    if "strides" in subject.parameters:
        told = subject.finding.proof.statement
        return f"{told[:1].upper()}{told[1:]}." if told else ""
    layout = dict(subject.finding.example.layouts).get(name, "")
    text = f"In this example {name} is {layout}: its elements do not lie in memory in the order of "
    text += "its axes."
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


# --------------------------------------------------------------------------- values


def signed_zero_kept(subject: Subject) -> str:
    kernel = subject.kernel
    for call, x, condition in handwritten_abs(kernel):
        at = f"`{kernel.source(call)}` (line {call.lineno})"
        if not condition:
            return f"{at} cannot tell the two zeros apart: they compare equal."
        name = ast.unparse(x)
        answer = "true" if ">=" in condition else "false"
        if ">=" in condition or ("<=" not in condition and "<" in condition):
            asked = condition.replace(name, "-0.0", 1)
            return (
                f"{at} asks {asked}, which is {answer}, so it passes {name} through as it is, sign "
                "bit and all."
            )
    return ""


def signed_zero_lost(subject: Subject) -> str:
    what = subject.call("sum", "dot", "flip")
    if not what:
        return ""
    return (
        f"{what} adds what it should only move: +0.0 + -0.0 is +0.0, so the sign of a zero is lost."
    )


def nan_contamination(subject: Subject) -> str:
    what = subject.call("sum", "dot", "flip")
    excerpt = subject.finding.excerpt
    wrong = f" Here that makes {_number(excerpt.wrong, 'element')} wrong." if excerpt else ""
    if not what:
        return ""
    return (
        f"{what} moves elements by multiplying them with 0 and 1 and adding. 0 * NaN and 0 * Inf "
        f"are NaN, so one of them in the sum is enough.{wrong}"
    )


def sign_kept(subject: Subject) -> str:
    kernel = subject.kernel
    for node in ast.walk(kernel.function):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
            return (
                f"`if {kernel.source(node.test)}` (line {node.lineno}) asks the whole tile one "
                "question, not every element. The interpreter takes the branch whatever the values "
                "are; a compiler refuses it."
            )
    return ""


def nan_lost(subject: Subject) -> str:
    taken = subject.parameters.get("NaN taken as")
    what = subject.call("where", "maximum", "max", "minimum", "min")
    if not what:
        return ""
    text = f"{what} compares, and every comparison with NaN is false"
    return f"{text}: a NaN comes out as {taken} would." if taken else f"{text}."


def int_abs_overflow(subject: Subject) -> str:
    excerpt = subject.finding.excerpt
    kind = subject.parameters.get("minimum")
    name = excerpt.in_dtype if excerpt is not None else subject.finding.dtype
    bits = int(name.removeprefix("int")) if re.fullmatch(r"int\d+", name) else 0
    if not bits or excerpt is None:
        return ""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    if kind == "narrowed" or (kind == "unchanged" and _widens_before_abs(subject)):
        return (
            f"abs({low}) is {-low}. The kernel computes it in a wider type and stores it into "
            f"{excerpt.out_dtype}, which ends at {high}: the upper bits are cut, and {low} is left."
        )
    what = subject.call("abs", "maximum", "where") or "abs"
    text = (
        f"{what} is computed in {name}. {low} has no counterpart there: {name} ends at {high}, one "
        f"short of {-low}. "
    )
    if kind == "saturated":
        return text + f"It comes out as {high}."
    if excerpt.out_dtype != name:
        return text + f"It stays {low}, and is converted to {excerpt.out_dtype} only afterwards."
    return text + f"Negated, its bits are the same again: {low}."


def _widens_before_abs(subject: Subject) -> bool:
    kernel = subject.kernel
    calls = kernel.calls("abs")
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "to"
        for call in calls
        for argument_ in call.args
        for part in ast.walk(kernel.resolved(argument_))
    )


def int_overflow(subject: Subject) -> str:
    width = subject.parameters.get("arithmetic in") or subject.parameters.get("difference in")
    cell = subject.first_wrong()
    seen = (
        f" Here the result is {cell.got} in place of {cell.expected.partition(' (')[0]}."
        if cell is not None
        else ""
    )
    if "cut" in subject.parameters:
        out = subject.finding.excerpt.out_dtype if subject.finding.excerpt else "the output"
        return (
            f"The arithmetic is right, but {out} cannot hold its result, and the store cuts it."
            f"{seen}"
        )
    if width is None:
        return ""
    if "difference in" in subject.parameters:
        return (
            f"The difference is taken in {width}, where it wraps, and is widened only then.{seen}"
        )
    what = subject.call("abs", "sum", "cumsum")
    where = f" before {what} sees it" if what.startswith("`tl.abs") else ""
    return f"The arithmetic is done in {width}, and its result wraps{where}.{seen}"


def unsigned_as_signed(subject: Subject) -> str:
    cell, dtype = subject.first_wrong(), subject.finding.dtype
    bits = int(dtype.removeprefix("uint")) if re.fullmatch(r"uint\d+", dtype) else 0
    if not bits:
        return ""
    text = (
        f"Every {dtype} from {1 << (bits - 1)} on has its highest bit set. The kernel reads the "
        f"same bits as int{bits}, where that is the sign"
    )
    return f"{text}: {cell.input} comes out as {cell.got}." if cell is not None else f"{text}."


_EXACT = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def precision_loss(subject: Subject) -> str:
    narrow = subject.parameters.get("through") or subject.parameters.get("abs in")
    if narrow is None:
        return ""
    what = ""
    for call in subject.kernel.calls("to"):
        if narrow in ast.unparse(call):
            what = f" (line {call.lineno})"
            break
    text = f"The values pass through {narrow}{what}"
    if subject.finding.dtype in INTS and narrow in _EXACT:
        text += f", which holds every integer up to 2**{_EXACT[narrow]} and not all beyond"
    cell = subject.first_wrong()
    return f"{text}: {cell.expected} comes out as {cell.got}." if cell is not None else f"{text}."


# --------------------------------------------------------------------------- memory


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


def value_mismatch(subject: Subject) -> str:
    del subject
    return (
        "Every other fault was asked to predict these values, and none of the predictions held, "
        "here or on further examples. Those that fitted some of them are listed below."
    )


def nothing(subject: Subject) -> str:
    """No more is known than the summary and the evidence say."""
    del subject
    return ""


REASONS: dict[str, Callable[[Subject], str]] = {
    "crash": nothing,
    "timeout": nothing,
    "api-rejects": api_rejects,
    "wrong-shape": nothing,
    "wrong-dtype": wrong_dtype,
    "nondeterministic": nothing,
    "out-of-bounds-write": out_of_bounds_write,
    "out-of-bounds-read": out_of_bounds_read,
    "unwritten-output": unwritten_output,
    "input-mutated": input_mutated,
    "not-reversed": not_reversed,
    "wrong-axis": wrong_axis,
    "stride-ignored": stride_ignored,
    "block-local-flip": block_local_flip,
    "tile-order-only": tile_order_only,
    "padding-leak": padding_leak,
    "alias-race": alias_race,
    "off-by-one": off_by_one,
    "signed-zero-kept": signed_zero_kept,
    "signed-zero-lost": signed_zero_lost,
    "nan-contamination": nan_contamination,
    "nan-lost": nan_lost,
    "int-abs-overflow": int_abs_overflow,
    "unsigned-as-signed": unsigned_as_signed,
    "sign-kept": sign_kept,
    "int-overflow": int_overflow,
    "precision-loss": precision_loss,
    "backend-divergence": nothing,
    "value-mismatch": value_mismatch,
}
