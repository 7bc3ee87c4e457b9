"""Erases rows from every file of a table, and from its quarantine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.services.decision import Decision
from hoodie.services.purge.plan import PurgePlan
from hoodie.services.purge.service import Purge
from hoodie.services.purge.subject import KEY, Subject, subject_of
from hoodie.services.stages import QuarantinedRows
from hoodie.table import HoodieTable
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult
from hudi_services.sources.ingest.quarantine_purge import BadRowPurge


@dataclass(frozen=True)
class PurgeTask:
    """Purges the table at `base_path` by `service`, and the bad rows in the folder `quarantine`; `options` are the service's."""

    base_path: str
    quarantine: str
    service: Purge
    options: Mapping[str, object]

    def explain(self, engine: Engine) -> Decision[PurgePlan]:
        table = HoodieTable.open(self.base_path, engine=engine)
        decision = table.explain(self.service, self.options)
        plan = decision.plan
        subject = plan.subject if plan is not None else subject_of(table.state(), self.service.condition)
        return decision.with_stage(QuarantinedRows(self._bad_rows(table, subject).count(), self.quarantine))

    def run(self, engine: Engine) -> ServiceResult:
        table, removed = HoodieTable.open(self.base_path, engine=engine), list[int]()

        def elsewhere(subject: Subject) -> None:
            removed.append(self._bad_rows(table, subject).erase())

        result = table.run(replace(self.service, elsewhere=elsewhere), self.options)
        bad = sum(removed)
        message, instant = self.service.report(result)
        message += f"; {counted(bad, 'bad row')} of the quarantine removed" if bad else ""
        items = result.decision.items if result.decision.plan is not None else None
        leftovers: list[dict[str, Any]] = [
            {"path": file.path, "reason": file.by, "fix": file.fix} for file in result.remaining.removal.held_files
        ]
        leftovers += [{"path": trace.path, "reason": trace.contents, "fix": ""} for trace in result.remaining.unhandled]
        if not result.remaining.is_done:
            leftovers.append({"path": self.base_path, "reason": "rows came back during the run", "fix": "run it again"})
        return ServiceResult(
            self.service.name,
            message,
            instant,
            rows_deleted=result.rows,
            files_deleted=len(items) if items is not None else 0,
            bytes_deleted=items.bytes if items is not None else 0,
            blockers=leftovers,
            acted=items is not None or bool(bad),
        )

    def approved(self, digest: str) -> PurgeTask:
        """The task for a user who has approved the plan of this digest; empty: any plan within the limits."""
        return replace(self, service=replace(self.service, agreed_digest=digest or None))

    def work(self, engine: Engine) -> Work:
        return Work(0, "threads of this process search every file")

    def _bad_rows(self, table: HoodieTable, subject: Subject) -> BadRowPurge:
        keys = frozenset(subject.keys[KEY].to_pylist())
        columns = frozenset(table.properties.record_key_fields)
        return BadRowPurge(self.quarantine, columns, keys, subject.digest[:8], subject.condition)
