"""What the pytest plugin does once it is asked for: lists case files and audits cases."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tritaudit.catalogue import NO_CASE, Listing
from tritaudit.commands import Usage
from tritaudit.commands.runoptions import RunOptions
from tritaudit.commands.session import open_backend
from tritaudit.commands.settings import backend_of, plan_of
from tritaudit.config import load
from tritaudit.forkserver import BackendError
from tritaudit.model import CaseInfo, CaseResult
from tritaudit.supervisor import Supervisor
from tritaudit.testing import rendered, run_one

__all__ = ["Auditor"]


class Auditor:
    """One for a session of pytest. The backend starts with the first file.

    Args:
        start: the folder where pytest was started; its configuration holds.

    Raises:
        pytest.UsageError: the configuration cannot be used.
    """

    def __init__(self, start: Path) -> None:
        try:
            self._settings = load(start)
            self._plan = plan_of(RunOptions(), self._settings, ())
        except (Usage, ValueError) as error:
            raise pytest.UsageError(str(error)) from error
        folders = (self._settings.folder / case for case in self._settings.cases)
        #: case folders of the configuration.
        self.folders = tuple(folder for folder in folders if folder.is_dir())
        self._open = ExitStack()
        self._supervisor: Supervisor | None = None
        self._listings: dict[Path, Listing] = {}

    def close(self) -> None:
        """End all processes."""
        self._open.close()

    def described(self) -> str:
        """Profile and seed, in a few words."""
        return f"profile {self._plan.profile}, seed {self._plan.seed}"

    def cases_of(self, path: Path) -> Listing:
        """The cases of a file, named as `tritaudit run` names them."""
        folder = next((f for f in self.folders if path.is_relative_to(f.resolve())), path)
        if folder not in self._listings:
            self._listings[folder] = self._backend().list_cases([str(folder)])
        listing, own = self._listings[folder], str(path)
        return Listing(
            tuple(c for c in listing.cases if c.path == own),
            tuple(p for p in listing.problems if _is_of(p.path, path) and p.message != NO_CASE),
            tuple(s for s in listing.skipped if _is_of(s.path, path)),
        )

    def audit(self, info: CaseInfo) -> CaseResult:
        """The verdict on a case."""
        return run_one(self._backend(), info, self._plan)

    def rendered(self, result: CaseResult) -> str:
        """What a failed test shows."""
        return rendered(result)

    def _backend(self) -> Supervisor:
        if self._supervisor is None:
            choice = backend_of(None, self._settings)
            try:
                self._supervisor = self._open.enter_context(open_backend(choice))
            except BackendError as error:
                raise pytest.UsageError(f"tritaudit: {error}") from error
        return self._supervisor


def _is_of(shown: str, path: Path) -> bool:
    """Whether a problem is of a file. A problem without a path is of whatever was asked for."""
    return not shown or (Path.cwd() / shown).resolve() == path
