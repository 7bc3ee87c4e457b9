"""Moves old instants from the active timeline of a table to its archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hoodie.engine import Engine
from hoodie.services.archive.plan import ArchivePlan
from hoodie.services.archive.service import ARCHIVE, Archive
from hoodie.services.decision import Decision
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult


@dataclass(frozen=True)
class ArchiveTask:
    """An archival of the table at `base_path`; `options` are its own. With `only` it carries out the plan of this digest and no
    other."""

    base_path: str
    options: Mapping[str, object]
    only: str | None = None

    def explain(self, engine: Engine) -> Decision[ArchivePlan]:
        return HoodieTable.open(self.base_path, engine=engine).explain(ARCHIVE, self.options)

    def run(self, engine: Engine) -> ServiceResult:
        """The result's `instant` is the last one that was archived."""
        result = HoodieTable.open(self.base_path, engine=engine).run(Archive(self.only), self.options)
        message, instant = ARCHIVE.report(result)
        blockers = tuple(blocker.as_dict() for blocker in result.decision.blockers)
        uncounted = ("bytes_read", "bytes_written", "files_written", "files_deleted", "bytes_deleted")
        return ServiceResult("archive", message, instant, blockers=blockers, uncounted=uncounted)

    def work(self, engine: Engine) -> Work:
        return Work(0, "files of the timeline are moved, no row is read")
