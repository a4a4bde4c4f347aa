"""`pytest --tritaudit`: case files are collected as tests, one for each case.

Without the option nothing of tritaudit is loaded. With it, cases run in processes of their own, so
that a kernel that crashes is a failed test; torch and triton are not imported into pytest. The
configuration in `[tool.tritaudit]` holds as for `tritaudit run`, and its case folders are collected
besides what pytest is told to collect.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tritaudit.model import CaseInfo, CaseResult
    from tritaudit.pytest_cases import Auditor

_AUDITOR: pytest.StashKey[Auditor] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tritaudit")
    group.addoption(
        "--tritaudit", action="store_true", help="collect tritaudit case files and audit them"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--tritaudit"):
        return
    from tritaudit.pytest_cases import Auditor

    auditor = config.stash[_AUDITOR] = Auditor(config.invocation_params.dir)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args += [str(folder) for folder in auditor.folders if str(folder) not in config.args]


def pytest_unconfigure(config: pytest.Config) -> None:
    auditor = config.stash.get(_AUDITOR, None)
    if auditor is not None:
        auditor.close()


def pytest_report_header(config: pytest.Config) -> str | None:
    auditor = config.stash.get(_AUDITOR, None)
    return None if auditor is None else f"tritaudit: {auditor.described()}"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    collected = yield
    auditor = parent.config.stash.get(_AUDITOR, None)
    if auditor is None or not _may_hold_cases(file_path, parent.config):
        return collected
    # A file that was named on the command line would be imported as tests, too.
    others = [c for c in collected if not isinstance(c, pytest.Module)]
    return [*others, CaseFile.from_parent(parent, path=file_path)]


def _may_hold_cases(path: Path, config: pytest.Config) -> bool:
    """Whether a file is to be loaded: no test module, nothing private, and it names tritaudit."""
    if path.suffix != ".py" or path.name.startswith(("_", ".")) or path.name == "conftest.py":
        return False
    if any(path.match(pattern) for pattern in config.getini("python_files")):
        return False
    try:
        return "tritaudit" in path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


class CaseFile(pytest.File):
    """A file with cases."""

    def collect(self) -> Iterator[pytest.Item]:
        auditor = self.config.stash[_AUDITOR]
        found = auditor.cases_of(self.path)
        if found.problems:
            raise self.CollectError("\n".join(map(str, found.problems)))
        if found.skipped and not found.cases:
            pytest.skip("; ".join(map(str, found.skipped)), allow_module_level=True)
        for info in found.cases:
            yield CaseItem.from_parent(self, name=info.variable, info=info)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, info: CaseInfo, **more: Any) -> None:
        super().__init__(**more)
        self.info = info

    def runtest(self) -> None:
        result = self.config.stash[_AUDITOR].audit(self.info)
        outcome = str(result.outcome)
        if outcome == "skip":
            pytest.skip(result.reason)
        if outcome in ("fail", "stale", "error"):
            raise CaseFailed(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailed):
            return self.config.stash[_AUDITOR].rendered(excinfo.value.result)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.info.line - 1, self.info.name


class CaseFailed(Exception):  # noqa: N818 - a verdict, no error of the program
    """A case that fails, is stale, or could not be judged."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(f"{result.case}: {result.outcome}")
        self.result = result
