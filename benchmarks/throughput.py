"""Measures tritaudit's own overhead, in one run, on the backend that this process has.

    python benchmarks/throughput.py [--catalogue] [--json PATH]     on a GPU
    TRITON_INTERPRET=1 python benchmarks/throughput.py              on the interpreter

Printed as a Markdown table: bare launches of the same examples, examples checked in batches and one
by one, a plain Hypothesis loop with a torch comparison, every bit pattern of abs, and (with
--catalogue, on a GPU) the whole catalogue with an empty and with a warm compile cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tritaudit import exhaustive, generate
from tritaudit.backend import current, device, prepare, triton_version
from tritaudit.catalogue import load_case
from tritaudit.examine import Counter, examine
from tritaudit.fleet import Fleet
from tritaudit.model import Backend, Case, Example

CASES = Path(__file__).resolve().parents[1] / "cases"


def catalogue_case(name: str) -> Case:
    """A case of the catalogue by its name."""
    return load_case(str(CASES / f"{name}.py"), "case", str(CASES))


def wait() -> None:
    """Wait for the device."""
    if device() != "cpu":
        torch.accelerator.synchronize()


def rate(work: Callable[[], int], repeats: int) -> float:
    """Median of how many things per second `work` does; it returns how many it did."""
    work()
    wait()
    rates = []
    for _ in range(repeats):
        start = time.perf_counter()
        done = work()
        wait()
        rates.append(done / (time.perf_counter() - start))
    return median(rates)


def a_few_hundred_elements(case: Case, count: int) -> list[list[Example]]:
    """Batches of a one-dimensional case whose inputs have some hundred elements."""
    groups = []
    for group in generate.fleets(case):
        first = group[0]
        if 64 <= first.sizes[0][1] <= 1024 and first.layouts[0][1] == "contiguous":
            groups.append(group)
        if sum(len(g) for g in groups) >= count:
            break
    return groups


def bare(case: Case, groups: list[list[Example]]) -> Callable[[], int]:
    """Launches of the same examples with nothing around them."""
    prepared = []
    for group in groups:
        e = group[0]
        x = torch.zeros(e.sizes[0][1], dtype=getattr(torch, e.dtype()), device=device())
        prepared.append((len(group), x, torch.zeros_like(x), dict(e.tiles)))

    def work() -> int:
        for count, x, out, tiles in prepared:
            for _ in range(count):
                case.run(x, out=out, **tiles)
        return sum(p[0] for p in prepared)

    return work


def in_batches(case: Case, groups: list[list[Example]]) -> Callable[[], int]:
    """The same examples checked as the search does it."""

    def work() -> int:
        fleet = Fleet(case, lambda example: None)
        for group in groups:
            for flagged in fleet.send(group):
                raise SystemExit(f"a right kernel was flagged: {flagged[0]}")
        for flagged in fleet.settle():
            raise SystemExit(f"a right kernel was flagged: {flagged[0]}")
        return fleet.examples

    return work


def one_by_one(case: Case, groups: list[list[Example]], most: int) -> Callable[[], int]:
    """The same examples, each examined by itself."""
    examples = [e for group in groups for e in group][:most]

    def work() -> int:
        for example in examples:
            examine(case, example, Counter())
        return len(examples)

    return work


def plain_hypothesis(case: Case, most: int) -> Callable[[], int]:
    """What one would write by hand: draw a size and a seed, launch, compare with torch."""
    tile = case.tiles[0].sizes[1]

    @settings(
        max_examples=most,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(n=st.integers(1, 1024), seed=st.integers(0, 2**31))
    def loop(n: int, seed: int) -> None:
        generator = torch.Generator(device=device()).manual_seed(seed)
        x = torch.randn(n, device=device(), generator=generator)
        out = torch.empty_like(x)
        case.run(x, out=out, BLOCK=tile)
        torch.testing.assert_close(out, torch.flip(x, (0,)))

    def work() -> int:
        loop()
        return most

    return work


def whole_catalogue(jobs: int) -> list[tuple[str, str]]:
    """Seconds of `tritaudit run` with an empty and with a warm cache of compiled kernels."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRITON_CACHE_DIR": folder}
        command = [sys.executable, "-m", "tritaudit", "run", "--backend", "gpu"]
        command += ["--jobs", str(jobs), "--timeout", "200"]
        for label in ("cold", "warm"):
            start = time.perf_counter()
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            seconds = time.perf_counter() - start
            rows.append((f"whole catalogue, {label}, {jobs} jobs", f"{seconds:.1f} s"))
            rows.append(("exit code", str(done.returncode)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--catalogue", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json")
    options = parser.parse_args()
    prepare()
    gpu = current() is Backend.GPU
    case = catalogue_case("flip/address_remap")
    groups = a_few_hundred_elements(case, 4000 if gpu else 80)
    most = 400 if gpu else 40
    rows = [
        ("bare launches", f"{rate(bare(case, groups), 5):,.0f} /s"),
        ("checked in batches", f"{rate(in_batches(case, groups), 5):,.0f} /s"),
        ("checked one by one", f"{rate(one_by_one(case, groups, most), 3):,.0f} /s"),
        ("plain Hypothesis loop", f"{rate(plain_hypothesis(case, most), 3):,.0f} /s"),
    ]
    bits = 32 if gpu else 16
    for name in ("abs/vector", "abs/vector_int"):
        subject = catalogue_case(name)
        for dtypes in exhaustive.choices(subject):
            if sum(generate.dtype_of(d).bits for _, d in dtypes) == bits:
                rows.append((name, exhaustive.every_pattern(subject, dtypes).sentence()))
    if options.catalogue:
        rows += whole_catalogue(options.jobs)
    where = torch.cuda.get_device_name() if gpu else "interpreter"
    sys.stdout.write(f"{where}, triton {triton_version()}, torch {torch.__version__}\n\n")
    sys.stdout.write("| what | measured |\n|---|---|\n")
    sys.stdout.writelines(f"| {a} | {b} |\n" for a, b in rows)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
