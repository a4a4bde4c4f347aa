"""Why and how to repair, in the words of a kernel; and silence where its shape is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tritaudit import advice
from tritaudit.advice.kernel import read_kernel
from tritaudit.advice.reasons import REASONS
from tritaudit.advice.repairs import REPAIRS
from tritaudit.faults import FAULT_IDS, SEVERITIES, info
from tritaudit.model import Cell, Example, Excerpt, Finding, IndexMap, Location, Proof
from tritaudit.targets import builtin_root

HEAD = """\
import torch
import triton
import triton.language as tl


@triton.jit
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Callable[[str], Path]:
    """Write a file of a kernel and what launches it; its first line stands on line 7."""

    def write(text: str) -> Path:
        path = tmp_path / "kernel.py"
        path.write_text(HEAD + text.lstrip("\n"), encoding="utf-8")
        return path

    return write


def finding(
    fault: str,
    path: Path | None = None,
    line: int = 8,
    *,
    sizes: dict[str, int] | None = None,
    tiles: dict[str, int] | None = None,
    parameters: dict[str, str] | None = None,
    dtype: str = "float32",
    out_dtype: str = "",
    layout: str = "contiguous",
    evidence: tuple[str, ...] = (),
    cell: Cell | None = None,
    leaked: str = "",
) -> Finding:
    axes = sizes or {"N": 5}
    shape = tuple(axes.values())
    cells = (cell,) if cell is not None else ()
    return Finding(
        case="mine",
        fault=fault,
        severity=SEVERITIES[fault],
        expected=False,
        backend="interpreter",
        dtype=dtype,
        example=Example(
            tuple(axes.items()),
            tuple((tiles or {}).items()),
            (),
            (("x", dtype),),
            (("x", layout),),
        ),
        repro="",
        summary="",
        proof=Proof(parameters=tuple((parameters or {}).items())),
        location=Location(str(path), line) if path is not None else None,
        excerpt=Excerpt(tuple(axes), shape, dtype, out_dtype or dtype, (), cells, 1, 5),
        index_map=IndexMap(tuple(axes), shape, (), (), (), leaked) if leaked else None,
        evidence=evidence,
    )


def changes(finding: Finding, contract: str = "") -> list[str]:
    """The changed lines, without numbers."""
    patch = advice.repair(finding, contract).patch
    assert patch is not None
    return [row[0] + row[7:] for row in patch.lines()]


# --------------------------------------------------------------------------- every fault


def test_every_fault_has_a_reason_and_a_repair() -> None:
    assert list(REASONS) == list(REPAIRS) == list(FAULT_IDS)


@pytest.mark.parametrize("fault", FAULT_IDS)
def test_without_a_source_the_documentation_speaks(fault: str, tmp_path: Path) -> None:
    for path in (None, tmp_path / "gone.py"):
        told = finding(fault, path)
        assert len(advice.why(told)) > 40
        assert len(advice.fix(told)) > 40
        assert advice.repair(told).patch is None
        assert "\n" not in advice.why(told)
    whole = " ".join(info(fault).text.split())
    assert advice.fix(finding(fault)).removeprefix("In general: ") in whole


@pytest.mark.parametrize("fault", FAULT_IDS)
@pytest.mark.parametrize(
    "text",
    [
        "def kernel(): ...\n",
        "def kernel(x_ptr, out_ptr, n, B: tl.constexpr):\n    helper(x_ptr, out_ptr, n, B)\n",
        "def kernel(*args, **options):\n    return [tl.load(a) for a in args]\n",
        "def kernel(p):\n    tl.store()\n    tl.load(p + 1, tl.flip())\n    tl.abs()\n",
        "def kernel(p, n):\n    o = tl.arange(0, n)\n    o += 1\n    tl.store(p + o, p.flip())\n",
    ],
)
def test_a_kernel_of_another_shape_gets_general_words(
    fault: str, text: str, kernel: Callable[[str], Path]
) -> None:
    told = finding(fault, kernel(text), 7, tiles={"B": 4}, parameters={"N": "local B"})
    assert advice.why(told, 'Flip("N")') and advice.fix(told, 'Flip("N")')
    assert advice.repair(told).patch is None


def test_a_file_that_does_not_parse_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def kernel(:\n", encoding="utf-8")
    assert read_kernel(Location(str(path), 1)).parameters == ()
    assert advice.fix(finding("padding-leak", path, 1))


# --------------------------------------------------------------------------- places

PER_TILE = """
def reverse(src_ptr, dst_ptr, size, TILE: tl.constexpr):
    lanes = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = lanes < size
    values = tl.load(src_ptr + lanes, mask=inside, other=0)
    turned = tl.flip(values, 0)
    tl.store(dst_ptr + lanes, turned, mask=inside)
"""


def test_a_flip_per_tile_in_the_names_of_its_kernel(kernel: Callable[[str], Path]) -> None:
    told = finding(
        "block-local-flip",
        kernel(PER_TILE),
        11,
        sizes={"N": 8},
        tiles={"TILE": 4},
        parameters={"N": "local TILE"},
    )
    assert advice.why(told) == (
        "`tl.flip(values, 0)` (line 11) reverses the elements of one tile, TILE = 4 along N, and "
        "knows nothing of the others. N = 8 takes 2 tiles, and each is stored where it was loaded "
        "from: position 0 gets element 3, where element 7 belongs."
    )
    assert changes(told) == [
        "-values = tl.load(src_ptr + lanes, mask=inside, other=0)",
        "-turned = tl.flip(values, 0)",
        "+turned = tl.load(src_ptr + (size - 1 - lanes), mask=inside, other=0)",
    ]


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (
            1,
            "N = 1 fills 1 of the 4 lanes of its tile (TILE = 4). The other 3 lanes are masked and "
            "hold 0.0. `tl.flip(values, 0)` (line 11) turns the whole tile, padding included, so "
            "that the padding comes first. The store still writes the first lane, which is padding "
            "now, and element 0 of x is lost.",
        ),
        (
            7,
            "N = 7 fills 3 of the 4 lanes of the last tile (TILE = 4). The other lane is masked "
            "and holds 0.0. `tl.flip(values, 0)` (line 11) turns the whole tile, padding included, "
            "so that the padding comes first. The store still writes the first 3 lanes: 1 of them "
            "is padding now, and 1 element of x is lost.",
        ),
    ],
)
def test_a_leak_counts_its_lanes(n: int, words: str, kernel: Callable[[str], Path]) -> None:
    told = finding(
        "padding-leak",
        kernel(PER_TILE),
        11,
        sizes={"N": n},
        tiles={"TILE": 4},
        parameters={"N": "local TILE"},
        leaked="0.0",
    )
    assert advice.why(told) == words


def test_a_tile_that_the_case_does_not_name_goes_by_the_name_of_the_kernel(
    kernel: Callable[[str], Path],
) -> None:
    told = finding(
        "padding-leak",
        kernel(PER_TILE.replace("tl.program_id(0) * TILE + ", "")),
        11,
        parameters={"N": "local max(2, next_power_of_2(N))"},
    )
    assert "(TILE = 8)" in advice.why(told)
    assert "store to `lanes - (TILE - size)`" in advice.fix(told)


def test_an_index_inside_a_variable_of_both_gets_a_variable_of_its_own(
    kernel: Callable[[str], Path],
) -> None:
    path = kernel("""
def mirror(x_ptr, y_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    rows = tl.program_id(0) * BH + tl.arange(0, BH)
    cols = tl.program_id(1) * BW + tl.arange(0, BW)
    at = rows[:, None] * W + cols[None, :]
    mask = (rows[:, None] < H) & (cols[None, :] < W)
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(y_ptr + at, x.flip(1), mask=mask)
""")
    told = finding(
        "block-local-flip",
        path,
        13,
        sizes={"H": 2, "W": 8},
        tiles={"BH": 2, "BW": 4},
        parameters={"W": "local BW"},
    )
    assert changes(told) == [
        "-x = tl.load(x_ptr + at, mask=mask)",
        "-tl.store(y_ptr + at, x.flip(1), mask=mask)",
        "+src = rows[:, None] * W + (W - 1 - cols[None, :])",
        "+x = tl.load(x_ptr + src, mask=mask)",
        "+tl.store(y_ptr + at, x, mask=mask)",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.store(dst_ptr + lanes, turned", "tl.store(dst_ptr + lanes, turned + values"),
        ("turned, mask=inside)", "turned)"),
        ("dst_ptr + lanes", "dst_ptr + 2 * lanes"),
        ("src_ptr + lanes", "src_ptr + lanes + TILE"),
        ("tl.flip(values, 0)", "tl.flip(values, AXIS)"),
        ("tl.flip(values, 0)", "tl.flip(values * 2, 0)"),
        ("inside = lanes < size", "inside = lanes <= size"),
    ],
)
def test_no_change_is_offered_where_it_might_be_wrong(
    old: str, new: str, kernel: Callable[[str], Path]
) -> None:
    """More than a move, another mask, other addresses: the general words stay."""
    text = PER_TILE.replace(old, new)
    assert text != PER_TILE
    told = finding(
        "block-local-flip",
        kernel(text),
        11,
        sizes={"N": 8},
        tiles={"TILE": 4},
        parameters={"N": "local TILE"},
    )
    assert advice.repair(told).patch is None
    assert advice.why(told)


@pytest.mark.parametrize(("index", "reads"), [("size - lanes", 5), ("size - 2 - lanes", 3)])
def test_a_mirrored_index_that_is_one_off(
    index: str, reads: int, kernel: Callable[[str], Path]
) -> None:
    path = kernel(f"""
def reverse(src_ptr, dst_ptr, size, TILE: tl.constexpr):
    lanes = tl.arange(0, TILE)
    x = tl.load(src_ptr + ({index}), mask=lanes < size)
    tl.store(dst_ptr + lanes, x, mask=lanes < size)
""")
    shift = "-1" if reads == 5 else "+1"
    told = finding("off-by-one", path, 9, parameters={"N": shift, "edge": "zero"})
    assert f"position 0 reads index {reads}, where N - 1 = 4 belongs" in advice.why(told)
    assert ("That lies outside the axis." in advice.why(told)) is (reads == 5)
    assert changes(told)[1] == "+x = tl.load(src_ptr + (size - 1 - lanes), mask=lanes < size)"


def test_a_right_mirror_is_left_alone(kernel: Callable[[str], Path]) -> None:
    path = kernel("""
def reverse(src_ptr, dst_ptr, size, TILE: tl.constexpr):
    lanes = tl.arange(0, TILE)
    x = tl.load(src_ptr + (size - 1 - lanes), mask=lanes < size)
    tl.store(dst_ptr + lanes, x, mask=lanes < size)
""")
    assert advice.repair(finding("off-by-one", path, 9)).patch is None


@pytest.mark.parametrize(
    ("parameters", "why", "fix"),
    [
        ({"N": "headless"}, "the first element comes from a masked lane", "try both ends in it"),
        ({"N": "nothing"}, "false wherever it should be true", "try both ends in it"),
        (
            {"N": "padded BLOCK", "masked lanes": "1"},
            "the masked lanes (3 lanes at N = 5) take part in `tl.sum(x)` (line 9) as 1",
            "a value that changes nothing",
        ),
    ],
)
def test_padding_that_no_flip_moved(
    parameters: dict[str, str], why: str, fix: str, kernel: Callable[[str], Path]
) -> None:
    path = kernel("""
def kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, tl.sum(x))
""")
    told = finding("padding-leak", path, 9, tiles={"BLOCK": 8}, parameters=parameters)
    assert why in advice.why(told) and fix in advice.fix(told)
    assert "flip" not in advice.why(told) + advice.fix(told)


def test_strides_that_were_exchanged_are_not_cured_by_a_copy(
    kernel: Callable[[str], Path],
) -> None:
    told = finding(
        "stride-ignored", kernel(LAUNCHED), 10, parameters={"input": "x", "strides": "H for W"}
    )
    said = replace(told.proof, statement="the strides of H and W in x are exchanged")
    told = replace(told, proof=said)
    assert advice.why(told) == "The strides of H and W in x are exchanged."
    assert advice.repair(told).patch is None


def test_a_kernel_that_works_in_place_has_no_arguments_to_exchange(
    kernel: Callable[[str], Path],
) -> None:
    text = LAUNCHED.replace("x_ptr, out_ptr, n", "x_ptr, n").replace("out_ptr", "x_ptr")
    path = kernel(text.replace("(x, out, n,", "(x, n,"))
    told = finding("unwritten-output", path, 10, parameters={"N": "partial BLOCK"})
    assert "rounded down" in advice.why(told)
    assert changes(told)[1] == "+kernel[(triton.cdiv(n, BLOCK),)](x, n, BLOCK=BLOCK)"


# --------------------------------------------------------------------------- launches

LAUNCHED = """
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.abs(tl.load(x_ptr + offs, mask=mask)), mask=mask)


def run(x, out, *, BLOCK):
    n = x.numel()
    kernel[(n // BLOCK,)](x, out, n, BLOCK=BLOCK)
"""


def test_a_grid_that_is_rounded_down(kernel: Callable[[str], Path]) -> None:
    told = finding("unwritten-output", kernel(LAUNCHED), 10, parameters={"pattern": "the tail …"})
    assert advice.why(told).startswith("The grid `(n // BLOCK,)` (line 15) is rounded down")
    assert changes(told)[1] == "+kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)"


SEVERAL = f"""{LAUNCHED}

def other(x, out):
    n = x.numel()
    kernel[(1,)](x, out, n, BLOCK=256)
"""


def launched(fault: str, path: Path, line: int, file: Path | None = None) -> Finding:
    """A finding whose kernel was launched in a line of its file, or of another one."""
    place = Location(str(file or path), line)
    return replace(finding(fault, path, 10), launches=(place,))


def test_only_the_launch_of_the_example_is_looked_at(kernel: Callable[[str], Path]) -> None:
    path = kernel(SEVERAL)
    first, second = (launched("unwritten-output", path, line) for line in (15, 20))
    assert advice.why(first).startswith("The grid `(n // BLOCK,)` (line 15) is rounded down")
    assert changes(first)[1] == "+kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)"
    assert advice.why(second) == (
        "The grid `(1,)` (line 20) does not grow with the input: 1 program of BLOCK = 256 for "
        "every size."
    )
    assert advice.repair(second).patch is None


def test_a_launch_in_another_file_is_not_mistaken(
    kernel: Callable[[str], Path], tmp_path: Path
) -> None:
    told = launched("unwritten-output", kernel(LAUNCHED), 15, tmp_path / "other.py")
    assert advice.why(told).startswith("Where this usually comes from: ")
    assert advice.repair(told).patch is None


def test_where_the_launch_is_not_known_none_of_several_is_taken(
    kernel: Callable[[str], Path],
) -> None:
    told = finding("unwritten-output", kernel(SEVERAL), 10)
    assert advice.why(told).startswith("Where this usually comes from: ")
    assert advice.repair(told).patch is None


def test_a_grid_of_at_least_one_program(kernel: Callable[[str], Path]) -> None:
    path = kernel(LAUNCHED.replace("(n // BLOCK,)", "(max(1, n // BLOCK),)"))
    told = finding("unwritten-output", path, 10)
    assert advice.why(told).endswith("no program for what remains after the whole tiles.")


def test_a_grid_is_not_rounded_up_where_the_store_has_no_mask(
    kernel: Callable[[str], Path],
) -> None:
    path = kernel(LAUNCHED.replace("), mask=mask)\n\n", "))\n\n"))
    told = finding("unwritten-output", path, 10, parameters={"pattern": "the tail …"})
    assert advice.repair(told).patch is None


def test_arguments_in_another_order(kernel: Callable[[str], Path]) -> None:
    path = kernel(LAUNCHED.replace("kernel(x_ptr, out_ptr", "kernel(out_ptr, x_ptr"))
    told = finding("input-mutated", path, 10)
    assert "The launch in line 15 passes x for it" in advice.why(told)
    assert changes(told)[1] == "+kernel[(n // BLOCK,)](out, x, n, BLOCK=BLOCK)"


def test_a_mask_that_is_upside_down(kernel: Callable[[str], Path]) -> None:
    told = finding("out-of-bounds-write", kernel(LAUNCHED.replace("offs < n", "offs >= n")), 10)
    assert "is true beyond the end and false inside" in advice.why(told)
    assert changes(told) == ["-mask = offs >= n", "+mask = offs < n"]


@pytest.mark.parametrize(
    ("condition", "fault", "told"),
    [
        ("offs < n - 1", "unwritten-output", "ends before the end"),
        ("offs <= n", "out-of-bounds-write", "is still true beyond the end"),
        ("offs < n + 1", "out-of-bounds-write", "is still true beyond the end"),
    ],
)
def test_a_mask_that_is_wrong_at_the_end(
    condition: str, fault: str, told: str, kernel: Callable[[str], Path]
) -> None:
    found = finding(fault, kernel(LAUNCHED.replace("offs < n", condition)), 10)
    assert told in advice.why(found)
    assert changes(found) == [f"-mask = {condition}", "+mask = offs < n"]


@pytest.mark.parametrize(
    ("condition", "fault"),
    [
        ("offs < n - 1", "out-of-bounds-write"),  # that mask writes too little, not too much
        ("offs <= n", "unwritten-output"),
        ("offs < BLOCK * 4", "out-of-bounds-write"),
        ("other < n - 1", "unwritten-output"),
    ],
)
def test_a_mask_that_does_not_explain_the_fault_is_left_alone(
    condition: str, fault: str, kernel: Callable[[str], Path]
) -> None:
    path = kernel(LAUNCHED.replace("offs < n", condition).replace("n // BLOCK", "9"))
    assert advice.repair(finding(fault, path, 10)).patch is None


def test_a_store_to_the_pointer_of_the_input(kernel: Callable[[str], Path]) -> None:
    path = kernel(LAUNCHED.replace("tl.store(out_ptr", "tl.store(x_ptr").replace("n // BLOCK", "9"))
    told = finding("input-mutated", path, 10)
    assert "`out_ptr` is never used" in advice.why(told)
    assert changes(told)[1].startswith("+tl.store(out_ptr + offs, tl.abs(")


def test_a_launch_function_that_returns_its_input(kernel: Callable[[str], Path]) -> None:
    path = kernel(f"{LAUNCHED}    return x\n")
    for fault in ("not-reversed", "sign-kept"):
        told = finding(fault, path, 10)
        assert advice.why(told) == "`kernel` writes to out, but line 16 returns x, the input."
        assert changes(told) == ["-return x", "+return out"]


def test_a_store_without_a_mask(kernel: Callable[[str], Path]) -> None:
    path = kernel(LAUNCHED.replace("mask=mask)), mask=mask)", "mask=mask)))"))
    told = finding("out-of-bounds-write", path, 10, tiles={"BLOCK": 16})
    assert "has no mask: a tile (BLOCK = 16) that is not full" in advice.why(told)
    assert advice.repair(told).words == "Give the store the mask that the load has:"
    assert changes(told)[1].endswith("tl.load(x_ptr + offs, mask=mask)), mask=mask)")


def test_a_store_and_a_load_without_a_mask(kernel: Callable[[str], Path]) -> None:
    text = LAUNCHED.replace("    mask = offs < n\n", "").replace(", mask=mask", "")
    told = finding("out-of-bounds-write", kernel(text), 9)
    assert advice.repair(told).patch is None
    assert advice.fix(told).endswith("give the load and the store the mask `offs < n`.")


def test_no_list_is_promised_where_no_prediction_fitted(kernel: Callable[[str], Path]) -> None:
    told = finding("value-mismatch", kernel(LAUNCHED), 10)
    assert "listed below" not in advice.why(told)
    listed = replace(told, proof=Proof(rivals=(("off-by-one", "N=6"),)))
    assert advice.why(listed).endswith("Those that fitted some of them are listed below.")


def test_an_input_that_is_not_contiguous(kernel: Callable[[str], Path]) -> None:
    told = finding(
        "stride-ignored", kernel(LAUNCHED), 10, layout="transposed", parameters={"input": "x"}
    )
    assert "In this example x is transposed" in advice.why(told)
    assert "has no stride in it" in advice.why(told)
    assert changes(told)[1] == "+kernel[(n // BLOCK,)](x.contiguous(), out, n, BLOCK=BLOCK)"


# --------------------------------------------------------------------------- values


def absolute(expression: str, kernel: Callable[[str], Path]) -> Path:
    return kernel(LAUNCHED.replace("tl.abs(tl.load(x_ptr + offs, mask=mask))", expression).replace(
        "    tl.store", "    x = tl.load(x_ptr + offs, mask=mask)\n    tl.store"
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "asks"),
    [
        ("tl.where(x < 0, -x, x)", "asks -0.0 < 0, which is false"),
        ("tl.where(x < 0.0, -x, x)", "asks -0.0 < 0.0, which is false"),
        ("tl.where(x >= 0, x, -x)", "asks -0.0 >= 0, which is true"),
        ("tl.where(x > 0, x, -x)", "asks +0.0 > 0, which is false, so it negates +0.0"),
        ("tl.where(x <= 0, -x, x)", "asks +0.0 <= 0, which is true, so it negates +0.0"),
        ("tl.maximum(x, -x)", "cannot tell the two zeros apart"),
        ("tl.maximum(-x, x)", "cannot tell the two zeros apart"),
    ],
)
def test_a_selection_in_place_of_abs(
    expression: str, asks: str, kernel: Callable[[str], Path]
) -> None:
    told = finding("signed-zero-kept", absolute(expression, kernel), 11)
    assert asks in advice.why(told)
    assert changes(told)[1] == "+tl.store(out_ptr + offs, tl.abs(x), mask=mask)"


@pytest.mark.parametrize(
    "expression", ["tl.where(x < 0, -y, x)", "tl.where(x > 1, x, -x)", "tl.maximum(x, y)"]
)
def test_a_selection_that_is_no_abs_is_left_alone(
    expression: str, kernel: Callable[[str], Path]
) -> None:
    told = finding("signed-zero-kept", absolute(expression, kernel), 11)
    assert advice.repair(told).patch is None


def test_a_branch_over_a_tile(kernel: Callable[[str], Path]) -> None:
    path = kernel("""
def kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    if x < 0:
        x = -x
    tl.store(out_ptr, x)
""")
    told = finding("sign-kept", path, 8, parameters={"values": "negated"})
    assert "`if x < 0` (line 9) asks the whole tile one question" in advice.why(told)
    assert changes(told) == ["-if x < 0:", "-    x = -x", "+x = tl.abs(x)"]


def test_abs_of_the_minimum_in_a_type_without_room(kernel: Callable[[str], Path]) -> None:
    path = absolute("tl.abs(x)", kernel)
    told = finding("int-abs-overflow", path, 11, dtype="int8", parameters={"minimum": "unchanged"})
    assert "-128 has no counterpart there: int8 ends at 127, one short of 128" in advice.why(told)
    words = advice.fix(told)
    assert "`tl.abs(x.to(tl.int16))`" in words and advice.repair(told).patch is None


def test_abs_of_int64_cannot_be_widened(kernel: Callable[[str], Path]) -> None:
    path = absolute("tl.abs(x)", kernel)
    told = finding("int-abs-overflow", path, 11, dtype="int64", parameters={"minimum": "unchanged"})
    words = advice.fix(told)
    assert words.startswith("No integer type is wider than int64")
    assert words.endswith("`--abs-overflow saturate` or `--abs-overflow wrap`.")


def test_a_function_that_returns_nothing_may_be_meant_to_work_in_place() -> None:
    told = finding("crash", evidence=("flip_it returned None, not a tensor",))
    assert 'Case(in_place="x")' in advice.fix(told) and "`--in-place`" in advice.fix(told)
    assert "--in-place" not in advice.fix(finding("crash", evidence=("flip_it raised ValueError",)))


@pytest.mark.parametrize(
    ("expression", "right"),
    [
        ("tl.abs(x).to(tl.int16)", "tl.abs(x.to(tl.int16))"),
        ("tl.abs(x)", "tl.abs(x.to(out_ptr.dtype.element_ty))"),
        ("tl.abs(-x)", "tl.abs((-x).to(out_ptr.dtype.element_ty))"),
    ],
)
def test_abs_that_is_widened_too_late(
    expression: str, right: str, kernel: Callable[[str], Path]
) -> None:
    told = finding(
        "int-abs-overflow",
        absolute(expression, kernel),
        11,
        dtype="int8",
        out_dtype="int16",
        parameters={"minimum": "unchanged"},
    )
    assert "is converted to int16 only afterwards" in advice.why(told)
    assert changes(told)[1] == f"+tl.store(out_ptr + offs, {right}, mask=mask)"


def test_operands_that_are_narrowed_again_are_not_widened(kernel: Callable[[str], Path]) -> None:
    path = kernel("""
def kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, tl.sum(x.to(tl.int32)))
""")
    told = finding(
        "int-overflow",
        path,
        9,
        dtype="int8",
        out_dtype="int64",
        parameters={"arithmetic in": "int32"},
    )
    assert advice.repair(told).patch is None


@pytest.mark.parametrize(
    ("values", "contract", "words"),
    [
        ("unchanged", "Abs()", "Every value keeps its sign. Nothing in `kernel` takes"),
        ("negative", "Abs()", "Every value comes out negative."),
        ("unchanged", "Reference(fn)", "What abs should be taken of keeps its sign."),
    ],
)
def test_no_abs_at_all(
    values: str, contract: str, words: str, kernel: Callable[[str], Path]
) -> None:
    told = finding("sign-kept", absolute("x", kernel), 11, parameters={"values": values})
    assert advice.why(told, contract).startswith(words)


def test_operands_are_widened_not_results(kernel: Callable[[str], Path]) -> None:
    path = kernel("""
def kernel(x_ptr, y_ptr, out_ptr):
    x = tl.load(x_ptr)
    y = tl.load(y_ptr)
    tl.store(out_ptr, tl.abs(x - y))
""")
    cell = Cell((0,), "100, -100", "200", "56", True)
    told = finding(
        "int-overflow",
        path,
        10,
        dtype="int8",
        out_dtype="int16",
        parameters={"arithmetic in": "int8"},
        cell=cell,
    )
    assert advice.why(told).endswith("Here the result is 56 in place of 200.")
    assert changes(told)[2:] == [
        "+x = tl.load(x_ptr).to(out_ptr.dtype.element_ty)",
        "+y = tl.load(y_ptr).to(out_ptr.dtype.element_ty)",
    ]


# --------------------------------------------------------------------------- twins


@pytest.mark.parametrize(
    ("contract", "sizes", "fault", "name"),
    [
        ('Flip("N")', {"N": 5}, "padding-leak", "flip/address_remap"),
        ('Flip("W")', {"H": 2, "W": 3}, "padding-leak", "flip/rows_remap"),
        ('Flip("H")', {"H": 2, "W": 3}, "wrong-axis", "flip/tiles_2d_h_remap"),
        ('Flip("H", "W")', {"H": 2, "W": 3}, "off-by-one", "flip/both_axes_remap"),
        ('Flip("T")', {"B": 1, "H": 2, "T": 3, "D": 4}, "padding-leak", "flip/kv_cache_remap"),
        ('Flip("B")', {"B": 1, "H": 2, "W": 3}, "padding-leak", ""),
        ("Abs()", {"N": 5}, "signed-zero-kept", "abs/vector"),
        ("Abs()", {"N": 5}, "int-abs-overflow", "abs/widened"),
        ('Abs(overflow="saturate")', {"N": 5}, "int-abs-overflow", "abs/saturating"),
        ("Abs()", {"N": 5}, "unsigned-as-signed", "abs/unsigned"),
        ("Reference(fn)", {"N": 5}, "int-overflow", "abs/difference_widened"),
        ("Reference(fn)", {"N": 5}, "value-mismatch", ""),
        ('Flip("N")', {"N": 5}, "crash", ""),
    ],
)
def test_a_right_kernel_to_read(
    contract: str, sizes: dict[str, int], fault: str, name: str
) -> None:
    told = finding(fault, sizes=sizes)
    assert advice.twin(told, contract) == name
    if name:
        assert (builtin_root() / f"{name}.py").is_file()
