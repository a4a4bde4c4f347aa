"""Where a fault does not show: stated only as far as the examples that were run bear it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from tritaudit.contracts import Abs, Flip, Reference
from tritaudit.model import Case, Edit, Example, Fill, FillKind, Scalar, Tensor, Tile
from tritaudit.unnoticed import EXAMPLES, VALUES, ordinary, unnoticed


def _run(*inputs: object, out: object, **options: object) -> None:
    """Never called."""


VECTOR = Case(
    run=_run,
    contract=Flip("N"),
    inputs=[Tensor("x", "N", dtypes=("float32", "int8"), layouts=("contiguous", "strided"))],
    tiles=[Tile("BLOCK", "N", (4, 16))],
)


def example(n: int, block: int = 4, dtype: str = "float32", **more: object) -> Example:
    plain = Example(
        sizes=(("N", n),),
        tiles=(("BLOCK", block),),
        dtypes=(("x", dtype),),
        layouts=(("x", "contiguous"),),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def record(
    fault: str, shows: Callable[[Example], bool], examples: Iterable[Example]
) -> dict[Example, tuple[str, ...]]:
    return {e: (fault,) if shows(e) else () for e in examples}


SIZES = [
    example(n, b) for b in (4, 16) for n in (1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 32, 33)
]


# --------------------------------------------------------------------------- sizes


@pytest.mark.parametrize(
    ("shows", "words"),
    [
        (lambda e: e.size("N") % e.tile("BLOCK"), "N is a multiple of BLOCK (7 examples tried)"),
        (lambda e: e.size("N") > e.tile("BLOCK"), "N is at most BLOCK (16 examples tried)"),
        (
            lambda e: e.size("N") & (e.size("N") - 1),
            "N is a power of two (12 examples tried)",
        ),
        (
            lambda e: e.size("N") & (e.size("N") - 1) or e.size("N") == 1,
            "N is a power of two above 1 (10 examples tried)",
        ),
        (lambda e: e.size("N") % 2, "N is even (12 examples tried)"),
    ],
    ids=["multiple", "at most", "power", "power above 1", "even"],
)
def test_the_sizes_for_which_a_kernel_is_right(
    shows: Callable[[Example], bool], words: str
) -> None:
    found = unnoticed("padding-leak", record("padding-leak", shows, SIZES), VECTOR)
    assert f"The kernel is right where {words}" in found


def test_another_fault_there_is_not_called_right() -> None:
    def faults(e: Example) -> tuple[str, ...]:
        if e.size("N") % e.tile("BLOCK"):
            return ("padding-leak",)
        return ("block-local-flip",) if e.size("N") > e.tile("BLOCK") else ()

    found = unnoticed(
        "padding-leak", {e: faults(e) for e in SIZES}, VECTOR, named=["block-local-flip"]
    )
    assert "This fault does not show where N is a multiple of BLOCK (7 examples tried)" in found


def test_one_example_that_speaks_against_it_is_enough() -> None:
    told = record("off-by-one", lambda e: e.size("N") % e.tile("BLOCK") != 0, SIZES)
    told[example(32, 16)] = ("off-by-one",)
    assert not any("multiple of BLOCK" in s for s in unnoticed("off-by-one", told, VECTOR))


def test_an_example_with_a_name_that_did_not_hold_speaks_against_it() -> None:
    told = record("off-by-one", lambda e: e.size("N") % e.tile("BLOCK") != 0, SIZES)
    told[example(32, 16)] = ("alias-race",)
    assert not any("multiple of BLOCK" in s for s in unnoticed("off-by-one", told, VECTOR))
    named = unnoticed("off-by-one", told, VECTOR, named=["alias-race"])
    assert any("multiple of BLOCK" in s for s in named)


def test_too_few_examples_say_nothing() -> None:
    few = [example(n) for n in (4, 8, 5, 6, 7)]
    told = record("padding-leak", lambda e: e.size("N") % 4 != 0, few)
    assert unnoticed("padding-leak", told, VECTOR) == ()
    alike = [replace(example(4), fill=Fill(k)) for k in FillKind] + [example(5)]
    told = record("padding-leak", lambda e: e.size("N") % 4 != 0, alike)
    assert not any("N is" in s for s in unnoticed("padding-leak", told, VECTOR))


def test_two_conditions_where_one_is_not_enough() -> None:
    case = Case(
        run=_run,
        contract=Flip("W"),
        inputs=Tensor("x", "H W"),
        tiles=[Tile("BH", "H", 2), Tile("BW", "W", 4)],
    )
    examples = [
        Example((("H", h), ("W", w)), (("BH", 2), ("BW", 4)), (), (("x", "float32"),))
        for h in range(1, 7)
        for w in range(1, 13)
    ]
    told = record("padding-leak", lambda e: e.size("H") % 2 or e.size("W") % 4, examples)
    found = unnoticed("padding-leak", told, case)
    words = "H is a multiple of BH and W is a multiple of BW (9 examples tried)"
    assert found[0] == f"The kernel is right where {words}"


def test_layouts_and_scalars_are_conditions_too() -> None:
    both = [*SIZES, *(replace(e, layouts=(("x", "strided"),)) for e in SIZES)]
    told = record("stride-ignored", lambda e: e.layouts[0][1] != "contiguous", both)
    found = unnoticed("stride-ignored", told, VECTOR)
    assert "The kernel is right where x is contiguous (30 examples tried)" in found
    case = Case(
        run=_run,
        contract=Reference(lambda x, d: x),
        inputs=Tensor("x", "N"),
        scalars=Scalar("d", values=(1.0, 2.0)),
    )
    examples = [
        Example((("N", n),), (), (("d", d),), (("x", "float32"),))
        for n in (3, 5, 6)
        for d in (1.0, 2.0)
    ]
    told = record("value-mismatch", lambda e: dict(e.scalars)["d"] != 1.0, examples)
    found = unnoticed("value-mismatch", told, case)
    assert "The kernel is right where d is 1.0 (3 examples tried)" in found


# --------------------------------------------------------------------------- values

ABS = Case(
    run=_run,
    contract=Abs(),
    inputs=[Tensor("x", "N", dtypes=("float32", "int8", "uint8", "int32"))],
    tiles=[Tile("BLOCK", "N", (4, 16))],
)
EDITS = {
    "int-abs-overflow": ("int8", 0x80, "no element is the minimum of its dtype"),
    "int-overflow": ("int8", 0x80, "no element is the minimum of its dtype"),
    "nan-contamination": ("float32", 0x7F800000, "no element is NaN or Inf"),
    "nan-lost": ("float32", 0x7FC00000, "no element is NaN"),
    "sign-kept": ("float32", 0xBF800000, "no element is negative"),
    "signed-zero-kept": ("float32", 0x80000000, "no element is -0.0"),
    "signed-zero-lost": ("float32", 0x80000000, "no element is -0.0"),
    "unsigned-as-signed": ("uint8", 200, "no element is beyond half of its dtype's range"),
    "precision-loss": ("int32", 1 << 25, "no element is beyond 2**24"),
}


@pytest.mark.parametrize("fault", sorted(VALUES))
def test_the_values_without_which_a_fault_does_not_show(fault: str) -> None:
    dtype, bits, words = EDITS[fault]
    plain = [example(n, dtype=dtype) for n in (3, 4, 5, 9)]
    edited = [replace(e, edits=(Edit("x", 0, bits),)) for e in plain]
    told = record(fault, lambda e: bool(e.edits), [*plain, *edited])
    found = unnoticed(fault, told, ABS)
    assert f"The kernel is right where {words} (4 examples tried)" in found


def test_a_fault_of_values_is_never_laid_to_sizes() -> None:
    """By chance no minimum was tried at a multiple of the tile: that says nothing."""
    plain = [example(n, dtype="int8") for n in (4, 8, 12, 3, 5)]
    edited = [replace(example(n, dtype="int8"), edits=(Edit("x", 0, 0x80),)) for n in (3, 5)]
    told = record("int-abs-overflow", lambda e: bool(e.edits), [*plain, *edited])
    found = unnoticed("int-abs-overflow", told, ABS)
    assert not any("BLOCK" in s or "N is" in s for s in found)


@pytest.mark.parametrize(
    ("zeros", "words"),
    [((0,), "no element is +0.0"), ((0, 0x80000000), "no element is a zero")],
)
def test_the_zeros_without_which_no_zero_comes_out_negative(
    zeros: tuple[int, ...], words: str
) -> None:
    plain = [example(n) for n in (3, 4, 5, 9)]
    edited = [replace(e, edits=(Edit("x", 0, z),)) for e in plain for z in (0, 0x80000000)]
    told = record(
        "signed-zero-kept", lambda e: any(d.bits in zeros for d in e.edits), [*plain, *edited]
    )
    found = unnoticed("signed-zero-kept", told, ABS)
    assert [s for s in found if words in s], found


def test_a_value_that_is_no_condition_after_all() -> None:
    told = {example(n): ("signed-zero-kept",) for n in (3, 4, 5)}
    assert not any("-0.0" in s for s in unnoticed("signed-zero-kept", told, ABS))


# --------------------------------------------------------------------------- dtypes, ordinary tests


def test_the_dtypes_in_which_a_fault_never_showed() -> None:
    both = [example(n, dtype=d) for n in (3, 4, 5, 8) for d in ("float32", "int8", "uint8")]
    told = record("wrong-dtype", lambda e: e.dtype() == "float32", both)
    assert "The kernel is right in int8 and uint8 (8 examples tried)" in unnoticed(
        "wrong-dtype", told, ABS
    )


def test_a_dtype_that_was_not_tried_where_it_matters_is_not_called_right() -> None:
    """Only float32 was tried strided: the other dtypes say nothing."""
    examples = [example(n, dtype=d) for n in (3, 4, 5, 8) for d in ("float32", "int8")]
    examples += [example(n, layouts=(("x", "strided"),)) for n in (3, 5)]
    told = record("stride-ignored", lambda e: e.layouts[0][1] == "strided", examples)
    assert not any("right in" in s for s in unnoticed("stride-ignored", told, VECTOR))


@pytest.mark.parametrize(
    ("given", "is_ordinary"),
    [
        (example(8), True),
        (example(8, fill=Fill(FillKind.NORMAL, 3)), True),
        (example(1), False),
        (example(7), False),
        (example(8, fill=Fill(FillKind.SPECIAL)), False),
        (example(8, edits=(Edit("x", 0, 1),)), False),
        (example(8, layouts=(("x", "strided"),)), False),
    ],
)
def test_what_an_ordinary_test_runs(given: Example, is_ordinary: bool) -> None:
    assert ordinary(given) is is_ordinary


def test_an_ordinary_test_that_does_not_notice() -> None:
    told = record("padding-leak", lambda e: e.size("N") & (e.size("N") - 1) != 0, SIZES)
    [words] = [s for s in unnoticed("padding-leak", told, VECTOR) if s.startswith("A test")]
    assert words.endswith("none of 10 such examples showed the fault")


def test_an_ordinary_test_that_notices_is_told_where() -> None:
    told = record("not-reversed", lambda e: e.size("N") > 1, SIZES)
    [words] = [
        s
        for s in unnoticed("not-reversed", told, VECTOR, assert_close_passes=False)
        if s.startswith("A test")
    ]
    assert words.endswith("notices as well, at N=2 BLOCK=16 for instance")
    silent = unnoticed("not-reversed", told, VECTOR, assert_close_passes=True)
    assert not any("notices as well" in s for s in silent)


@pytest.mark.parametrize("fault", ["out-of-bounds-write", "input-mutated", "nondeterministic"])
def test_what_an_ordinary_test_never_looks_at(fault: str) -> None:
    told = record(fault, lambda e: True, SIZES)
    assert unnoticed(fault, told, VECTOR)[-1].startswith("An ordinary test ")


def test_a_fault_that_never_showed_has_nothing_to_say() -> None:
    assert unnoticed("off-by-one", dict.fromkeys(SIZES, ()), VECTOR) == ()
    assert EXAMPLES >= 3
