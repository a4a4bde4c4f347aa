"""The options that say what a function without a case promises, shared by `run` and `explain`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import typer

from tritaudit.commands import Usage
from tritaudit.commands.grouped import grouped
from tritaudit.model import DTYPES, CallSpec, Layout
from tritaudit.targets import PROMISES, function_target, nearest

__all__ = ["FunctionOptions", "calls_of", "read_options", "spec_of"]


def _option(name: str, metavar: str, text: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, show_default=False)


@dataclass(frozen=True, slots=True)
class FunctionOptions:
    """The options as they were written. Every field is an option of the command."""

    flip: Annotated[
        str | None, _option("--flip", "AXES", "The function reverses these axes (0,1).")
    ] = None
    absolute: Annotated[bool, typer.Option("--abs", help="The function takes absolute values.")] = (
        False
    )
    abs_overflow: Annotated[
        str | None,
        _option("--abs-overflow", "MODE", "exact, wrap or saturate: abs of the smallest integer."),
    ] = None
    reference: Annotated[
        str | None, _option("--reference", "FUNCTION", "It agrees with this, such as torch.fliplr.")
    ] = None
    exact: Annotated[bool, typer.Option("--exact", help="... bit for bit.")] = False
    ulp: Annotated[
        float | None, _option("--ulp", "N", "... up to N units in the last place (4).")
    ] = None
    rtol: Annotated[float | None, _option("--rtol", "X", "... up to X times the value.")] = None
    atol: Annotated[float | None, _option("--atol", "X", "... up to X.")] = None
    dtype: Annotated[
        list[str] | None, _option("--dtype", "NAMES", "Only these dtypes (float16,int32).")
    ] = None
    ndim: Annotated[
        int | None,
        typer.Option(
            "--ndim", metavar="N", min=1, max=8, help="Axes of the tensor.", show_default=False
        ),
    ] = None
    sizes: Annotated[
        str | None, _option("--sizes", "LOW..HIGH", "Sizes of every axis, or of each (2,0..64).")
    ] = None
    layout: Annotated[
        list[str] | None, _option("--layout", "NAMES", "How it lies in memory (strided,offset).")
    ] = None
    arg: Annotated[
        list[str] | None, _option("--arg", "NAME=VALUE", "A further argument of the function.")
    ] = None
    output_index: Annotated[
        int | None,
        typer.Option(
            "--output-index",
            metavar="N",
            min=0,
            help="Judge this entry of a returned tuple.",
            show_default=False,
        ),
    ] = None
    in_place: Annotated[
        bool, typer.Option("--in-place", help="The function changes its input.")
    ] = False

    def dtypes(self) -> tuple[str, ...]:
        """What `--dtype` names; without a promise, the dtypes that cases are restricted to.

        Raises:
            Usage: there is no such dtype.
        """
        return _names("--dtype", "dtype", self.dtype, DTYPES)

    def given(self) -> tuple[str, ...]:
        """The names of the options that were given, in order."""
        names = {"absolute": "abs"}
        return tuple(
            f"--{names.get(f.name, f.name).replace('_', '-')}"
            for f in fields(self)
            if not any(getattr(self, f.name) is nothing for nothing in (None, False))
        )


def read_options(words: Sequence[str]) -> FunctionOptions:
    """The options of a stored failure, as `CallSpec.options` wrote them."""
    read: list[FunctionOptions] = []
    app = typer.Typer()

    @app.command()
    @grouped
    def only(function: FunctionOptions) -> None:
        read.append(function)

    typer.main.get_command(app).main(list(words), "tritaudit", standalone_mode=False)
    return read[0]


# --------------------------------------------------------------------------- what they mean


def calls_of(options: FunctionOptions, targets: Sequence[str]) -> tuple[CallSpec, ...]:
    """The functions that targets name and what they promise; none where no promise is given.

    Raises:
        Usage: the options contradict each other, or go with a function and there is none.
    """
    promises = [n for n in options.given() if n in ("--flip", "--abs", "--reference")]
    if not promises:
        others = [name for name in options.given() if name != "--dtype"]
        if others:
            raise Usage(f"{others[0]} goes with a function and its promise: {PROMISES}")
        return ()
    spec = spec_of(options)
    if not targets:
        raise Usage(
            f"{promises[0]} needs a function: mypkg.ops:reverse_rows or ops.py:reverse_rows"
        )
    for target in targets:
        if function_target(target) is None:
            raise Usage(
                f"{promises[0]} needs a function, as mypkg.ops:reverse_rows or "
                f"ops.py:reverse_rows, not {target!r}"
            )
    return tuple(replace(spec, target=target) for target in targets)


def spec_of(options: FunctionOptions) -> CallSpec:
    """What a function promises and takes, without its name; perhaps no promise.

    Raises:
        Usage: the options contradict each other.
    """
    promises = [n for n in options.given() if n in ("--flip", "--abs", "--reference")]
    if len(promises) > 1:
        raise Usage(f"{' and '.join(promises)}: a function has one promise")
    _check_companions(options)
    return _spec(options)


def _check_companions(options: FunctionOptions) -> None:
    given = options.given()
    for name, wants in (
        ("--abs-overflow", "--abs"),
        ("--exact", "--reference"),
        ("--ulp", "--reference"),
        ("--rtol", "--reference"),
        ("--atol", "--reference"),
    ):
        if name in given and wants not in given:
            raise Usage(f"{name} goes with {wants}")
    close = [n for n in given if n in ("--ulp", "--rtol", "--atol")]
    if "--exact" in given and close:
        raise Usage(f"--exact and {close[0]}: one or the other")


def _spec(options: FunctionOptions) -> CallSpec:
    overflow = options.abs_overflow or "exact"
    if overflow not in ("exact", "wrap", "saturate"):
        raise Usage(f"--abs-overflow {overflow!r} is none of exact, wrap, saturate")
    for name, value in (("ulp", options.ulp), ("rtol", options.rtol), ("atol", options.atol)):
        if value is not None and not 0 <= value < float("inf"):
            raise Usage(f"--{name} {value:g} is not a number from 0")
    return CallSpec(
        target="",
        flip=_axes(options.flip) if options.flip is not None else (),
        absolute=overflow if options.absolute else "",
        reference=options.reference or "",
        exact=options.exact,
        ulp=options.ulp,
        rtol=options.rtol,
        atol=options.atol,
        dtypes=options.dtypes(),
        ndim=options.ndim or 0,
        sizes=_sizes(options.sizes) if options.sizes is not None else (),
        layouts=_names("--layout", "layout", options.layout, [str(x) for x in Layout]),
        arguments=tuple(_argument(text) for text in options.arg or ()),
        output=options.output_index,
        in_place=options.in_place,
    )


def _axes(text: str) -> tuple[int, ...]:
    parts = text.replace(" ", "").split(",")
    if not all(re.fullmatch(r"-?[0-9]{1,2}", part) for part in parts):
        raise Usage(f"--flip {text!r} is not a list of axis numbers such as 0,1")
    return tuple(int(part) for part in parts)


def _names(
    option: str, what: str, texts: Sequence[str] | None, known: Sequence[str]
) -> tuple[str, ...]:
    """The names in the values of an option that may be repeated or hold commas."""
    parts = [p.strip().removeprefix("torch.") for text in texts or () for p in text.split(",")]
    for part in parts:
        if part not in known:
            near = nearest(part, known) or f"; known are {', '.join(known)}"
            raise Usage(f"{option}: no {what} is named {part!r}{near}")
    return tuple(dict.fromkeys(parts))


#: the largest size that an option takes; no launch of so many elements ends.
LARGEST = 999_999_999


def _sizes(text: str) -> tuple[tuple[int, int | None], ...]:
    out = []
    for part in text.replace(" ", "").split(","):
        match = re.fullmatch(r"([0-9]+)(?:(\.\.)([0-9]+)?)?", part)
        if match is None:
            raise Usage(f"--sizes {part!r} is neither a size nor LOW..HIGH")
        for size in (match[1], match[3] or ""):
            if len(size) > len(str(LARGEST)):
                raise Usage(f"--sizes {part!r} is too large: the largest size is {LARGEST}")
        low = int(match[1])
        high = int(match[3]) if match[3] else (None if match[2] else low)
        if high is not None and high < low:
            raise Usage(f"--sizes {part!r} ends before it begins")
        out.append((low, high))
    return tuple(out)


def _argument(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise Usage(f"--arg {text!r} is not NAME=VALUE")
    return name, value
