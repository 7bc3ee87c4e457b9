"""The archiver as a service: it acts at once, in batches under the table's lock."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.groups import ARCHIVE_OPTIONS, OptionGroup
from hoodie.config.options import RawOptions
from hoodie.display import counted
from hoodie.services.archive.execute import ArchiveRun, run_archive
from hoodie.services.archive.plan import ArchivePlan, decide_archive
from hoodie.services.decision import Decision
from hoodie.view import TableState
from hoodie.view.access import TableAccess


@dataclass(frozen=True)
class Archive:
    """Moves old instants from the active timeline to the archive. With `only` those of the plan of this digest
    (`Decision.digest`) and no others."""

    only: str | None = None
    name: str = "archive"
    options: OptionGroup = ARCHIVE_OPTIONS

    def decide(self, state: TableState, options: RawOptions, clock: Clock) -> Decision[ArchivePlan]:
        """See `decide_archive`."""
        return decide_archive(state, options, clock)

    def run(self, access: TableAccess, options: RawOptions) -> ArchiveRun:
        """See `run_archive`."""
        return run_archive(access, options, only=self.only)

    def report(self, run: ArchiveRun) -> tuple[str, str | None]:
        if not run.instants:
            return f"nothing to do: {run.decision.summary}", None
        merged = f"; {run.merged} files of the history merged" if run.merged else ""
        return f"{counted(run.instants, 'instant')} archived{merged}; {run.decision.summary}", run.last


ARCHIVE = Archive()
"""The service `archive`."""
