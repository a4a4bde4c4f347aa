"""Options declared as dataclasses: a command takes one value in place of a dozen parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["grouped"]

#: Typer passes everything by name, and so a required one may stand behind others.
_KIND = inspect.Parameter.KEYWORD_ONLY


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let every parameter of a command that is a dataclass stand for options, one for each field.

    A field is annotated as Typer wants its parameter to be, and its default is that of the option.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _options(groups[parameter.name])
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name], kind=_KIND))

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        values = {
            name: kind(**{f.name: given.pop(f.name) for f in fields(kind)})
            for name, kind in groups.items()
        }
        command(**values, **given)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            f.name,
            _KIND,
            default=inspect.Parameter.empty if f.default is MISSING else f.default,
            annotation=hints[f.name],
        )
        for f in fields(group)
    ]
