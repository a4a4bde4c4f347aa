"""Frozen dataclasses to JSON-able plain data and back, strictly.

A dataclass becomes a dict of its fields, a tuple a list, an enum its value; numbers, texts,
booleans and None stay. Numbers that JSON has no sign for are the texts "nan", "inf" and "-inf".
Reading goes by the type hints of the dataclass: an unknown key, a missing one without a default, or
a value of another type raises ValueError with the path of the field (`$.findings[0].proof.probes`).
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

__all__ = ["Plain", "from_plain", "to_plain"]

#: what JSON can hold.
Plain = None | bool | int | float | str | Sequence["Plain"] | Mapping[str, "Plain"]

T = TypeVar("T")

_SIGNLESS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_plain(value: object) -> Plain:
    """Plain data for a value.

    Raises:
        ValueError: the value holds something that has no plain form (a tensor, a function, ...).
    """
    return _write(value, "$")


def from_plain(cls: type[T], data: object, path: str = "$") -> T:
    """The value of type `cls` that `data` describes.

    Args:
        cls: a dataclass, or any type that such a dataclass may have as a field.
        data: what `to_plain` gave, perhaps through JSON.
        path: how errors name the place of `data`.

    Raises:
        ValueError: `data` does not fit; the message begins with the path of the field.
    """
    return cast(T, _read(cls, data, path))


def _write(value: object, path: str) -> Plain:
    if isinstance(value, enum.Enum):
        return cast(Plain, value.value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # "nan", "inf" or "-inf"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_write(item, f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {str(key): _write(item, f"{path}.{key}") for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: _write(getattr(value, f.name), f"{path}.{f.name}")
            for f in dataclasses.fields(value)
        }
    raise ValueError(f"{path}: {type(value).__name__} has no plain form")


def _read(hint: Any, data: object, path: str) -> object:
    if hint is Any or hint is object:
        return data
    if hint is None or hint is type(None):
        return _expect(data is None, None, data, path, "null")
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _read_union(get_args(hint), data, path)
    if origin is tuple:
        return _read_tuple(get_args(hint), data, path)
    if origin is not None:
        raise TypeError(f"{path}: the type {hint} cannot be read from plain data")
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _read_dataclass(hint, data, path)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _read_enum(hint, data, path)
    return _read_scalar(hint, data, path)


def _expect(holds: bool, value: object, data: object, path: str, wanted: str) -> object:
    if not holds:
        raise ValueError(f"{path}: expected {wanted}, not {_short(data)}")
    return value


def _short(data: object) -> str:
    if isinstance(data, dict):
        return "an object"
    if isinstance(data, list):
        return "a list"
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."


def _read_scalar(hint: Any, data: object, path: str) -> object:
    if hint is bool:
        return _expect(isinstance(data, bool), data, data, path, "true or false")
    if hint is int:
        whole = isinstance(data, int) and not isinstance(data, bool)
        return _expect(whole, data, data, path, "a whole number")
    if hint is str:
        return _expect(isinstance(data, str), data, data, path, "a text")
    if hint is float:
        if isinstance(data, str) and data in _SIGNLESS:
            return _SIGNLESS[data]
        if isinstance(data, (int, float)) and not isinstance(data, bool):
            return float(data)
        raise ValueError(f"{path}: expected a number, not {_short(data)}")
    raise TypeError(f"{path}: the type {hint} cannot be read from plain data")


def _read_enum(hint: type[enum.Enum], data: object, path: str) -> enum.Enum:
    try:
        return hint(data)
    except ValueError:
        known = ", ".join(str(member.value) for member in hint)
        raise ValueError(f"{path}: {_short(data)} is none of {known}") from None


def _read_union(options: tuple[Any, ...], data: object, path: str) -> object:
    if data is None and type(None) in options:
        return None
    wanted = [option for option in options if option is not type(None)]
    # An int is a number too: where a field takes both, 1 stays an int and 1.0 a float.
    if int in wanted and float in wanted and isinstance(data, int) and not isinstance(data, bool):
        return data
    if len(wanted) == 1:
        return _read(wanted[0], data, path)
    for option in wanted:
        try:
            return _read(option, data, path)
        except ValueError:
            continue
    names = " or ".join(getattr(option, "__name__", str(option)) for option in wanted)
    raise ValueError(f"{path}: expected {names}, not {_short(data)}")


def _read_tuple(items: tuple[Any, ...], data: object, path: str) -> tuple[object, ...]:
    if not isinstance(data, (list, tuple)):
        raise ValueError(f"{path}: expected a list, not {_short(data)}")
    if len(items) == 2 and items[1] is Ellipsis:
        return tuple(_read(items[0], item, f"{path}[{i}]") for i, item in enumerate(data))
    if len(data) != len(items):
        raise ValueError(f"{path}: expected {len(items)} entries, not {len(data)}")
    return tuple(
        _read(hint, item, f"{path}[{i}]")
        for i, (hint, item) in enumerate(zip(items, data, strict=True))
    )


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _read_dataclass(cls: type, data: object, path: str) -> object:
    if not isinstance(data, dict):
        raise ValueError(f"{path}: expected an object ({cls.__name__}), not {_short(data)}")
    fields = {f.name: f for f in dataclasses.fields(cls)}
    for key in data:
        if key not in fields:
            raise ValueError(f"{path}.{key}: {cls.__name__} has no such field")
    hints = _hints(cls)
    values: dict[str, object] = {}
    for name, f in fields.items():
        if name in data:
            values[name] = _read(hints[name], data[name], f"{path}.{name}")
        elif f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise ValueError(f"{path}.{name}: missing")
    try:
        return cls(**values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
