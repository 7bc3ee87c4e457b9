"""The ingestion: what a source has that is new, in one commit that also remembers the source's position after it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from hoodie import WriteHooks, WriteResult
from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.errors import DataError, KnownKeyError, RecordKeyError, SchemaConflictError, SourceError
from hudi_services.runtime.result import ServiceResult, with_services
from hudi_services.sources.ingest.expectations.check import check_freshness, check_rows, expectations, judged
from hudi_services.sources.ingest.expectations.key_check import KeyCheck
from hudi_services.sources.ingest.expectations.results import CheckResult, summary
from hudi_services.sources.ingest.load import Load
from hudi_services.sources.ingest.load_plan import PlannedRows, checked_splits, plan_load
from hudi_services.sources.ingest.missing_columns import needed_failure
from hudi_services.sources.ingest.prepare import Prepared, prepare
from hudi_services.sources.ingest.quarantine import QuarantineWriter
from hudi_services.sources.ingest.refusal import forget_refusal, keep_refusal
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.source import Batch, PartialBatch
from hudi_services.sources.ingest.target import StoredTarget

_log = logging.getLogger(__name__)
_OF_DATA = (SourceError, SchemaConflictError, RecordKeyError, DataError, KnownKeyError)
"""Errors of what the source has. Others, such as those of options, are refused before anything is made."""


def run_ingest(request: IngestRequest, engine: Engine) -> ServiceResult:
    """Load what is new. Exactly once: a run that is killed has loaded nothing, and the next one loads the same rows.

    Services that the options ask for follow the commit, and a run without anything new: one that failed is made good by the next
    run.

    Raises HoodieError; the table is then as before. An error of the data is kept for advice, unless the same load may succeed
    later.
    """
    try:
        return _run(request, engine)
    except _OF_DATA as error:
        if not error.retryable:
            keep_refusal(request.places.quarantine, request.base_path, error, datetime.now(UTC))
        raise


def _run(request: IngestRequest, engine: Engine) -> ServiceResult:
    prepared = prepare(request, engine)
    expect, name = expectations(request.source), request.source.name
    fresh = judged(expect, name, check_freshness(request.source, prepared.batch))
    if not prepared.batch.items:
        return _nothing(request, prepared, prepared.batch, fresh)
    planned = plan_load(request, prepared, engine)
    batch, prepared = planned.batch, replace(prepared, batch=planned.batch, operation=planned.operation)
    if planned.rows is None:
        return _nothing(request, prepared, batch, fresh)
    failure = needed_failure(planned.rows.missing, batch, request, planned.operation, prepared.properties)
    if failure is not None:
        raise failure
    for warning in prepared.warnings(planned.operation):
        _log.warning("%s", warning)
    rows, plan, options = planned.rows, planned.rows.plan, prepared.after.options
    rows.checks.check_types(rows.stored.schema)
    stored_at = None
    if isinstance(batch, PartialBatch) and batch.lacks_values and isinstance(prepared.target, StoredTarget):
        stored_at = prepared.target.state
        batch = batch.with_stored(prepared.target.table, stored_at)
    splits = checked_splits(batch, rows, name, engine)
    results = check_rows(expect, splits, rows.stored.schema, engine) if expect.reads_rows else []
    checks = (*fresh, *judged(expect, name, results))
    table = prepared.target.opened(options)
    run = f"run-{table.clock.now():%Y%m%d%H%M%S}-{table.clock.uuid().hex[:8]}"
    quarantine = QuarantineWriter(request.places.quarantine, request.base_path, run)
    first = prepared.target.columns is None
    keys = KeyCheck(request.source, splits, plan, engine, first)
    load = Load(request, prepared, quarantine, rows.untyped, checks, keys, stored_at, plan.non_blocking)
    try:
        result = table.write(
            [replace(split, quarantine=quarantine) for split in splits],
            plan.operation,
            options,
            schema=rows.stored.schema,
            deletions=batch.deletions,
            hooks=WriteHooks(load.begin, load.check_keys, load.before_commit, load.check_position),
        )
    except BaseException:
        load.failed()
        raise
    quarantine.finish(keep_rows=True)
    forget_refusal(quarantine.folder, request.base_path)
    return _service_result(result, batch, load, rows)


def _nothing(request: IngestRequest, prepared: Prepared, batch: Batch, checks: Sequence[CheckResult]) -> ServiceResult:
    table = prepared.table
    forget_refusal(request.places.quarantine, request.base_path)
    ran = prepared.after.run(table.access) if table is not None else ()
    message = with_services("; ".join([f"nothing to do: {batch.reason}", *summary(checks)]), ran)
    return ServiceResult("ingest", message=message, files_skipped=batch.files_skipped, services=ran)


def _kept(ordering: Sequence[str]) -> str:
    """The rows of one key that a load keeps, in words."""
    if ordering:
        return f"the load has rows with their keys whose {', '.join(ordering)} is not lower"
    return "the load has later rows with their keys (the table has no ordering field)"


def _service_result(result: WriteResult, batch: Batch, load: Load, planned: PlannedRows) -> ServiceResult:
    operation = load.prepared.operation
    counts = load.counts
    written = result.rows_inserted + result.rows_updated + result.rows_deleted
    difference = counts.read - counts.filtered - counts.bad - result.rows_combined - result.rows_known - written
    difference = difference if operation.writes else 0  # else rows only name partitions
    message = f"{counted(result.rows_inserted, 'row')} inserted, {result.rows_updated:,} updated, {result.rows_deleted:,} deleted"
    if operation.replaces is not None:
        message += f", {counted(result.groups_replaced, 'file group')} replaced"
    others = (
        (counts.filtered, "filtered by sql"),
        (result.rows_combined, f"dropped as duplicates: {_kept(load.keys.plan.rules.ordering)}"),
        (result.rows_known, "left out: the table has their keys"),
        (difference, "without effect: the table has newer ones of their keys, or none to delete"),
        (-difference, "more than came, as the table has their keys several times"),
        (counts.bad, f"quarantined in {load.quarantine.path}, such as {counts.example}"),
    )
    parts = [message, batch.outcome, *(f"{counted(rows, 'row')} {effect}" for rows, effect in others if rows > 0)]
    parts += summary(load.checks)
    parts += [f"WARNING: {warning}" for warning in (*planned.missing.warnings, *planned.notes)]
    left_out = planned.stored.left_out
    if left_out:
        parts.append(f"left out until a row has a value of a known type: {', '.join(left_out)}")
    return ServiceResult(
        "ingest",
        services=result.services,
        instant=result.instant.time,
        rows_read=counts.read,
        rows_filtered=counts.filtered,
        rows_written=written,
        rows_inserted=result.rows_inserted,
        rows_updated=result.rows_updated,
        rows_deleted=result.rows_deleted,
        rows_duplicate=result.rows_combined + result.rows_known,
        rows_without_effect=max(0, difference),
        rows_repeated=max(0, -difference),
        rows_quarantined=counts.bad,
        files_read=batch.files,
        files_skipped=batch.files_skipped,
        bytes_read=batch.items.bytes,
        files_written=result.files_written,
        bytes_written=result.bytes_written,
        columns_left_out=left_out,
        message=with_services("; ".join(parts), result.services),
    )
