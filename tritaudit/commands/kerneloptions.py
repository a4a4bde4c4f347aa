"""The options of the commands that look at compiled kernels."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["JsonOption", "NumWarpsOption", "SizeOption", "TileOption"]

JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json", metavar="PATH", help="Write all of it as JSON; - alone.", show_default=False
    ),
]
NumWarpsOption = Annotated[
    str | None,
    typer.Option(
        "--num-warps", metavar="N,N", help="In place of the kernel's own.", show_default=False
    ),
]
TileOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tile",
        metavar="NAME=N",
        help="Any power of two, declared or not; may be repeated.",
        show_default=False,
    ),
]
SizeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--size", metavar="AXIS=N", help="Elements of an axis; may be repeated.", show_default=False
    ),
]
