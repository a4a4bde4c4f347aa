"""Case files that load, and those that do not: one sentence each, with file and line."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from tritaudit.catalogue import Listing, find_cases, load_case
from tritaudit.model import Known
from tritaudit.targets import CatalogueError, resolve

GOOD = '''
"""Absolute values.

More text.
"""
from tritaudit import Abs, Case, Tensor, Tile

def run(x, out, *, BLOCK):
    pass

case = Case(run=run, contract=Abs(), inputs=Tensor("x", "N", dtypes="float32"),
            tiles=Tile("BLOCK", "N", 16){more})
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a user, beside a catalogue of one case."""
    write(tmp_path / "builtin" / "abs" / "right.py", good())
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


def good(**more: str) -> str:
    given = "".join(f", {name}={value}" for name, value in more.items())
    return GOOD.format(more=given).lstrip()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def load(folder: Path, *targets: str) -> Listing:
    builtin = folder.parent / "builtin"
    sources, problems = resolve(targets or (str(folder),), builtin)
    return find_cases(sources, problems, builtin)


def problems(folder: Path, *targets: str) -> list[str]:
    return [str(p) for p in load(folder, *targets).problems]


def test_a_case_is_described(folder: Path) -> None:
    path = write(folder / "sub" / "k.py", good(axes='{"N": (0, 512)}', expect='"padding-leak"'))
    listing = load(folder)
    assert (listing.problems, listing.skipped) == ((), ())
    [info] = listing.cases
    assert info.name == "sub/k"
    assert (info.path, info.line, info.variable) == (str(path), 10, "case")
    assert info.target == "sub/k.py"
    assert (info.title, info.doc) == ("Absolute values.", "Absolute values.\n\nMore text.")
    assert info.contract == "Abs()"
    assert (info.dtypes, info.axes, info.tiles) == (
        ("float32",),
        (("N", 0, 512),),
        (("BLOCK", (16,)),),
    )
    assert info.expect == (Known("padding-leak"),)


def test_a_case_of_the_catalogue_is_its_own_target(folder: Path) -> None:
    [info] = load(folder, "abs/right").cases
    assert (info.name, info.target) == ("abs/right", "abs/right")


def test_other_variables_are_named_and_aliases_private_and_imported_cases_are_not_cases(
    folder: Path,
) -> None:
    write(folder / "_base.py", good())
    write(
        folder / "k.py",
        """
        from _base import Abs, Case, Tensor, run, Tile
        from _base import case as base
        import tritaudit
        _hidden = Case(run, Abs(), Tensor("x", "N"), Tile("BLOCK", "N", 16))
        first = Case(run, Abs(), Tensor("x", "N"), Tile("BLOCK", "N", 16))
        again = first
        """,
    )
    assert [c.name for c in load(folder).cases] == ["k:first"]
    assert [c.target for c in load(folder).cases] == ["k.py:first"]


def test_a_variable_can_be_chosen(folder: Path) -> None:
    write(folder / "k.py", good() + "other = Case(run, Abs(), case.inputs, case.tiles)\n")
    assert [c.name for c in load(folder, "k.py").cases] == ["k", "k:other"]
    assert [c.name for c in load(folder, "k.py:other").cases] == ["k:other"]
    assert [c.name for c in load(folder, "k.py:case").cases] == ["k"]
    assert problems(folder, "k.py:othr") == ["k.py: no case in the variable 'othr'; nearest: other"]


def test_what_stands_among_cases_and_is_none_is_a_problem_with_its_line(folder: Path) -> None:
    write(
        folder / "k.py",
        good() + "cases = [\n    case,\n    3,\n]\nothers = {'a': case, 'b': run}\n",
    )
    first = len((folder / "k.py").read_text().splitlines()) - 4
    assert problems(folder, "k.py") == [
        f"k.py:{first + 2}: entry 1 of cases is of type int, not a Case",
        f"k.py:{first + 4}: entry 'b' of others is of type function, not a Case",
    ]
    write(folder / "k.py", good() + "numbers = [1, 2]\n")
    assert problems(folder, "k.py") == []


def test_helpers_of_two_roots_do_not_mix(folder: Path) -> None:
    for name, size in (("a", 16), ("b", 32)):
        write(folder / name / "common.py", f"SIZE = {size}\n")
        text = good().replace("16)", "SIZE)").replace("def run", "from common import SIZE\ndef run")
        write(folder / name / f"k{name}.py", text)
    before = list(sys.path)
    tiles = {c.name: c.tiles for c in load(folder, "a", "b").cases}
    assert tiles == {"ka": (("BLOCK", (16,)),), "kb": (("BLOCK", (32,)),)}
    assert sys.path == before
    assert "common" not in sys.modules


def test_a_folder_runs_only_files_that_speak_of_tritaudit(folder: Path) -> None:
    write(folder / "setup.py", "raise RuntimeError('not to be run')\n")
    write(folder / "k.py", good())
    assert problems(folder) == []


def test_a_file_without_a_case_is_a_problem_only_where_it_is_named(folder: Path) -> None:
    write(folder / "helper.py", "import tritaudit\n")
    assert load(folder) == Listing()
    assert problems(folder, "helper.py") == [
        "helper.py: no case in this file: none of its variables holds a Case"
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import tritaudit\ndef broken(:\n    pass\n", "k.py:2: invalid syntax"),
        ("x = 1\n\ny = (\n", "k.py:3: '(' was never closed"),
        (
            good(contract="'flop'").replace("contract=Abs(), ", ""),
            "k.py:10: unknown contract 'flop'; known are Flip, Abs and Reference",
        ),
        (
            good().replace('"N", 16)', '"N", 24)'),
            "k.py:11: Tile 'BLOCK' has the size 24, which is not a power of two "
            "(tl.arange refuses it)",
        ),
        (good().replace('"float32"', '"flaot32"'), "k.py:10: unknown dtype 'flaot32'; known are "),
        ("import tritaudit\nfrom tritaudit import Flop\n", "k.py:2: ImportError: cannot import"),
        ("import tritaudit\nimport tritaudit.no_such\n", "k.py:2: ModuleNotFoundError: No module"),
        ("import tritaudit\n\n\n1 / 0\n", "k.py:4: ZeroDivisionError: division by zero"),
        ("import tritaudit, sys\nsys.exit()\n", "k.py:2: the file ends the process when it is "),
        (
            good(expect='("crash", "padding-lek")'),
            "k.py:11: expect names the unknown fault 'padding-lek'; nearest: padding-leak",
        ),
        (good(twin='"abs/rihgt"'), "k.py:11: twin names 'abs/rihgt', which is no case; nearest: "),
        (good(twin='"k"'), "k.py:11: twin names 'k', which is no case"),
        (
            good() + "case = Case(run, Abs(), case.inputs, case.tiles)\n",
            "k.py:12: the variable 'case' holds a second Case; line 10 made one too",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence_with_its_line(
    folder: Path, text: str, sentence: str
) -> None:
    write(folder / "k.py", text)
    [problem] = problems(folder)
    assert problem.startswith(sentence)
    assert "\n" not in problem


def test_the_line_is_that_of_the_case_file_and_not_of_its_helper(folder: Path) -> None:
    write(folder / "_make.py", "from tritaudit import Tile\ndef tile():\n    Tile('B', 'N', 3)\n")
    write(folder / "k.py", "import tritaudit\nfrom _make import tile\n\ntile()\n")
    [problem] = problems(folder)
    assert problem.startswith("k.py:4: Tile 'B' has the size 3")


def test_a_syntax_error_in_a_helper_names_the_helper(folder: Path) -> None:
    write(folder / "_make.py", "\n)\n")
    write(folder / "k.py", "import tritaudit\nimport _make\n")
    assert problems(folder) == ["_make.py:2: unmatched ')'"]


def test_a_missing_third_party_module_skips_the_file(folder: Path) -> None:
    write(folder / "k.py", "import tritaudit\n\nimport flash_attn_of_nowhere.ops\n")
    listing = load(folder)
    assert (listing.cases, listing.problems) == ((), ())
    [skipped] = listing.skipped
    assert skipped.case == "k"
    assert str(skipped) == (
        "k.py:3: needs the module 'flash_attn_of_nowhere', which is not installed"
    )


def test_two_cases_of_one_name_are_a_problem(folder: Path) -> None:
    for name in ("a", "b"):
        write(folder / name / "k.py", good())
    assert problems(folder, "a", "b") == ["b/k.py:10: the case name 'k' is taken by a/k.py:10"]
    assert [c.name for c in load(folder).cases] == ["a/k", "b/k"]


def test_one_file_by_two_targets_is_one_case(folder: Path) -> None:
    write(folder / "a" / "k.py", good())
    assert [c.name for c in load(folder, ".", "a/k.py", "a").cases] in (["a/k"], ["k"])


@pytest.mark.parametrize("twin", ["abs/right", "two", "k:other"])
def test_a_twin_may_be_in_the_catalogue_beside_the_file_or_in_it(folder: Path, twin: str) -> None:
    write(
        folder / "k.py",
        good(twin=f'"{twin}"') + "other = Case(run, Abs(), case.inputs, case.tiles)",
    )
    write(folder / "two.py", good())
    assert problems(folder) == []


def test_a_case_is_loaded_for_a_unit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = write(folder / "sub" / "k.py", good())
    assert load_case(str(path), "case", str(folder)).tiles[0].sizes == (16,)
    assert sys.path[:2] == [str(path.parent), str(folder)]
    with pytest.raises(CatalogueError, match=r"^sub/k\.py: other is not a Case$"):
        load_case(str(path), "other", str(folder))
    write(path, "import tritaudit\n1 / 0\n")
    with pytest.raises(CatalogueError, match=r"^sub/k\.py:2: ZeroDivisionError"):
        load_case(str(path), "case", str(folder))


# --------------------------------------------------------------------------- several cases

MADE = '''
"""Cases that are made."""
from tritaudit import Abs, Case, Tensor

def make(dtype):
    return Case(run=lambda x: x, contract=Abs(), inputs=Tensor("x", "N", dtypes=dtype))

'''


def named(folder: Path, *targets: str) -> list[str]:
    listing = load(folder, *targets)
    assert listing.problems == ()
    return [case.name for case in listing.cases]


def test_cases_in_lists_and_dicts_are_named_after_their_places(folder: Path) -> None:
    text = MADE + (
        'cases = {d: make(d) for d in ("float32", "int8")}\n'
        'others = [make("int16"), make("int32")]\n'
        "case = others[0]\n"
        '_private = [make("bool")]\n'
    )
    write(folder / "made.py", text)
    names = ["made:cases.float32", "made:cases.int8", "made:others.0", "made:others.1"]
    assert named(folder) == names
    assert named(folder, "made.py:cases") == names[:2]
    assert named(folder, "made.py:others.1") == names[3:]
    [case] = load(folder, "made.py:cases.int8").cases
    assert case.target == "made.py:cases.int8"
    loaded = load_case(str(folder / "made.py"), case.variable, str(folder))
    assert loaded.inputs[0].dtypes == ("int8",)


LOOP = """
for d in ("int8", "int16"):
    case = Case(run=lambda x: x, contract=Abs(), inputs=Tensor("x", "N", dtypes=d))
"""


def test_cases_made_in_a_loop_are_all_kept_or_it_is_said(folder: Path) -> None:
    write(folder / "kept.py", f"{MADE}cases = []{LOOP}    cases.append(case)\n")
    assert named(folder) == ["kept:cases.0", "kept:cases.1"]
    write(folder / "lost.py", MADE + LOOP)
    [problem] = problems(folder)
    assert problem.startswith("lost.py:10: the loop leaves only its last Case in 'case'")


def test_a_key_that_is_no_name_is_refused(folder: Path) -> None:
    write(folder / "odd.py", MADE + "cases = {'a b': make('int8')}\n")
    [problem] = problems(folder)
    assert "the key 'a b' of cases is no name for a case" in problem


def test_a_file_that_gets_its_cases_from_a_helper_is_run_with_its_folder(folder: Path) -> None:
    write(folder / "_helper.py", MADE)
    write(folder / "sub" / "one.py", "from _helper import make\ncase = make('int8')\n")
    write(folder / "other.py", "raise RuntimeError('this file has nothing to do with cases')\n")
    assert named(folder) == ["sub/one"]


def test_a_function_in_place_of_a_case_is_told_apart(folder: Path) -> None:
    write(folder / "ops.py", MADE + "case = make('int8')\n")
    [problem] = problems(folder, "ops.py:make")
    assert "make is a function and no Case: say what it promises with --flip AXES" in problem
    [problem] = problems(folder, "pkg.ops:make")
    assert problem.startswith("pkg.ops:make is no case; for a function say what it promises")


def test_a_file_may_skip_itself(folder: Path) -> None:
    write(folder / "right.py", good())
    write(folder / "gpu.py", "from tritaudit import SkipFile\nraise SkipFile('needs a GPU')\n")
    listing = load(folder)
    assert [case.name for case in listing.cases] == ["right"]
    [skipped] = listing.skipped
    assert (skipped.case, skipped.line, skipped.message) == ("gpu", 2, "needs a GPU")


# --------------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('Case(run, Abs(), X, name="x")', "Case takes no argument 'name'; it takes run, contract"),
        ("Case(run, Abs(), X, tile=[])", "Case takes no argument 'tile'; nearest: tiles"),
        ("Case(run)", "Case needs contract and inputs as well"),
        ("Case(run, Abs(), X, run=run)", "Case gets 'run' twice, by position and by name"),
        ("Case(*range(20))", "Case takes 13 arguments at most: run, contract, "),
        ('Tensor("x")', "Tensor needs axes as well"),
        ('Tile("B", "N", size=4)', "Tile takes no argument 'size'; nearest: sizes"),
        ('Flip(axes="N")', "Flip takes its arguments by position, and none named 'axes'"),
        ("Reference(lambda x: x, tol=1)", "Reference takes no argument 'tol'; "),
        ("Case(run, Abs(), 5)", "inputs: expected a Tensor or several, not 5"),
        ('Case(run, Abs(), X, "B")', "tiles: expected a Tile or several, not 'B'"),
        ("Case(run, Abs(), X, scalars=3)", "scalars: expected a Scalar or several, not 3"),
        ("Case(run, Abs(), X, axes=[1])", 'axes: expected bounds by name, as {"N": (0, 512)}'),
        ('Case(run, Abs(), X, axes={"N": 5})', "axes: 'N' has two bounds, as (0, 512) or"),
        ("Case(run, Abs(), X, out_shape=[5])", 'out_shape: expected axes, as "H W", not [5]'),
        ("Case(run, Abs(), X, edges=5)", 'edges: expected sizes by axis, as {"N": 1024}, not 5'),
        ('Case(run, Abs(), X, edges={"N": "a"})', "edges of the axis 'N': expected a size or"),
        ("Case(run, Abs(), X, expect=5)", "expect: expected a fault id or several, not 5"),
        ("Case(run, Abs(), X, twin=5)", "twin is the name of a case, not 5"),
        ('Tensor("x", 5)', "Tensor 'x': expected axes, as \"H W\", not 5"),
        ('Tensor("x", "N", layouts=5)', "layouts of Tensor 'x': expected a layout or several"),
        ('Tile("B", "N", None)', "Tile 'B': expected a size or several, not None"),
        ('Scalar("a", "x")', "values of Scalar 'a': expected a number or several, not 'x'"),
        ('Scalar("a", low="a", high=3)', "Scalar 'a' needs numbers, not 'a'"),
        ('Known("crash", dtypes=5)', "dtypes of Known('crash'): expected a dtype or several"),
        ('Known("crash", triton=5)', "Known('crash', triton=5) is not a version specifier"),
    ],
)
def test_arguments_that_cannot_be_used_are_one_sentence_with_their_line(
    folder: Path, written: str, told: str
) -> None:
    names = "Abs, Case, Flip, Known, Reference, Scalar, Tensor, Tile"
    lines = [f"from tritaudit import {names}", "def run(x): ...", 'X = Tensor("x", "N")', written]
    write(folder / "k.py", "\n".join(lines))
    [problem] = problems(folder, "k.py")
    assert problem.startswith(f"k.py:4: {told}")
    assert "TypeError" not in problem and "__init__" not in problem


def test_a_type_error_of_the_file_itself_is_shown_as_it_is(folder: Path) -> None:
    write(folder / "k.py", "from tritaudit import Case\nlen(5)\n")
    assert problems(folder, "k.py") == ["k.py:2: TypeError: object of type 'int' has no len()"]
