"""Audit published Triton libraries with the case files in examples/, and compare with the docs.

    python scripts/audit_libraries.py [--backend interpreter|gpu] [--write]

The libraries are installed from PyPI into build/libraries without their dependencies, so that they
run on the torch and the Triton that are there already. The verdicts are compared with the table of
the backend in docs/libraries.md; `--write` puts them there. Exit codes: 0 they agree, 1 they do
not, else that of `tritaudit run`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "libraries"
PAGE = ROOT / "docs" / "libraries.md"
#: the libraries, and what they import that neither torch nor tritaudit brings.
PACKAGES = (
    "conch-triton-kernels==1.3",
    "fla-core==0.6.0",
    "flag-gems==5.0.2",
    "liger-kernel==0.8.5",
    "einops==0.8.2",
    "pyyaml==6.0.3",
    "sqlalchemy==2.0.48",
)
#: seconds for a case: some of the kernels loop over elements, which the interpreter does slowly.
TIMEOUT = "240"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--backend", choices=("interpreter", "gpu"), default="interpreter")
    parser.add_argument("--write", action="store_true", help="update docs/libraries.md")
    options = parser.parse_args()
    install()
    report, code = audit(options.backend)
    if report is None:
        return code
    rows = table(report)
    if options.write:
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), options.backend, rows))
        return 0
    return compare(rows, options.backend)


def install() -> None:
    """Install the packages, unless just these are there."""
    stamp = FOLDER / "packages.txt"
    wanted = "\n".join(PACKAGES)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--upgrade", "--target", str(FOLDER), *PACKAGES], check=True)
    stamp.write_text(wanted)


def audit(backend: str) -> tuple[dict[str, Any] | None, int]:
    """Run the case files; the JSON report (None if there is none) and the exit code."""
    path = FOLDER / f"report-{backend}.json"
    path.unlink(missing_ok=True)
    search = os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "tritaudit", "run", "examples", "--backend", backend]
    command += ["--timeout", TIMEOUT, "--report", f"json={path}"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": search})
    if not path.is_file():
        return None, done.returncode
    return json.loads(path.read_text(encoding="utf-8")), done.returncode


# --------------------------------------------------------------------------- the table


def table(report: dict[str, Any]) -> list[str]:
    """One row a case: name, verdict, faults with their smallest examples."""
    rows = ["| case | verdict | faults, each with its smallest example |", "|---|---|---|"]
    for result in report["results"]:
        name = result["case"].replace(":cases.", " · ")
        faults = [f"`{f['fault']}` {label(f)}" for f in result["findings"]]
        remark = "; ".join(faults) or (result["reason"] if result["outcome"] == "skip" else "")
        rows.append(f"| {name} | {result['outcome']} | {remark} |")
    return rows


def label(finding: dict[str, Any]) -> str:
    example = finding["example"]
    sizes = " ".join(f"{axis}={size}" for axis, size in example["sizes"].items())
    return f"{sizes} {finding['dtype']}"


def section(backend: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- verdicts: {backend} -->\n).*?(<!-- end -->)", re.DOTALL)


def replaced(text: str, backend: str, rows: list[str]) -> str:
    """The page with another table."""
    return section(backend).sub(lambda m: "\n".join([m[1], *rows, "", m[2]]), text)


def compare(rows: list[str], backend: str) -> int:
    """Say where verdicts or faults differ from those of the page, if it has a table of them."""
    found = section(backend).search(PAGE.read_text(encoding="utf-8"))
    if found is None:
        print("\n".join(rows))  # noqa: T201
        return 0
    there, here = facts(found[0].splitlines()), facts(rows)
    for name in sorted(there.keys() | here.keys()):
        if there.get(name) != here.get(name):
            print(f"{name}: {here.get(name)}; docs/libraries.md says {there.get(name)}")  # noqa: T201
    return int(there != here)


def facts(rows: list[str]) -> dict[str, tuple[str, ...]]:
    """The verdict and the faults of each case in a table, without the examples."""
    out = {}
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) == 3 and cells[1] not in ("verdict", "---"):
            out[cells[0]] = (cells[1], *re.findall(r"`([a-z-]+)`", cells[2]))
    return out


if __name__ == "__main__":
    sys.exit(main())
