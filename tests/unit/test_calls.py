"""Functions that are audited by name: what is made of them, and what is refused, and how."""

from __future__ import annotations

import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import sys
from pathlib import Path

import pytest
import torch

from tritaudit.calls import case_of, chosen_axes, describe_calls
from tritaudit.contracts import Abs, Flip, Reference, form_of
from tritaudit.dtypes import dtype_of
from tritaudit.examine import Counter, examine, expected_of
from tritaudit.faults import wrong_dtype, wrong_shape
from tritaudit.generate import is_elementwise
from tritaudit.model import CallSpec, Case, Example, UnitRequest

OPS = '''
"""Operations."""
import functools
import torch
import triton

def double(x):
    """Twice the input.

    More text.
    """
    return x + x

def scaled(x, factor, *, bias=0):
    return x * factor + bias

def filled(x, out):
    out.copy_(x)

def positional(x, n, /):
    return x

def nothing():
    return None

def anything(*tensors, **more):
    return tensors[0]

class Layer:
    def forward(self, x):
        return x

@triton.jit
def kernel(x_ptr):
    pass

@functools.wraps(double)
def wrapped(*args):
    return double(*args)

def turned(x):
    return x.movedim(0, -1)

def largest(x):
    return x.abs().amax(1)

def total(x):
    return x.sum().item()

def with_its_flip(x):
    return torch.cat((x.flip(0), x))

def single(x):
    return (x * x).float()

def short(x):
    if x.shape[0] > 16:
        raise RuntimeError("at most 16 elements\\nand more text")
    return x

def pair(x):
    return x, x.argmax(0)

partial = functools.partial(scaled, factor=3)
number = 3
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the package `calledpkg`."""
    package = tmp_path / "calledpkg"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "ops.py").write_text(OPS.lstrip())
    (package / "relative.py").write_text("from .ops import double\n")
    (package / "broken.py").write_text("import torch\n\n1 / 0\n")
    (package / "syntax.py").write_text("def f(:\n")
    (package / "needy.py").write_text("import no_such_module_at_all\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [n for n in sys.modules if n.partition(".")[0] == "calledpkg"]:
        del sys.modules[name]


def made(target: str, **promise: object) -> Case:
    call = CallSpec(target, **promise)  # type: ignore[arg-type]
    return case_of(UnitRequest("name", "", "", "", "interpreter", call=call))


def refusal(target: str, **promise: object) -> str:
    listing = describe_calls([CallSpec(target, **promise)])  # type: ignore[arg-type]
    assert listing.cases == ()
    [problem] = listing.problems
    return str(problem)


# --------------------------------------------------------------------------- what is made


def test_a_function_becomes_a_case() -> None:
    case = made("calledpkg.ops:double", flip=(-1, 0), ndim=3)
    assert case.contract == Flip("dim2", "dim0")
    [x] = case.inputs
    assert (x.name, x.axes) == ("x", ("dim0", "dim1", "dim2"))
    assert torch.equal(case.run(torch.ones(1, 1, 2)), torch.full((1, 1, 2), 2.0))
    assert not case.takes_out


@pytest.mark.parametrize(
    ("promise", "axes"),
    [
        ({"flip": (1,)}, 2),
        ({"flip": (-2,)}, 2),
        ({"absolute": "exact"}, 1),
        ({"reference": "torch.neg"}, 1),
        ({"reference": "torch.fliplr"}, 2),
        ({"reference": "torch.nn.functional.max_pool2d", "arguments": ()}, 0),
    ],
)
def test_the_fewest_axes_that_the_promise_makes_sense_for(
    promise: dict[str, object], axes: int
) -> None:
    if not axes:
        assert "takes no tensor of this kind" in refusal("calledpkg.ops:double", **promise)
        return
    assert len(made("calledpkg.ops:double", **promise).inputs[0].axes) == axes


def test_a_promise_is_a_contract() -> None:
    assert made("calledpkg.ops:double", absolute="wrap").contract == Abs("wrap")
    case = made("calledpkg.ops:double", reference="torch.neg", rtol=0.5, atol=0.25)
    assert case.contract == Reference(torch.neg, rtol=0.5, atol=0.25, as_returned=True)
    case = made("calledpkg.ops:double", reference="torch.Tensor.neg", exact=True)
    assert case.contract == Reference(torch.Tensor.neg, "exact", as_returned=True)
    case = made("calledpkg.ops:double", reference="calledpkg.ops:wrapped", ulp=2)
    assert case.contract.describe() == "Reference(double, tolerance=2)"


def test_the_dtypes_that_nobody_named_are_those_that_make_sense() -> None:
    assert "int8" in made("calledpkg.ops:double", absolute="exact").inputs[0].dtypes
    assert "int8" not in made("calledpkg.ops:double", flip=(0,)).inputs[0].dtypes
    silu = made("calledpkg.ops:double", reference="torch.nn.functional.silu")
    assert silu.inputs[0].dtypes == ("float32", "float16")


def formed(case: Case, dtype: str, *sizes: int) -> tuple[tuple[int, ...], str]:
    """The shape and the dtype that are expected of the output, and that the oracle has."""
    [x] = case.inputs
    pairs = tuple(zip(x.axes, sizes, strict=True))
    example = Example(pairs, dtypes=((x.name, dtype),))
    inputs = {x.name: torch.ones(sizes).to(dtype_of(dtype).torch)}
    form = form_of(case, example, inputs)
    expected = expected_of(case, example, inputs)
    assert form == (tuple(expected.value.shape), str(expected.value.dtype)[6:])
    return form


@pytest.mark.parametrize(
    ("reference", "dtype", "sizes", "shape", "out_dtype"),
    [
        ("torch.t", "float16", (1, 2), (2, 1), "float16"),
        ("torch.diff", "int32", (5,), (4,), "int32"),
        ("torch.flatten", "float32", (2, 3), (6,), "float32"),
        ("torch.ravel", "int8", (4,), (4,), "int8"),
        ("torch.sum", "int32", (4,), (), "int64"),
        ("torch.signbit", "float16", (3,), (3,), "bool"),
        ("torch.argmax", "float32", (2, 3), (), "int64"),
        ("torch.sqrt", "int32", (3,), (3,), "float32"),
        ("torch.neg", "float64", (3,), (3,), "float64"),
        # Refused as they are: the kind of what comes of float64, else the dtype of the input.
        ("torch.signbit", "float8_e4m3fn", (3,), (3,), "bool"),
        ("torch.neg", "float8_e4m3fn", (3,), (3,), "float8_e4m3fn"),
        ("calledpkg.ops:with_its_flip", "float32", (3,), (6,), "float32"),
        ("calledpkg.ops:turned", "float32", (2, 3, 4), (3, 4, 2), "float32"),
        ("calledpkg.ops:largest", "float16", (2, 3), (2,), "float16"),
        ("calledpkg.ops:total", "float16", (2, 3), (), "float16"),
        ("calledpkg.ops:single", "float16", (3,), (3,), "float32"),
    ],
)
def test_a_reference_says_which_shape_and_dtype_the_output_has(
    reference: str, dtype: str, sizes: tuple[int, ...], shape: tuple[int, ...], out_dtype: str
) -> None:
    promise = {"reference": reference, "ndim": len(sizes), "dtypes": (dtype,)}
    assert formed(made("calledpkg.ops:double", **promise), dtype, *sizes) == (shape, out_dtype)


@pytest.mark.parametrize(
    ("reference", "ndim", "axes"),
    [
        ("torch.t", 2, ("dim1", "dim0")),
        ("torch.neg", 2, ("dim0", "dim1")),
        ("torch.sum", 2, ()),
        ("calledpkg.ops:turned", 3, ("dim1", "dim2", "dim0")),
        ("calledpkg.ops:largest", 2, ("dim0",)),
        ("torch.flatten", 2, None),
        ("torch.diff", 1, None),
    ],
)
def test_axes_that_a_reference_keeps_have_their_names_in_the_output(
    reference: str, ndim: int, axes: tuple[str, ...] | None
) -> None:
    case = made("calledpkg.ops:double", reference=reference, ndim=ndim)
    assert case.out_shape == axes
    assert is_elementwise(case) == (reference == "torch.neg")


def test_the_judged_entry_of_a_tuple_has_its_own_dtype() -> None:
    case = made("calledpkg.ops:pair", reference="calledpkg.ops:pair", ndim=2, output=1)
    assert formed(case, "float32", 3, 4) == ((4,), "int64")


def test_an_output_of_another_shape_or_dtype_than_the_references_is_told_so() -> None:
    def found(target: str, reference: str, sizes: tuple[int, ...]) -> tuple[str, ...]:
        case = made(target, reference=reference, ndim=len(sizes), dtypes=("float32",))
        [x] = case.inputs
        example = Example(tuple(zip(x.axes, sizes, strict=True)), dtypes=((x.name, "float32"),))
        trial = examine(case, example, Counter())
        told = [fault.direct(trial) for fault in (wrong_shape.FAULT, wrong_dtype.FAULT)]
        return tuple(sentence for one in told if one is not None for sentence in one.evidence)

    assert found("calledpkg.ops:double", "torch.t", (1, 2)) == (
        "the output has the shape (1, 2), not (2, 1)",
    )
    assert found("calledpkg.ops:double", "torch.sum", (2,)) == (
        "the output has the shape (2,), not ()",
    )
    assert found("calledpkg.ops:double", "torch.signbit", (3,)) == (
        "the output is float32, not bool",
    )
    assert found("calledpkg.ops:turned", "torch.t", (1, 2)) == ()
    assert found("calledpkg.ops:total", "torch.sum", (2,)) == ()


@pytest.mark.parametrize(
    ("promise", "sentence"),
    [
        (
            {"reference": "torch.abs", "dtypes": ("float32", "bool")},
            "Reference(torch.abs) refuses bool of shape (1,) (NotImplementedError: ",
        ),
        (
            {"reference": "torch.abs", "dtypes": ("bool",)},
            "--reference torch.abs takes no tensor of this kind (bool: NotImplementedError: ",
        ),
        (
            {"reference": "calledpkg.ops:short", "dtypes": ("int32",)},
            "Reference(short) refuses int32 of shape (17,) (RuntimeError: at most 16 elements)",
        ),
        (
            {"reference": "calledpkg.ops:pair", "ndim": 1},
            "Reference(pair) returned tuple, not a tensor",
        ),
        ({"reference": "torch.fft.fft", "ndim": 1}, "a tensor of complex128, which has no bits"),
    ],
)
def test_a_reference_that_refuses_what_it_will_be_given_is_one_sentence(
    promise: dict[str, object], sentence: str
) -> None:
    told = refusal("calledpkg.ops:double", **promise)
    assert sentence in told
    assert "\n" not in told


def test_a_reference_is_asked_only_for_sizes_that_are_allowed() -> None:
    promise = {"reference": "calledpkg.ops:short", "sizes": ((2, 16),)}
    assert made("calledpkg.ops:double", **promise).axes == (("dim0", 2, 16),)


def test_sizes_and_layouts() -> None:
    case = made("calledpkg.ops:double", flip=(0,), ndim=2, sizes=((2, None),), layouts=("offset",))
    assert case.axes == (("dim0", 2, None), ("dim1", 2, None))
    assert case.inputs[0].layouts == ("offset",)
    case = made("calledpkg.ops:double", flip=(0,), ndim=2, sizes=((0, 3), (4, 4)))
    assert case.axes == (("dim0", 0, 3), ("dim1", 4, 4))


def test_further_arguments_are_literals_torch_names_or_texts() -> None:
    case = made("calledpkg.ops:scaled", flip=(0,), arguments=(("factor", "2"), ("bias", "0.5")))
    assert case.run(torch.ones(1)).item() == 2.5
    assert made("calledpkg.ops:partial", flip=(0,)).run(torch.ones(1)).item() == 3
    more = (("kind", "torch.float16"), ("word", "a b"))
    assert made("calledpkg.ops:anything", flip=(0,), arguments=more).inputs[0].name == "x"


def test_a_function_that_needs_out_gets_it() -> None:
    assert made("calledpkg.ops:filled", flip=(0,)).takes_out


def test_a_function_is_described_with_its_place_and_what_to_type_again(folder: Path) -> None:
    call = CallSpec("calledpkg/ops.py:double", flip=(0, 1), dtypes=("float32",), sizes=((1, 9),))
    [info] = describe_calls([call]).cases
    assert (info.name, info.target) == ("calledpkg/ops:double", "calledpkg/ops.py:double")
    assert (info.path, info.line) == (str(folder / "calledpkg" / "ops.py"), 6)
    assert (info.title, info.contract) == ("Twice the input.", 'Flip("dim0", "dim1")')
    assert info.options == ("--flip", "0,1", "--dtype", "float32", "--sizes", "1..9")
    assert info.call == call


def test_a_file_in_a_package_is_imported_by_its_dotted_name() -> None:
    assert made("calledpkg/relative.py:double", flip=(0,)).run.__name__ == "double"


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("calledpgk.ops:double", "no module is named 'calledpgk'; nearest: calledpkg"),
        ("calledpkg.osp:double", "no module is named 'osp' in calledpkg; nearest: ops"),
        ("calledpkg.ops:duoble", "calledpkg.ops has no function 'duoble'; nearest: double"),
        ("calledpkg.ops:Layer.backward", "has no function 'backward'"),
        ("calledpkg.ops:Layer", "is a class: name a function that takes a tensor"),
        ("calledpkg.ops:Layer.forward", "this is a method"),
        ("calledpkg.ops:kernel", "is a Triton kernel: name the function that launches it"),
        ("calledpkg.ops:number", "is a value of type int, not a function"),
        ("calledpkg.ops:nothing", "takes no argument by position"),
        ("calledpkg.ops:scaled", "needs 'factor', without a default: give --arg factor=VALUE"),
        ("calledpkg.ops:positional", "needs more than a tensor by position"),
        ("calledpkg.broken:f", "calledpkg/broken.py:3: ZeroDivisionError: division by zero"),
        ("calledpkg.syntax:f", "calledpkg/syntax.py:1: invalid syntax"),
        ("calledpkg.needy:f", "needs the module 'no_such_module_at_all', which is not installed"),
        ("calledpkg/none.py:f", "no such file: calledpkg/none.py"),
        ("calledpkg/broken.py:f", "calledpkg/broken.py:3: ZeroDivisionError"),
    ],
)
def test_what_cannot_be_audited_is_one_sentence(target: str, sentence: str) -> None:
    told = refusal(target, flip=(0,))
    assert sentence in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("promise", "sentence"),
    [
        ({"flip": (3,), "ndim": 2}, "--flip 3 names no axis of a tensor of 2"),
        ({"flip": (1, -1)}, "--flip 1,-1 names an axis twice"),
        ({"flip": (0,), "ndim": 2, "sizes": ((1, 1),) * 3}, "--sizes names 3 axes"),
        ({"flip": (0,), "arguments": (("factro", "1"),)}, "has no parameter 'factro'"),
        ({"flip": (0,), "arguments": (("x", "1"),)}, "x is the tensor itself"),
        ({"reference": "torch.flplr"}, "--reference: torch has no function 'flplr'; nearest: flip"),
        ({"reference": "neg"}, "'neg' is not of the form module.function"),
        ({"reference": "torch.float32"}, "is dtype, not a function"),
        ({"reference": "trch.neg"}, "no module is named 'trch'"),
    ],
)
def test_a_promise_that_does_not_fit_is_one_sentence(
    promise: dict[str, object], sentence: str
) -> None:
    assert sentence in refusal("calledpkg.ops:double", **promise)


@pytest.mark.parametrize(
    ("promise", "refused", "wrong", "told"),
    [
        ({"flip": (7,)}, True, True, "the function refuses every tensor of 8 axes, the fewest"),
        ({"flip": (7,)}, False, True, "the tensors had 8 axes, the fewest for which --flip 7"),
        ({"absolute": "exact"}, True, True, "tensor of 1 axis, the fewest for which --abs makes"),
        ({"flip": (7,)}, False, False, ""),
        ({"flip": (1,)}, False, True, ""),
        ({"flip": (7,), "ndim": 8}, True, True, ""),
    ],
)
def test_it_is_told_how_many_axes_were_chosen_where_that_may_be_to_blame(
    promise: dict[str, object], refused: bool, wrong: bool, told: str
) -> None:
    call = CallSpec("calledpkg.ops:double", **promise)  # type: ignore[arg-type]
    case = made("calledpkg.ops:double", **promise)
    found = chosen_axes(call, case, refused=refused, wrong=wrong)
    assert told in found and bool(told) == bool(found)
    assert not found or found.endswith(" makes sense; --ndim sets another number")
