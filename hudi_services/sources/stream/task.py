"""Brings a table up to its source, batch by batch: what the flags ask for, explained or done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from hoodie.config.groups import INGEST_OPTIONS
from hoodie.config.keys.write import EMPTY_OVERWRITE
from hoodie.config.properties.table import TableProperties
from hoodie.engine import Engine
from hoodie.errors import ConfigError
from hoodie.services.decision import Decision
from hoodie.services.inline import InlineServices
from hoodie.table import HoodieTable
from hudi_services.entry.call import Call
from hudi_services.entry.size_estimate import Work
from hudi_services.runtime.result import ServiceResult
from hudi_services.sources.ingest.changes.source import EARLIEST, TableSource
from hudi_services.sources.ingest.history import with_history
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.rounds import Pace, Rounds
from hudi_services.sources.ingest.source import Batch
from hudi_services.sources.ingest.target import find_target
from hudi_services.sources.ingest.task import IngestTask, ingest_task
from hudi_services.sources.ingest.work import ingest_work
from hudi_services.sources.stream.consumer import SourceHold
from hudi_services.sources.stream.options import CHANGES, SAME


@dataclass(frozen=True)
class StreamTask:
    """The stream of `request`."""

    request: IngestRequest
    pace: Pace
    tell: Callable[[str], None]
    unique_keys: bool = False

    def explain(self, engine: Engine) -> Decision[Batch]:
        """The next batch."""
        return IngestTask(self.target(engine)[1]).explain(engine)

    def run(self, engine: Engine) -> ServiceResult:
        name, request = self.target(engine)
        source = request.source
        hold = SourceHold(source.path, name) if isinstance(source, TableSource) else None
        return Rounds("stream", request, self.pace, self.tell, hold).run(engine)

    def work(self, engine: Engine) -> Work:
        return ingest_work(self.target(engine)[1], engine)

    def target(self, engine: Engine) -> tuple[str, IngestRequest]:
        """The name of the target, and the request with what the target says. Raises ConfigError where changes do not fit."""
        request, source = self.request, self.request.source
        options = InlineServices.of(request.options, INGEST_OPTIONS).options
        target = find_target(request.base_path, request.operation, options, engine).properties
        if not isinstance(source, TableSource):
            return target.name, request
        if source.changes:
            _check_applicable(HoodieTable.open(source.path).properties, target, unique_keys=self.unique_keys)
        placed_by = (*target.record_key_fields, *target.partition_fields)
        return target.name, replace(request, source=replace(source, placed_by=placed_by))


def _check_applicable(source: TableProperties, target: TableProperties, *, unique_keys: bool) -> None:
    """Raises ConfigError where changes of `source` would be lost in `target`, or hit other rows there."""
    _check_ordering(source, target)
    _check_keys(source, target)
    placed_by = {*target.record_key_fields, *target.partition_fields}
    unplaced = [name for name in source.partition_fields if name not in placed_by]
    if unplaced and not unique_keys:
        raise ConfigError(
            f"Table {target.name} cannot take the changes of table {source.name} by its partitions",
            found=f"{', '.join(unplaced)} neither in the record key nor in the partitions: if a key is in two partitions of the "
            "source, a deletion of one row would delete the other one",
            fix="add it to `keys`, or say `unique_keys: true` (`--unique-keys`) if each key is in one partition at every moment",
        )


def _check_ordering(source: TableProperties, target: TableProperties) -> None:
    ordering = target.merge_ordering_fields or target.precombine_fields
    if ordering:
        raise ConfigError(
            f"Table {target.name} cannot take the changes of table {source.name} by its ordering columns",
            found=f"ordering by {', '.join(ordering)}: it would drop a change whose value is lower, though "
            "the source has decided which row is valid",
            fix="create it without ordering columns (`keys.ordering`), or follow only rows (`read: rows`, `--read rows`)",
        )


def _check_keys(source: TableProperties, target: TableProperties) -> None:
    keys = source.record_key_fields
    missing = [name for name in keys if name not in target.record_key_fields]
    if missing or not keys:
        raise ConfigError(
            f"Table {target.name} cannot take the changes of table {source.name} by its keys",
            found=f"record key {', '.join(target.record_key_fields) or 'none'}, and {', '.join(keys) or 'none'} in the source: a "
            "deletion could hit rows of other keys",
            fix="name the record key columns of the source among those of the target (`keys.record_key`), or follow only rows "
            "(`read: rows`, `--read rows`)",
        )


def stream_task(
    call: Call,
    source_table: str | None,
    read: str,
    start: str | None,
    max_commits: int | None,
    max_bytes: int | None,
    on_data_loss: str,
    once: bool,
    lasting: float | None,
    history: str,
    unique_keys: bool,
    operation: str | None,
    source_topic: str | None = None,
    **of_ingest: Any,
) -> StreamTask:
    """Make the stream that the flags and options ask for. Raises ConfigError where they contradict each other."""
    if once and lasting is not None:
        raise ConfigError("--once contradicts --for", fix="keep one of them")
    topic_table = None
    if source_topic is not None:
        topic_table, source_table = source_table, None
    if source_table is not None and of_ingest["source_path"] is not None:
        raise ConfigError(
            "--source-table contradicts --source-path", fix="follow a table, or load the files of a folder"
        )
    if source_table is None and (start is not None or max_commits is not None or max_bytes is not None):
        raise ConfigError(
            "--start, --max-commits and --max-bytes are for commits",
            found="no --source-table",
            fix="name the table, or leave them out",
        )
    if source_table is not None and read == CHANGES and operation not in (None, "upsert"):
        raise ConfigError(
            f"Changes are not applied by {operation}",
            found="they have updates and deletes, which an upsert applies",
            fix="leave --operation out, or follow only rows: --read rows",
        )
    call = replace(call, options={EMPTY_OVERWRITE.name: "true", **call.options})
    if source_table is not None:
        of_ingest["source_path"] = source_table
    task = ingest_task(
        call, operation=operation, source_date_pattern=None, start=None, end=None, reload=False, reload_since=None,
        files=(), then_stream=None, source_topic=source_topic, source_table=topic_table, **of_ingest,
    )  # fmt: skip
    first = None if history == SAME or source_topic is not None else history
    request = with_history(task.request, first, unique_keys=source_table is not None)
    if source_table is not None:
        source = TableSource(
            source_table,
            changes=read == CHANGES,
            start=start or EARLIEST,
            max_commits=max_commits,
            max_bytes=max_bytes,
            on_data_loss=on_data_loss,
        )
        request = replace(request, source=source)
    pace = Pace(once, None if lasting is None else timedelta(minutes=lasting))
    return StreamTask(request, pace, call.tell, unique_keys)
