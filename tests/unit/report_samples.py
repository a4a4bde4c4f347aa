"""Reports made by hand, realistic enough to judge how they read. No kernel is run for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tritaudit.model import (
    MASKED,
    UNWRITTEN,
    CaseInfo,
    CaseResult,
    Cell,
    Coverage,
    Edit,
    Environment,
    Example,
    Excerpt,
    Fill,
    FillKind,
    Finding,
    IndexMap,
    Known,
    Location,
    Outcome,
    Proof,
    Report,
    Severity,
    Shard,
    Skipped,
)

HOSTILE = "evil/[red]|x|[/red]\x1b[31m\r\n\u202e<b>&amp;\"'%0A::error::🔥 – naïve"
REPRO = (
    "ta1:eJyrVkrLz1eyUlAqSEzOTlWyUkrOzytJzStRslJKLUvMKU0FchJLUotSi5WsqpVKUotLlKyilQwNlGJrAXPVFIQ"
)


def flip_excerpt(
    source: Sequence[int],
    expected: Sequence[int],
    tile: int,
    dtype: str = "float32",
    shown: Iterable[int] | None = None,
) -> Excerpt:
    """An excerpt of a 1-D move of elements numbered from 1."""
    size = len(source)
    cells = []
    for i in range(size) if shown is None else shown:
        got, want = (source[i] + 1 if source[i] >= 0 else 0), expected[i] + 1
        text = (lambda v: f"{v}.0") if dtype.startswith("float") else str
        cells.append(Cell((i,), text(i + 1), text(want), text(got), got != want))
    wrong = sum(a != b for a, b in zip(source, expected, strict=True))
    return Excerpt(("N",), (size,), dtype, dtype, (tile,), tuple(cells), wrong, size)


def padding_leak(expected: bool = False) -> Finding:
    source, right = (MASKED, MASKED, MASKED, 4, 3), (4, 3, 2, 1, 0)
    return Finding(
        case="flip/single_tile",
        fault="padding-leak",
        severity=Severity.ERROR,
        expected=expected,
        backend="interpreter",
        dtype="float32",
        example=Example((("N", 5),), (("BLOCK", 8),), (), (("x", "float32"),)),
        repro=REPRO,
        summary="Masked lanes of a padded tile reach valid positions: the tile of 8 is reversed as "
        "a whole, so its 3 padding lanes come first and push 3 elements out.",
        proof=Proof(
            5,
            5,
            4,
            (
                ("block-local-flip", "N=5 BLOCK=8: would leave the output right"),
                ("off-by-one", "N=6 BLOCK=8: predicts [5, 4, 3, 2, 1, 6]"),
            ),
            (("tile", "8"), ("padding", "3"), ("leaked value", "0.0")),
            "out[i] = in[7 - i], and 0.0 where 7 - i is beyond N",
        ),
        assert_close_passes=False,
        location=Location("cases/flip/single_tile.py", 17, "y = tl.flip(x, 0)"),
        launches=(Location("cases/flip/single_tile.py", 24, "kernel[(1,)](x, out, n)"),),
        excerpt=flip_excerpt(source, right, 8),
        index_map=IndexMap(("N",), (5,), (8,), source, right, "0.0", 2),
        evidence=("The first 3 elements of the input appear nowhere in the output.",),
        unnoticed=(
            "The kernel is right wherever N is a power of two and equals BLOCK: 1, 2, 4, … 128.",
            "A test with N = 128 and BLOCK = 128 passes.",
        ),
        dtypes=("float16", "bfloat16", "float32", "float64", "int8", "int32"),
        seen=318,
    )


def block_local_flip(size: int = 32, tile: int = 16) -> Finding:
    source = tuple(i // tile * tile + tile - 1 - i % tile for i in range(size))
    right = tuple(range(size - 1, -1, -1))
    window = None if size <= 64 else [*range(8), *range(tile - 4, tile + 4), *range(size - 4, size)]
    return Finding(
        case="flip/tile_per_program",
        fault="block-local-flip",
        severity=Severity.ERROR,
        expected=False,
        backend="interpreter",
        dtype="int32",
        example=Example((("N", size),), (("BLOCK", tile),), (), (("x", "int32"),)),
        repro=REPRO,
        summary=f"Each tile of {tile} is reversed in itself, but the tiles keep their places.",
        proof=Proof(
            size,
            size,
            3,
            (("not-reversed", "N=32 BLOCK=16"), ("tile-order-only", "N=48 BLOCK=16")),
            (("tile", str(tile)),),
            f"out[i] = in[i - i % {tile} + {tile - 1} - i % {tile}]",
        ),
        assert_close_passes=False,
        location=Location("cases/flip/tile_per_program.py", 14, "x = tl.flip(x, 0)"),
        excerpt=flip_excerpt(source, right, tile, "int32", window),
        index_map=IndexMap(("N",), (size,), (tile,), source, right),
        unnoticed=("The kernel is right wherever one tile holds the whole axis (N = BLOCK).",),
        seen=900,
    )


def wrong_axis(rows: int = 3, columns: int = 5, tiles: tuple[int, int] = (2, 4)) -> Finding:
    size = rows * columns
    source = tuple((rows - 1 - i // columns) * columns + i % columns for i in range(size))
    right = tuple(i // columns * columns + columns - 1 - i % columns for i in range(size))
    cells = tuple(
        Cell(
            (i // columns, i % columns),
            str(i + 1),
            str(right[i] + 1),
            str(source[i] + 1),
            source[i] != right[i],
        )
        for i in range(size)
    )
    wrong = sum(c.wrong for c in cells)
    return Finding(
        case="flip/tiles_2d_h",
        fault="wrong-axis",
        severity=Severity.ERROR,
        expected=False,
        backend="gpu",
        dtype="int16",
        example=Example(
            (("H", rows), ("W", columns)),
            (("BLOCK_H", tiles[0]), ("BLOCK_W", tiles[1])),
            (),
            (("x", "int16"),),
            (("x", "strided"),),
        ),
        because=(("wrong-axis", "gpu"),),
        repro=REPRO,
        summary="Axis H is reversed where the contract names axis W.",
        proof=Proof(wrong, wrong, 3, (("both axes", "H=2 W=2"),), (), "out[h, w] = in[H-1-h, w]"),
        assert_close_passes=False,
        location=Location("cases/flip/tiles_2d_h.py", 21),
        excerpt=Excerpt(("H", "W"), (rows, columns), "int16", "int16", tiles, cells, wrong, size),
        index_map=IndexMap(("H", "W"), (rows, columns), tiles, source, right),
    )


def int_abs_overflow() -> Finding:
    cells = (
        Cell((0,), "-127", "127", "127", False, 0x81, 0x7F, 0x7F),
        Cell((1,), "-128", "128 (does not fit int8)", "-128", True, 0x80, 0x80, 0x80),
        Cell((2,), "5", "5", "5", False, 5, 5, 5),
    )
    return Finding(
        case="abs/vector_int",
        fault="int-abs-overflow",
        severity=Severity.WARNING,
        expected=True,
        backend="interpreter",
        dtype="int8",
        example=Example(
            (("N", 1),),
            (("BLOCK", 16),),
            (),
            (("x", "int8"),),
            fill=Fill(FillKind.ZERO),
            edits=(Edit("x", 0, 0x80),),
        ),
        repro=REPRO,
        summary="abs of the type's minimum does not fit the type: abs(-128) came out as -128.",
        proof=Proof(
            1, 1, 12, (("sign-kept", "N=1 x=-1"),), (), "abs(minimum) wraps to the minimum"
        ),
        assert_close_passes=True,
        location=Location("cases/abs/vector_int.py", 12, "y = tl.abs(x)"),
        excerpt=Excerpt(("N",), (3,), "int8", "int8", (16,), cells, 1, 3),
        dtypes=("int8", "int16", "int32", "int64"),
        unnoticed=("torch.abs overflows in the same way, so a comparison with torch says equal.",),
    )


def signed_zero_kept(dtype: str = "float32", sign: int = 0x80000000) -> Finding:
    cells = (
        Cell((0,), "1.5", "1.5", "1.5", False),
        Cell((1,), "-0.0", "0.0", "-0.0", True, sign, 0, sign),
        Cell((2,), "-2.0", "2.0", "2.0", False),
    )
    return Finding(
        case="abs/where_lt",
        fault="signed-zero-kept",
        severity=Severity.NOTE,
        expected=False,
        backend="interpreter",
        dtype=dtype,
        example=Example(
            (("N", 3),),
            (("BLOCK", 16),),
            (("delta", 0.5),),
            (("x", dtype),),
            fill=Fill(FillKind.NORMAL, 7),
            edits=(Edit("x", 1, sign),),
        ),
        repro=REPRO,
        summary="abs left -0.0 negative: x < 0 is false for -0.0, so where(x < 0, -x, x) keeps it.",
        proof=Proof(1, 1, 5, (), (), "the sign bit of a zero is not cleared"),
        assert_close_passes=True,
        location=Location("cases/abs/where_lt.py", 11, "y = tl.where(x < 0, -x, x)"),
        excerpt=Excerpt(("N",), (3,), dtype, dtype, (16,), cells, 1, 3),
    )


def api_rejects() -> Finding:
    return Finding(
        case="semantics/flip_default_dim",
        fault="api-rejects",
        severity=Severity.ERROR,
        expected=False,
        backend="interpreter",
        dtype="float32",
        example=Example((("N", 16),), (("BLOCK", 16),), (), (("x", "float32"),)),
        repro=REPRO,
        summary="Triton refuses the kernel, although what it asks for is legal.",
        location=Location("cases/semantics/flip_default_dim.py", 13, "y = tl.flip(x)"),
        evidence=(
            "TypeError: '<=' not supported between instances of 'int' and 'NoneType'",
            "raised in triton/language/standard.py:flip",
        ),
    )


def crash() -> Finding:
    return Finding(
        case="mine/far_store",
        fault="crash",
        severity=Severity.ERROR,
        expected=False,
        backend="interpreter",
        dtype="float32",
        example=Example((("N", 1),), (("BLOCK", 16),), (), (("x", "float32"),)),
        repro=REPRO,
        summary="The process died with SIGSEGV while it ran this example.",
        evidence=("The last example that was begun did it, and does it again when run alone.",),
        output="launching \x1b[31mkernel\x1b[0m\nFatal Python error: Segmentation fault\n",
    )


def four_axes() -> Finding:
    """A KV cache [B, H, T, D] reversed along T in tiles of 2: T = 4 in two tiles."""
    shape = (1, 2, 4, 2)
    source, right = [], []
    for i in range(16):
        h, t, d = i // 8, i // 2 % 4, i % 2
        source.append(h * 8 + (t // 2 * 2 + 1 - t % 2) * 2 + d)
        right.append(h * 8 + (3 - t) * 2 + d)
    cells = tuple(
        Cell(
            (0, i // 8, i // 2 % 4, i % 2),
            str(i + 1),
            str(right[i] + 1),
            str(source[i] + 1),
            source[i] != right[i],
        )
        for i in range(16)
    )
    axes, tiles = ("B", "H", "T", "D"), (0, 0, 2, 0)
    sizes = tuple(zip(axes, shape, strict=True))
    return Finding(
        case="flip/kv_cache_tile",
        fault="block-local-flip",
        severity=Severity.ERROR,
        expected=False,
        backend="interpreter",
        dtype="int16",
        example=Example(sizes, (("BLOCK_T", 2),), (), (("x", "int16"),)),
        repro=REPRO,
        summary="Each tile of 2 along T is reversed in itself, but the tiles keep their places.",
        proof=Proof(16, 16, 3),
        assert_close_passes=False,
        excerpt=Excerpt(axes, shape, "int16", "int16", tiles, cells, 16, 16),
        index_map=IndexMap(axes, shape, tiles, tuple(source), tuple(right)),
    )


def tail_dropped() -> Finding:
    size, tile = 1000, 64
    right = tuple(range(size - 1, -1, -1))
    source = tuple(UNWRITTEN if i >= 960 else right[i] for i in range(size))
    shown = [0, 1, 2, *range(952, 968), 999]
    return Finding(
        case="mine/tail",
        fault="unwritten-output",
        severity=Severity.ERROR,
        expected=False,
        backend="gpu",
        dtype="int32",
        example=Example((("N", size),), (("BLOCK", tile),), (), (("x", "int32"),)),
        repro=REPRO,
        summary="40 of 1,000 elements were never written: the tail that fills no whole tile.",
        proof=Proof(40, 40, 3, (), (), "the last N % 64 elements keep the poison"),
        assert_close_passes=False,
        location=Location("mine/tail.py", 31, "kernel[(n // BLOCK,)](x, out, n, BLOCK=BLOCK)"),
        excerpt=flip_excerpt(source, right, tile, "int32", shown),
        index_map=IndexMap(
            ("N",),
            (size,),
            (tile,),
            source,
            right,
            example=Example((("N", size),), (("BLOCK", tile),), (), (("x", "int16"),)),
        ),
    )


def unexplained() -> Finding:
    cells = (Cell((3,), "NaN(0x7fc00001)", "NaN(0x7fc00001)", "0.33333334", True, 1, 1, 2),)
    return Finding(
        case=HOSTILE,
        fault="value-mismatch",
        severity=Severity.ERROR,
        expected=False,
        backend="interpreter",
        dtype="float32",
        example=Example(
            (("N", 4),),
            (("BLOCK", 16),),
            (("limit", float("inf")), ("low", float("-inf"))),
            (("x", "float32"),),
            fill=Fill(FillKind.RANDOM, 3),
        ),
        repro=REPRO + " \x1b]0;owned\x07'quoted'",
        summary=f"wrong in a way that no fault explains {HOSTILE}",
        proof=Proof(3, 1, 0, (("sign-kept", HOSTILE),), (("how", HOSTILE),), ""),
        location=Location(f"dir with space/{HOSTILE}.py", 3, "x = [bold]1[/bold]  # <script>"),
        excerpt=Excerpt(("N",), (4,), "float32", "float32", (16,), cells, 1, 4),
        evidence=(HOSTILE,),
        unnoticed=(HOSTILE,),
        output="\x1b[2J\x1b[31m[red]not markup[/red]\x07\ud800",
    )


def all_findings() -> tuple[Finding, ...]:
    return (
        padding_leak(),
        block_local_flip(),
        wrong_axis(),
        int_abs_overflow(),
        signed_zero_kept(),
        api_rejects(),
        crash(),
        four_axes(),
        tail_dropped(),
        unexplained(),
    )


def coverage(examples: int = 1204) -> Coverage:
    return Coverage(
        examples,
        examples * 3,
        examples * 90,
        (("N", 1, 257, 41),),
        (("BLOCK", (16, 32, 128)),),
        tuple((d, 80) for d in ("float16", "float32", "float64", "int8", "int16", "int32")),
        ("contiguous", "strided"),
        ("int8", "int16"),
        (Skipped("the interpreter computes bfloat16 arithmetic wrongly", 80, ("bfloat16",)),),
        examples_per_second=20345.5 if examples == 1204 else 0.0,
    )


def result(
    case: str,
    outcome: Outcome,
    findings: Iterable[Finding] = (),
    seconds: float = 1.23,
    **more: object,
) -> CaseResult:
    build: Callable[..., CaseResult] = CaseResult
    found = tuple(findings)
    return build(
        case,
        found[0].backend if found else "interpreter",
        outcome,
        **{"coverage": coverage(), "seconds": seconds, "findings": found, **more},
    )


def report() -> Report:
    """A run with every outcome and every sample finding."""
    rest = [f for f in all_findings() if not f.expected and f.fault != "padding-leak"]
    results = [
        result("flip/address_remap", Outcome.PASS),
        result("flip/address_remap_in_place", Outcome.PASS, coverage=Coverage(3)),
        result("flip/single_tile", Outcome.KNOWN, [padding_leak(True)]),
        result("flip/padded_tile_per_program", Outcome.FAIL, [padding_leak(), block_local_flip()]),
        result("abs/vector_int", Outcome.KNOWN, [int_abs_overflow()], 75.0),
        *(result(f.case, Outcome.FAIL, [f]) for f in rest),
        result(
            "abs/widened",
            Outcome.STALE,
            missing=("padding-leak",),
            location=Location("cases/abs/widened.py", 30),
        ),
        result(
            "loss/huber",
            Outcome.ERROR,
            reason="the reference function raised RuntimeError: expected a tensor with two axes",
            output="\x1b[31mabout to fail\n",
            location=Location("cases/loss/huber.py", 12, "return torch.huber(x)"),
        ),
        result("semantics/flip_fp8", Outcome.SKIP, reason="needs a GPU; none is seen", seconds=0.0),
    ]
    environment = Environment(
        "0.1.0", "3.11.2", "3.9.0", "2.13.0+cpu", "2.4.6", "", "", "interpreter", "Linux x86_64"
    )
    return Report(environment, tuple(results), 20241130, 83.4)


def full_report() -> Report:
    """As `report`, with a value of its own in every field that `report` leaves alone."""
    short = replace(coverage(7), cut_short="the time limit")
    launched = replace(crash().example, launch=(("num_warps", 4),))
    more = result(
        "mine/other",
        Outcome.FAIL,
        [
            replace(
                crash(), example=launched, target="mine/other.py:second", options=("--flip", "1")
            )
        ],
        target="mine/other.py:second",
        notes=("a NaN payload differs",),
        coverage=short,
    )
    accepted = replace(crash(), expected=True, accepted="ignored until 2030-01-01: no such kernel")
    ignored = result("mine/ignored", Outcome.KNOWN, [accepted])
    cell = Cell((0,), "", "1.0", "0.0", True, None, 1, 0)
    cleared = replace(
        crash(),
        fault="input-mutated",
        excerpt=Excerpt(("N",), (1,), "float32", "float32", (0,), (cell,), 1, 1, "x"),
    )
    changed = result("mine/clears", Outcome.FAIL, [cleared])
    base = report()
    environment = replace(base.environment, gpu="NVIDIA H200", driver="570.1")
    results = (*base.results, more, ignored, changed)
    return replace(
        base,
        environment=environment,
        results=results,
        ended="interrupted",
        profile="deep",
        shard=Shard(2, 3, 41, "0f1e2d3c"),
        remarks=("the ignore of crash in mine/* matches nothing",),
    )


def infos() -> tuple[CaseInfo, ...]:
    floats = ("float16", "bfloat16", "float32", "float64")
    ints = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

    def info(
        name: str, contract: str, title: str, dtypes: tuple[str, ...], *expect: Known
    ) -> CaseInfo:
        return CaseInfo(
            name, f"/x/{name}.py", 1, "case", contract, title, title, dtypes, (), (), expect
        )

    return (
        info("flip/address_remap", 'Flip("N")', "Reverse a vector by addresses.", floats + ints),
        info(
            "flip/single_tile",
            'Flip("N")',
            "Reverse a vector held in one padded tile (A16).",
            (*floats, "int8"),
            Known("padding-leak"),
        ),
        info("abs/vector_int", "Abs()", "|x| of signed ints.", ints[:4], Known("int-abs-overflow")),
        info(
            "semantics/flip_default_dim",
            'Flip("N")',
            "tl.flip without a dim (A13): a static assert compares None on 3.4 to 3.8.",
            ("float32",),
            Known("api-rejects", triton=">=3.4,<3.9", backend="interpreter", dtypes=("float32",)),
        ),
        info(HOSTILE, HOSTILE, HOSTILE, floats),
    )


FAULTS = (
    (
        "block-local-flip",
        Severity.ERROR,
        "each tile is reversed in itself, tiles keep their places",
    ),
    ("padding-leak", Severity.ERROR, "masked lanes of a padded tile reach valid positions"),
    ("int-abs-overflow", Severity.WARNING, "abs of the type's minimum"),
    ("signed-zero-kept", Severity.NOTE, "abs left -0.0 negative"),
)
