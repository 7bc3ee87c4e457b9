"""The plan of a load: the columns of its rows, their checks, and the write that takes them. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from hoodie.config.operations import Operation
from hoodie.display import counted, size_of
from hoodie.engine import Engine
from hoodie.errors import HoodieError, MissingColumnError, SchemaConflictError, SourceError
from hoodie.schema import reconcile
from hoodie.write.plan import WritePlan
from hudi_services.sources.ingest.checks import RowChecks
from hudi_services.sources.ingest.columns import (
    StoredColumns,
    check_roles,
    check_spellings,
    filled_columns,
    stored_columns,
    untyped_ordering,
)
from hudi_services.sources.ingest.expectations.check import check_columns, expectations
from hudi_services.sources.ingest.expectations.key_check import KeyCheck
from hudi_services.sources.ingest.files.source import FileBatch
from hudi_services.sources.ingest.missing_columns import MissingColumns, check_missing, missing_columns, needed_failure
from hudi_services.sources.ingest.prepare import Prepared
from hudi_services.sources.ingest.quarantine import NoQuarantine
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.row_sample import bad_rows, of_each_file, sampled
from hudi_services.sources.ingest.rows import CheckedSplit
from hudi_services.sources.ingest.shape.shape import Shaping
from hudi_services.sources.ingest.source import Batch
from hudi_services.sources.ingest.typed_columns import cast_text

_MOST_BYTES, _MOST_FILES = 64 << 20, 1_000  # that a look before a load reads


@dataclass(frozen=True)
class PlannedRows:
    """`read` are the columns as they are read, `stored` those of the table, `untyped` ordering columns without a value, `missing`
    those that files lack, and
    `notes` lines about others."""

    read: pa.Schema
    shaping: Shaping
    stored: StoredColumns
    plan: WritePlan
    checks: RowChecks
    untyped: tuple[str, ...]
    missing: MissingColumns
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedLoad:
    """The readable part of a batch; `rows` is None where nothing of it can be read."""

    batch: Batch
    operation: Operation
    rows: PlannedRows | None


def plan_load(request: IngestRequest, prepared: Prepared, engine: Engine, *, headers_only: bool = False) -> PlannedLoad:
    """Read the columns of the batch, which of text files takes a reading of all rows, but for those of `headers_only`.

    Raises SourceError or SchemaConflictError for columns that do not fit, ConfigError for options that do not.
    """
    known, name = prepared.target.columns, request.source.name
    expected = request.shape.expected(known)
    unopened = prepared.batch
    batch: Batch
    if isinstance(unopened, FileBatch):
        batch, delivered = unopened.opened(expected, engine, headers_only=headers_only)
    else:
        batch, delivered = unopened.opened(expected, engine)
    if not batch.items:
        return PlannedLoad(batch, prepared.operation, None)
    operation = batch.operation or prepared.operation
    missing = missing_columns(batch, request.shape, known, operation, prepared.properties)
    check_missing(missing, request.shape.names(known), name, prepared.after.options)
    shaping = request.shape.plan(delivered, known, name)
    check_spellings(shaping.outgoing, name, batch.first_files if isinstance(batch, FileBatch) else {}, known)
    check_roles(shaping.outgoing, name, operation, prepared.properties, _first_file(batch))
    stored = stored_columns(shaping.outgoing, known, prepared.properties, name)
    try:
        plan = prepared.target.plan_write(stored.schema, operation, prepared.after.options, deletions=batch.deletions)
    except SchemaConflictError as error:
        if (
            isinstance(batch, FileBatch)
            and error.fix is not None
            and (cast := _cast(stored.schema, known, request, batch))
        ):
            error.replace_fix(f"{cast}; or {error.fix}; nothing was loaded")
        raise
    check_columns(expectations(request.source), stored.schema)
    untyped = untyped_ordering(shaping.outgoing, known, prepared.properties)
    notes = tuple(batch.notes) if isinstance(batch, FileBatch) else ()
    read, checks = filled_columns(delivered, expected), RowChecks.of_plan(plan)
    rows = PlannedRows(read, shaping, stored, plan, checks, untyped, missing, notes)
    return PlannedLoad(batch, operation, rows)


def _cast(incoming: pa.Schema, known: pa.Schema | None, request: IngestRequest, batch: FileBatch) -> str | None:
    """The file, and the `cast` for the first of its columns that does not fit the table; None for columns of SQL or of nested
    types."""
    for field in known or () if request.shape.sql is None else ():
        if field.name not in incoming.names or pa.types.is_nested(field.type):
            continue
        column = incoming.field(field.name)
        try:
            reconcile(pa.schema([field]), pa.schema([column]))
        except SchemaConflictError:
            (name,) = request.shape.names(pa.schema([field]))
            file = batch.first_files.get(name)
            return f"say `{cast_text(field.name, field.type)}` in the source for {file}, if its values are such"
    return None


def _first_file(batch: Batch) -> str | None:
    return next(iter(batch.columns), None) if isinstance(batch, FileBatch) else None


def checked_splits(batch: Batch, rows: PlannedRows, name: str, engine: Engine) -> list[CheckedSplit]:
    """The rows of a planned batch, from the source of that name, without a quarantine for bad ones."""
    parts = batch.splits(rows.read, rows.plan.tasks(batch.items.bytes, engine.parallelism), rows.plan)
    return [
        CheckedSplit(part, name, rows.shaping, rows.stored.schema, rows.checks, NoQuarantine(), number)
        for number, part in enumerate(parts)
    ]


@dataclass(frozen=True)
class LoadOutlook:
    """The files that a load would take, and warnings about it, which may say that it would fail."""

    batch: Batch
    warnings: tuple[str, ...] = ()


def load_outlook(request: IngestRequest, prepared: Prepared, engine: Engine) -> LoadOutlook:
    """Look at the columns of files, at their values, and at the keys of a table that is not there yet.

    Raises MissingColumnError for a key, partition or ordering column that no row has, RecordKeyError for a key or partition
    column of a type that no load takes, and for a key that would lose rows. Files that cannot be read are warnings: the load
    says what is wrong with them. If the load is larger than a look may read, the headers of its first files are looked at, and
    the first values of some.
    """
    batch = prepared.batch
    if not batch.items or not isinstance(batch, FileBatch):
        return LoadOutlook(batch)
    is_large = batch.items.bytes > _MOST_BYTES or batch.files > _MOST_FILES
    unseen = tuple(_unseen(batch, first=prepared.target.columns is None)) if is_large else ()
    if is_large and batch.source.file_format == "json":
        return LoadOutlook(batch, unseen)
    seen = replace(prepared, batch=batch.first(_MOST_FILES) if is_large else batch)
    try:
        planned = plan_load(request, seen, engine, headers_only=is_large)
    except MissingColumnError:
        raise
    except (HoodieError, OSError) as error:
        return LoadOutlook(batch, (f"the load would fail: {error}", *unseen))
    rows, opened, readable = planned.rows, planned.batch, batch if is_large else planned.batch
    assert isinstance(opened, FileBatch), "as the one that was not opened"
    if rows is None:
        return LoadOutlook(readable, unseen)
    failure = needed_failure(rows.missing, planned.batch, request, planned.operation, prepared.properties)
    fails = (f"the load would fail: {failure}",) if failure is not None else ()
    warnings = (*rows.missing.warnings, *rows.notes, *fails, *unseen)
    if prepared.target.columns is None and not is_large:
        rows.checks.check_types(rows.stored.schema)
    try:
        tried = opened.only(sampled(opened.plan.files)) if is_large else opened
        splits = checked_splits(tried, rows, request.source.name, engine)
        bad = bad_rows(request, of_each_file(splits) if is_large else splits, engine, first=is_large)
        warnings = (*warnings, *([bad] if bad is not None else []))
        if is_large or prepared.target.columns is not None:
            return LoadOutlook(readable, warnings)
        failed = KeyCheck(request.source, splits, rows.plan, engine, first=True).look()
    except (SourceError, OSError) as error:
        return LoadOutlook(readable, (*warnings, f"the load would fail: {error}"))
    return LoadOutlook(readable, (*warnings, str(failed)) if failed is not None else warnings)


def _unseen(batch: FileBatch, *, first: bool) -> Iterator[str]:
    """Lines about what is too large for a look."""
    files = f"{counted(batch.files, 'file')}, {size_of(batch.items.bytes)}"
    if first:
        yield f"the keys were not looked at ({files}); the load refuses those that cannot be"
    if batch.source.file_format == "json":
        yield f"the columns were not looked at ({files})"
    elif batch.files > _MOST_FILES:
        yield f"the columns of the first {_MOST_FILES:,} files were looked at ({files})"
