"""The plan of a load: the columns of its rows, their checks, and the write that takes them. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.operations import Operation
from hoodie.display import counted, size_of
from hoodie.engine import Engine
from hoodie.errors import HoodieError, MissingColumnError, SourceError
from hoodie.write.plan import WritePlan
from hudi_services.sources.ingest.checks import RowChecks
from hudi_services.sources.ingest.columns import (
    StoredColumns,
    check_absent,
    check_roles,
    check_spellings,
    filled_columns,
    stored_columns,
    untyped_ordering,
)
from hudi_services.sources.ingest.expectations.check import check_columns, expectations
from hudi_services.sources.ingest.expectations.key_check import KeyCheck
from hudi_services.sources.ingest.files.source import FileBatch
from hudi_services.sources.ingest.prepare import Prepared
from hudi_services.sources.ingest.quarantine import NoQuarantine
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.rows import CheckedSplit
from hudi_services.sources.ingest.shape.shape import Shaping
from hudi_services.sources.ingest.source import Batch

_MOST_BYTES, _MOST_FILES = 64 << 20, 1_000  # that a look before a load reads


@dataclass(frozen=True)
class PlannedRows:
    """`read` are the columns as they are read, `stored` those of the table, `untyped` ordering columns without a value.

    `absent` has the files that lack each column of the table, which is null in their rows.
    """

    read: pa.Schema
    shaping: Shaping
    stored: StoredColumns
    plan: WritePlan
    checks: RowChecks
    untyped: tuple[str, ...]
    absent: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class PlannedLoad:
    """The readable part of a batch; `rows` is None where nothing of it can be read."""

    batch: Batch
    operation: Operation
    rows: PlannedRows | None


def plan_load(request: IngestRequest, prepared: Prepared, engine: Engine) -> PlannedLoad:
    """Read the columns of the batch, which of text files takes a reading of all rows.

    Raises SourceError or SchemaConflictError for columns that do not fit, ConfigError for options that do not.
    """
    known, name = prepared.target.columns, request.source.name
    expected = request.shape.expected(known)
    batch, delivered = prepared.batch.opened(expected, engine)
    if not batch.items:
        return PlannedLoad(batch, prepared.operation, None)
    operation = batch.operation or prepared.operation
    absent: Mapping[str, Sequence[str]] = {}
    if isinstance(batch, FileBatch) and not operation.deletes:
        absent = batch.files_without(request.shape.names(known))
        check_absent(absent, name, prepared.after.options)
    shaping = request.shape.plan(delivered, known, name)
    check_spellings(shaping.outgoing, name, batch.first_files if isinstance(batch, FileBatch) else {})
    check_roles(shaping.outgoing, name, operation, prepared.properties)
    stored = stored_columns(shaping.outgoing, known, prepared.properties, name)
    plan = prepared.target.plan_write(stored.schema, operation, prepared.after.options, deletions=batch.deletions)
    check_columns(expectations(request.source), stored.schema)
    untyped = untyped_ordering(shaping.outgoing, known, prepared.properties)
    read, checks = filled_columns(delivered, expected), RowChecks.of_plan(plan)
    rows = PlannedRows(read, shaping, stored, plan, checks, untyped, absent)
    return PlannedLoad(batch, operation, rows)


def checked_splits(batch: Batch, rows: PlannedRows, name: str, engine: Engine) -> list[CheckedSplit]:
    """The rows of a planned batch, from the source of that name, without a quarantine for bad ones."""
    parts = batch.splits(rows.read, rows.plan.tasks(batch.items.bytes, engine.parallelism), rows.plan)
    return [
        CheckedSplit(part, name, rows.shaping, rows.stored.schema, rows.checks, NoQuarantine(), number)
        for number, part in enumerate(parts)
    ]


def check_first_load(request: IngestRequest, prepared: Prepared, engine: Engine) -> tuple[str, ...]:
    """Check the keys of a table that is not there yet, and return warnings. A table that is there has their types.

    Raises MissingColumnError for a key, partition or ordering column that no row has, RecordKeyError for a key or partition
    column of a type that no load takes, and for a key that would lose rows. Files that cannot be read, and more than a look may
    read, are warnings: the load says what is wrong with them.
    """
    items = prepared.batch.items
    if prepared.target.columns is not None or not items or not prepared.batch.files:
        return ()
    if items.bytes > _MOST_BYTES or prepared.batch.files > _MOST_FILES:
        files = f"{counted(prepared.batch.files, 'file')}, {size_of(items.bytes)}"
        return (f"the keys were not looked at ({files}); the load refuses those that cannot be",)
    try:
        planned = plan_load(request, prepared, engine)
    except MissingColumnError:
        raise
    except (HoodieError, OSError) as error:
        return (f"the load would fail: {error}",)
    rows = planned.rows
    if rows is None:
        return ()
    rows.checks.check_types(rows.stored.schema)
    splits = checked_splits(planned.batch, rows, request.source.name, engine)
    keys = KeyCheck(request.source, splits, rows.plan, engine, first=True)
    try:
        failed = keys.look()
    except (SourceError, OSError) as error:
        return (f"the load would fail: {error}",)
    return (str(failed),) if failed is not None else ()
