"""Compiles the kernels of a case: one question, in a process that can be given up.

Some versions of Triton end the process when they are asked for a GPU that they do not know.
"""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from tritaudit.backend import BackendUnavailableError, device, explain_error, is_authors
from tritaudit.calls import case_of
from tritaudit.contracts import form_of
from tritaudit.dtypes import dtype_of
from tritaudit.ir import recorder
from tritaudit.ir.costs import amd_costs, nvidia_costs
from tritaudit.ir.locations import Chain, Row, read
from tritaudit.ir.marks import find_calls, mark, through, with_dim
from tritaudit.ir.model import (
    STAGES,
    Answer,
    Call,
    Compiled,
    Costs,
    Question,
    Refused,
    Target,
)
from tritaudit.model import Case, CaseError, Example

__all__ = ["answer", "costs_of", "forms"]

#: compiled for where there is no GPU.
_USUAL = Target("cuda", "90")
#: elements of an axis that no tile cuts, and tiles on an axis that one does.
_ELEMENTS, _TILES = 128, 8


def answer(question: Question, announce: Callable[[str], None] = lambda label: None) -> Answer:
    """Compile every kernel that a case launches.

    Args:
        announce: called with the number of warps before each compilation, for the case that it
            ends the process.

    Raises:
        CaseError: the question does not fit the case.
        CatalogueError: the case file does not load any more.
    """
    # A kernel of the cache has the places of the file that it was compiled from first, though the
    # same text may stand elsewhere now; and the folder of the cache need not be writable for this.
    with tempfile.TemporaryDirectory(prefix="tritaudit-ir-") as folder:
        os.environ.update(TRITON_CACHE_DIR=folder, TRITON_DISABLE_LINE_INFO="0")
        _spare_linker()
        return _answer(question, announce)


def _answer(question: Question, announce: Callable[[str], None]) -> Answer:
    where = _device()
    target = _target(question)
    recorder.stand_in(target, where)
    request = question.request
    case = case_of(request)
    arguments, keywords, told = _launch(case, question, where)
    kernels, refused = list[Compiled](), list[Refused]()
    for num_warps in question.num_warps or (None,):
        announce(request.case if num_warps is None else f"{request.case} num_warps={num_warps}")
        prepare = partial(_set_dim, dim=question.dim)
        with recorder.recording(num_warps, prepare) as launches:
            try:
                case.run(*arguments, **keywords)
            except CaseError:
                raise
            except (Exception, SystemExit) as error:
                why = explain_error(error)
                refused.append(Refused(num_warps, why.message, why.path, why.line))
        kernels += [_compiled(launch, target) for launch in _distinct(launches)]
    if not kernels and not refused:
        raise CaseError(f"the run of {request.case} launches no kernel")
    return replace(told, target=str(target), kernels=tuple(kernels), refused=tuple(refused))


def _device() -> str:
    """Where tensors are made: on the GPU if there is one, which `run` may ask for."""
    try:
        return device()
    except BackendUnavailableError:
        return "cpu"


def _target(question: Question) -> Target:
    if question.target:
        return Target.parse(question.target)
    return recorder.driver_target() or _USUAL


def _spare_linker() -> None:
    """Let AMD kernels be compiled without ROCm's linker, which Triton 3.2 to 3.4 call.

    It makes the binary from the assembly. Only the assembly is looked at here.
    """
    nothing = shutil.which("true")
    if nothing and not Path("/opt/rocm/llvm/bin/ld.lld").exists():
        os.environ.setdefault("TRITON_HIP_LLD_PATH", nothing)


# --------------------------------------------------------------------------- the launch


def _launch(
    case: Case, question: Question, where: str
) -> tuple[list[torch.Tensor], dict[str, Any], Answer]:
    """What `run` is called with: inputs, keywords, and the choice in words."""
    dtypes = _dtypes(case, question.dtype)
    tiles = {tile.name: dict(question.tiles).get(tile.name, tile.sizes[-1]) for tile in case.tiles}
    sizes = {axis: _size(case, axis, tiles, question) for axis in case.axis_names()}

    def zeros(shape: Iterable[int], dtype: str) -> torch.Tensor:
        return torch.zeros(tuple(shape), dtype=dtype_of(dtype).torch, device=where)

    inputs = {t.name: zeros((sizes[a] for a in t.axes), dtypes[t.name]) for t in case.inputs}
    first = dtypes[case.inputs[0].name]
    scalars = {s.name: s.choices()[0] for s in case.scalars}
    keywords: dict[str, Any] = {**tiles, **scalars}
    if case.takes_out:
        example = Example(
            sizes=tuple(sizes.items()),
            tiles=tuple(tiles.items()),
            scalars=tuple(scalars.items()),
            dtypes=tuple(dtypes.items()),
        )
        keywords["out"] = zeros(*form_of(case, example, inputs))
    told = Answer(
        case=question.request.case,
        target="",
        triton=recorder.version(),
        dtype=first,
        sizes=tuple(sizes.items()),
        tiles=tuple(tiles.items()),
        dim=question.dim,
    )
    return list(inputs.values()), keywords, told


def _dtypes(case: Case, wanted: str) -> dict[str, str]:
    """The dtype of each input: the wanted one where an input may have it, else a familiar one."""
    group = case.inputs[0].dtypes
    known = {dtype for spec in case.inputs for dtype in spec.dtypes}
    out = {}
    for spec in case.inputs:
        usual = next((d for d in ("float32", "int32") if d in spec.dtypes), spec.dtypes[0])
        asked = wanted in spec.dtypes or (wanted not in known and spec.dtypes == group)
        out[spec.name] = wanted if wanted and asked else usual
    return out


def _size(case: Case, axis: str, tiles: dict[str, int], question: Question) -> int:
    given = dict(question.sizes).get(axis)
    if given is not None:
        return given
    low, high = case.bounds(axis)
    cut = [tiles[tile.name] for tile in case.tiles_of(axis)]
    wanted = _TILES * max(cut) if cut else _ELEMENTS
    return max(low, wanted if high is None else min(wanted, high))


def _set_dim(function: Any, dim: int | None) -> None:
    """Give every `tl.flip` of a kernel another axis."""
    if dim is None:
        return
    language = {name for name, v in function.fn.__globals__.items() if v is _language()}
    try:
        source = with_dim(function.src, dim, language)
    except ValueError as error:
        raise CaseError(str(error)) from error
    update = getattr(function, "_unsafe_update_src", None)
    if update is not None:
        update(source)
    else:
        function.src = source  # Triton up to 3.3


def _language() -> Any:
    return sys.modules["triton.language"]


def _distinct(launches: list[recorder.Launch]) -> list[recorder.Launch]:
    """The launches without those that start a kernel again."""
    return list({id(launch.compiled): launch for launch in launches}.values())


# --------------------------------------------------------------------------- what came out


def _compiled(launch: recorder.Launch, target: Target) -> Compiled:
    texts, rows = forms(launch.compiled, target)
    function = launch.function.fn
    path = function.__code__.co_filename
    calls, own = _calls(function, rows)
    inner = through(rows["ttir"], [call for call in calls if call not in own])
    mentions = {
        name: sum("flip" in line.lower() for line in text.splitlines())
        for name, text in texts.items()
    }
    metadata = launch.compiled.metadata
    return Compiled(
        kernel=function.__name__,
        path=path,
        line=function.__code__.co_firstlineno,
        grid=launch.grid,
        arguments=launch.arguments,
        num_warps=int(metadata.num_warps),
        costs=costs_of(launch.compiled, target, texts, rows),
        calls=calls,
        stages=tuple(mark(name, rows[name], calls, mentions[name], inner) for name in rows),
        configurations=launch.configurations,
    )


def forms(compiled: Any, target: Target) -> tuple[dict[str, str], dict[str, list[Row]]]:
    """Each stage as text, and as lines with their places."""
    texts = {name: str(compiled.asm[name]) for name in STAGES if name in compiled.asm}
    texts.pop("sass", None)  # the one without places
    if target.backend == "cuda":
        sass = _tool("nvdisasm", compiled.asm["cubin"], "-c", "-gi")
        if sass:
            texts["sass"] = sass
    rows: dict[str, list[Row]] = {}
    inlined: tuple[Chain, ...] = ()
    for name in (n for n in STAGES if n in texts):
        rows[name] = read(name, texts[name], inlined)
        if name == "llir":
            chains = (chain for row in rows[name] for chain in row.chains if chain)
            inlined = tuple(dict.fromkeys(chains))
    return texts, rows


def costs_of(
    compiled: Any, target: Target, texts: dict[str, str], rows: dict[str, list[Row]]
) -> Costs:
    """The costs of a compiled kernel."""
    shared = int(compiled.metadata.shared)
    if target.backend == "hip":
        return amd_costs(rows["amdgcn"], texts["amdgcn"], shared)
    usage = _tool("cuobjdump", compiled.asm["cubin"], "--dump-resource-usage")
    return nvidia_costs(rows["ptx"], rows.get("sass", []), usage, shared)


def _tool(name: str, cubin: bytes, *options: str) -> str:
    """What a tool of the CUDA toolkit says of a binary, "" where it cannot be run."""
    triton = Path(str(sys.modules["triton"].__file__)).parent
    own = triton / "backends" / "nvidia" / "bin" / name
    program = str(own) if own.exists() else shutil.which(name)
    if program is None:
        return ""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        told = subprocess.run([program, *options, file.name], capture_output=True, text=True)
    return told.stdout if told.returncode == 0 else ""


def _calls(function: Any, rows: dict[str, list[Row]]) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    """The calls of `tl.flip` and `tl.abs` in a kernel and its helpers, and those in itself."""
    path, first = function.__code__.co_filename, function.__code__.co_firstlineno
    lines = range(first, first + len(inspect.getsourcelines(function)[0]))
    places = {p for row in rows["ttir"] for chain in row.chains for p in chain}
    reached = {(p.path, p.line) for p in places if p.path and is_authors(p.path)}
    files = sorted({path, *(file for file, _ in reached)})
    found = [call for file in files for call in find_calls(file)]
    own = tuple(call for call in found if call.path == path and call.line in lines)
    calls = tuple(
        call
        for call in found
        if call in own
        or any((call.path, n) in reached for n in range(call.line, call.end_line + 1))
    )
    return calls, own
