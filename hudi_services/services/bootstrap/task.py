"""Takes over a table of plain Parquet or ORC files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hoodie.clock import SystemClock
from hoodie.config.keys.bootstrap import FULL_RECORD, METADATA_ONLY
from hoodie.display import counted, size_of
from hoodie.engine import Engine
from hoodie.errors import SourceError
from hoodie.services.bootstrap import (
    BootstrapPlan,
    BootstrapRequest,
    BootstrapResult,
    Validation,
    preflight,
    run_bootstrap,
    validate_bootstrap,
)
from hoodie.services.decision import Decision
from hoodie.services.stages import BootstrapScope, Item, Items
from hoodie.storage import walk_files
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult

_SHOWN = 200  # partitions that are printed


@dataclass(frozen=True)
class BootstrapTask:
    """The bootstrap of `request`; `step` is `preflight`, `bootstrap`, `validate`, or `all` for the last two.

    `tell` is given what people should know: notes of the plan, and how each partition compares with its source.
    """

    request: BootstrapRequest
    step: str
    tell: Callable[[str], None]

    def explain(self, engine: Engine) -> Decision[BootstrapPlan]:
        return _decision(preflight(self.request, engine))

    def run(self, engine: Engine) -> ServiceResult:
        messages: list[str] = []
        plan: BootstrapPlan | None = None
        result: BootstrapResult | None = None
        if self.step == "preflight":
            plan = preflight(self.request, engine)
            self._tell_notes(plan)
            messages.append(_refused(plan))
        if self.step in ("all", "bootstrap"):
            result = run_bootstrap(self.request, SystemClock(), engine)
            plan = result.plan
            self._tell_notes(plan)
            messages.append(_summary(result))
        if self.step in ("all", "validate"):
            messages.append(self._validated(validate_bootstrap(self.request, SystemClock(), engine)))
        return ServiceResult(
            "bootstrap",
            message="; ".join(messages),
            instant=result.instant if result is not None and not result.repeated else None,
            rows_read=plan.rows if plan else 0,
            rows_written=result.rows if result else 0,
            rows_inserted=result.rows if result else 0,
            files_read=len(plan.files) if plan else 0,
            bytes_read=plan.bytes_read if plan else 0,
            files_written=result.files_written if result else 0,
            bytes_written=result.bytes_written if result else 0,
        )

    def work(self, engine: Engine) -> Work:
        sizes = [file.size for file in walk_files(self.request.source, "")]
        return Work(sum(sizes), f"{counted(len(sizes), 'file')} of {size_of(sum(sizes))} in the source")

    def _tell_notes(self, plan: BootstrapPlan) -> None:
        for note in plan.notes:
            self.tell(f"note: {note}")

    def _validated(self, checks: Validation) -> str:
        names = sorted(checks.source.keys() | checks.table.keys())
        for name in names[:_SHOWN]:
            source, table = checks.source.get(name), checks.table.get(name)
            rows, checksum = (source.rows, source.checksum) if source else (0, 0)
            same = "equal" if source == table else f"DIFFERENT: the table has {table}"
            self.tell(f"  {name or '(all)'}: {rows:,} rows, checksum {checksum:016x}: {same}")
        if len(names) > _SHOWN:
            self.tell(f"  … and {len(names) - _SHOWN} more")
        if checks.different:
            raise SourceError(
                f"Table {self.request.base_path} differs from its source in {len(checks.different)} of {len(names)} partitions",
                found=", ".join(checks.different[:5]),
                fix="do not switch over; delete the table, and bootstrap it again when the source is at rest",
            )
        return f"{counted(checks.rows, 'row')} in {counted(len(names), 'partition')} have the checksums of the source"


def _refused(plan: BootstrapPlan) -> str:
    if plan.problems:
        raise SourceError(
            f"The source {plan.source} cannot be bootstrapped",
            found="; ".join(plan.problems),
            fix="correct it and run again; nothing was written",
        )
    return (
        f"{len(plan.files)} files with {plan.rows:,} rows in {plan.partitions} partitions can be taken over; all of them as "
        f"METADATA_ONLY would write about {plan.skeleton_bytes:,} bytes, as FULL_RECORD {plan.full_bytes:,}"
    )


def _summary(result: BootstrapResult) -> str:
    if result.repeated:
        return "bootstrapped already by an earlier run"
    return (
        f"{len(result.plan.files)} source files with {result.rows:,} rows taken over; {result.files_written} files of "
        f"{result.bytes_written:,} bytes written"
    )


def _decision(plan: BootstrapPlan) -> Decision[BootstrapPlan]:
    """The decision on a bootstrap: what it would do, file by file, and what prevents it."""
    scope = BootstrapScope(
        plan.source,
        plan.problems,
        plan.notes,
        plan.rows,
        plan.partitions,
        plan.layout,
        plan.inside,
        plan.outside,
        schema={field.name: str(field.type) for field in plan.schema or ()},
        bytes_read={METADATA_ONLY: plan.key_bytes, FULL_RECORD: plan.key_bytes + plan.bytes},
        bytes_written={METADATA_ONLY: plan.skeleton_bytes, FULL_RECORD: plan.full_bytes},
    )
    files = tuple(Item(file.info.path, file.info.size, file.mode, {"rows": file.rows}) for file in plan.files)
    why = "refused" if plan.problems else "no obstacle"
    return Decision(None if plan.problems else plan, why, (scope, Items("take over", files, plan.bytes)))
