"""All mutants, as text: from the catalogue's right cases by operators, and built ones.

Nothing is run here. A mutant has a name that does not change, is written to a file of that name,
and knows what has to be found in it.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tritaudit.faults import FAULT_IDS
from tritaudit.model import CaseInfo
from tritaudit.selftest.operators import OPERATORS, Plant
from tritaudit.selftest.source import CaseSource

__all__ = [
    "QUICK",
    "QUICK_RIGHT",
    "Mutant",
    "all_mutants",
    "built_mutants",
    "mutants_of",
    "quick",
    "write",
]

BUILT = Path(__file__).parent / "built"
#: how many mutants `--quick` takes, how many of them change nothing, and how many right kernels.
QUICK, QUICK_EQUIVALENT, QUICK_RIGHT = 24, 2, 4


@dataclass(frozen=True, slots=True)
class Mutant:
    """A case file with a known fault.

    Attributes:
        name: the name of its case: `flip/address_remap/index-one-beyond`, `built/vectors:rotated`.
        origin: the right case that was changed; "" for a built one.
        what: what is wrong with it, in a sentence.
        faults, also, why, equivalent: see `operators.Plant`.
        text: the case file. Built mutants of one file share it.
    """

    name: str
    origin: str
    what: str
    faults: tuple[str, ...]
    text: str
    also: tuple[str, ...] = ()
    why: str = ""
    equivalent: str = ""

    @property
    def file(self) -> str:
        """The path of the file below the folder of all mutants."""
        return f"{self.name.partition(':')[0]}.py"

    @property
    def digest(self) -> str:
        """Tells whether the mutant is still the one that was measured."""
        parts = (self.name, self.text, *self.faults, *self.also)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    @property
    def hangs(self) -> bool:
        """Whether a launch does not end."""
        return "timeout" in self.faults


def all_mutants(right: Iterable[CaseInfo]) -> tuple[Mutant, ...]:
    """Every mutant of right cases, and every built one, sorted by name.

    Raises:
        ValueError: two have the same name, or one plants a fault that does not exist.
    """
    found = [m for info in right for m in mutants_of(info)] + list(built_mutants())
    names = [m.name for m in found]
    for mutant in found:
        if names.count(mutant.name) > 1:
            raise ValueError(f"two mutants are named {mutant.name}")
        unknown = {*mutant.faults, *mutant.also} - set(FAULT_IDS)
        if unknown or (not mutant.faults and not mutant.equivalent):
            raise ValueError(f"{mutant.name} plants {', '.join(unknown) or 'nothing'}")
    return tuple(sorted(found, key=lambda m: m.name))


def mutants_of(info: CaseInfo) -> Iterator[Mutant]:
    """What the operators make of one case of the catalogue."""
    source = CaseSource(info.name, Path(info.path).read_text(encoding="utf-8"))
    for operator in OPERATORS:
        plants = list(operator.plants(source))
        for plant in plants:
            name = f"{info.name}/{operator.name}"
            if len(plants) > 1:
                name = f"{name}-{plant.label}"
            yield _mutant(info, name, operator.title, plant)


def _mutant(info: CaseInfo, name: str, what: str, plant: Plant) -> Mutant:
    title = f"Made from {info.name}. {what}"
    return Mutant(
        name=name,
        origin=info.name,
        what=what,
        faults=plant.faults,
        text=plant.source.titled(title).text,
        also=plant.also,
        why=plant.why,
        equivalent=plant.equivalent,
    )


# --------------------------------------------------------------------------- built ones


def built_mutants() -> Iterator[Mutant]:
    """The cases of the folder `built`, in which each definition names its faults."""
    for path in sorted(BUILT.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        what = {
            f.name: (ast.get_docstring(f) or "").partition("\n")[0]
            for f in tree.body
            if isinstance(f, ast.FunctionDef)
        }
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                found = _built(f"built/{path.stem}", node, what, text)
                if found is not None:
                    yield found


def _built(stem: str, node: ast.Assign, what: dict[str, str], text: str) -> Mutant | None:
    """The mutant that `name = helper(run, "fault", ...)` defines; None for other assignments."""
    call, target = node.value, node.targets[0]
    assert isinstance(call, ast.Call)
    if not call.args or not isinstance(call.args[0], ast.Name) or not isinstance(target, ast.Name):
        return None
    if call.args[0].id not in what:
        return None
    keywords = {k.arg: k.value for k in call.keywords}
    faults = tuple(ast.literal_eval(a) for a in call.args[1:])
    return Mutant(
        name=f"{stem}:{target.id}",
        origin="",
        what=what[call.args[0].id],
        faults=faults,
        text=text,
        also=ast.literal_eval(keywords["also"]) if "also" in keywords else (),
        why=ast.literal_eval(keywords["why"]) if "why" in keywords else "",
    )


# --------------------------------------------------------------------------- some of them


def quick(mutants: Sequence[Mutant], seed: int) -> tuple[Mutant, ...]:
    """A sample with a mutant of each fault as far as it goes, the same for the same seed."""
    order = sorted(mutants, key=lambda m: m.name)
    random.Random(seed).shuffle(order)
    # Waiting for a launch that does not end tells little and takes seconds.
    order = [m for m in order if not m.hangs]
    picked = [m for m in order if m.equivalent][:QUICK_EQUIVALENT]
    for fault in FAULT_IDS:
        picked += [m for m in order if m.faults[:1] == (fault,) and m not in picked][:1]
    picked += [m for m in order if m not in picked and not m.equivalent]
    return tuple(sorted(picked[:QUICK], key=lambda m: m.name))


def write(mutants: Iterable[Mutant], folder: Path) -> None:
    """Write the files of mutants below a folder."""
    for file, text in {m.file: m.text for m in mutants}.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
