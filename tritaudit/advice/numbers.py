"""Why values are wrong: absolute values, zeros, NaN, integers and types that are too narrow."""

from __future__ import annotations

import ast
import re

from tritaudit.advice.memory import returned_input
from tritaudit.advice.subject import Subject, number_of
from tritaudit.advice.values import handwritten_abs
from tritaudit.model import INTS


def signed_zero_kept(subject: Subject) -> str:
    kernel = subject.kernel
    for call, x, condition in handwritten_abs(kernel):
        at = f"`{kernel.source(call)}` (line {call.lineno})"
        if not condition:
            return f"{at} cannot tell the two zeros apart: they compare equal."
        name = ast.unparse(x)
        answer = "true" if "=" in condition else "false"
        if ">=" in condition or ("<=" not in condition and "<" in condition):
            asked = condition.replace(name, "-0.0", 1)
            return (
                f"{at} asks {asked}, which is {answer}, so it passes {name} through as it is, sign "
                "bit and all."
            )
        asked = condition.replace(name, "+0.0", 1)
        return f"{at} asks {asked}, which is {answer}, so it negates +0.0."
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
    wrong = f" Here that makes {number_of(excerpt.wrong, 'element')} wrong." if excerpt else ""
    if not what:
        return ""
    return (
        f"{what} moves elements by multiplying them with 0 and 1 and adding. 0 * NaN and 0 * Inf "
        f"are NaN, so one of them in the sum is enough.{wrong}"
    )


#: what becomes of the values, by the parameter of the proof.
_SIGNS = {
    "unchanged": "keeps its sign",
    "negative": "comes out negative",
    "negated": "comes out negated",
}


def sign_kept(subject: Subject) -> str:
    kernel = subject.kernel
    for node in ast.walk(kernel.function):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare):
            return (
                f"`if {kernel.source(node.test)}` (line {node.lineno}) asks the whole tile one "
                "question, not every element. The interpreter takes the branch whatever the values "
                "are; a compiler refuses it."
            )
    if returned_input(subject):
        return returned_input(subject)
    way = _SIGNS.get(subject.parameters.get("values", ""))
    if way is None or not kernel.stores:
        return ""
    what = "Every value" if subject.contract.startswith("Abs") else "What abs should be taken of"
    text = f"{what} {way}."
    if not kernel.calls("abs"):
        return f"{text} Nothing in `{kernel.name}` takes an absolute value (no `tl.abs`)."
    return f"{text} {subject.call('abs')} is not what the store in the end writes."


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
    through = subject.parameters.get("abs in")
    widened = kind == "unchanged" and _widens_before_abs(subject)
    if kind == "narrowed" or widened or (through is not None and through != name):
        return (
            f"abs({low}) is {-low}. The kernel computes it in {_wide(through)} and stores it into "
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


def _wide(through: str | None) -> str:
    return "a wider type" if through is None else through


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
