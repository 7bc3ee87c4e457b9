"""The ingestion: what a source has that is new, in one commit that also remembers the source's position after it."""

from __future__ import annotations

from hoodie.config import KEYGEN_KEYS, WRITE_KEYS, select_keys
from hoodie.config.key import resolve
from hoodie.config.operations import operation_named
from hoodie.config.same_keygen import with_keygen_options
from hoodie.engine import Engine
from hoodie.schema import normalise
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteHooks, WriteResult
from hoodie.write.sizing import input_tasks
from hudi_services.ingest.checks import RowChecks
from hudi_services.ingest.columns import check_roles, settled_columns, untyped_ordering
from hudi_services.ingest.load import Load
from hudi_services.ingest.prepare import prepare
from hudi_services.ingest.quarantine import QuarantineWriter
from hudi_services.ingest.request import IngestRequest
from hudi_services.ingest.rows import CheckedSplit
from hudi_services.ingest.source import Batch
from hudi_services.ingest.target import create_target
from hudi_services.result import ServiceResult, with_services


def run_ingest(request: IngestRequest, engine: Engine) -> ServiceResult:
    """Load what is new. Exactly once: a run that is killed has loaded nothing, and the next one loads the same rows.

    Services that the options ask for follow the commit, and a run without anything new: one that failed is made good by the next
    run.

    Raises HoodieError; the table then stands as before.
    """
    prepared = prepare(request, engine)
    options, batch = prepared.after.options, prepared.batch
    if not batch.items:
        table = prepared.table
        ran = prepared.after.run(TableAccess(table.storage, table.clock, engine)) if table is not None else ()
        message = with_services(f"nothing to do: {batch.reason}", ran)
        return ServiceResult("ingest", message=message, services=ran)
    known = table_schema(prepared.table.state()) if prepared.table is not None else None
    found = batch.schema(known, engine)
    check_roles(found, request.source.name, request.operation, prepared.properties)
    schema = settled_columns(found, known)
    with_types = with_keygen_options(prepared.properties, resolve(select_keys(options, KEYGEN_KEYS), KEYGEN_KEYS))
    checks = RowChecks.of_table(with_types, request.operation)
    checks.check_types(normalise(schema, nulls=True))
    table = prepared.table or create_target(request.base_path, options, engine, prepared.left)
    run = f"run-{table.clock.now():%Y%m%d%H%M%S}-{table.clock.uuid().hex[:8]}"
    quarantine = QuarantineWriter(request.places.quarantine, request.base_path, run)
    chosen = resolve(select_keys(options, WRITE_KEYS), WRITE_KEYS)
    tasks = input_tasks(operation_named(request.operation), chosen, batch.items.bytes, engine.parallelism)
    splits = [
        CheckedSplit(split, request.source.name, schema, checks, quarantine, number)
        for number, split in enumerate(batch.splits(schema, tasks))
    ]
    load = Load(request, prepared, quarantine, untyped_ordering(found, known, prepared.properties))
    try:
        result = table.write(
            splits,
            request.operation,
            options,
            schema=schema,
            hooks=WriteHooks(load.begin, load.before_commit),
        )
    except BaseException:
        load.failed()
        raise
    quarantine.finish(keep_rows=True)
    return _service_result(result, batch, load)


def _service_result(result: WriteResult, batch: Batch, load: Load) -> ServiceResult:
    read, bad = load.rows_read, load.rows_bad
    written = result.rows_inserted + result.rows_updated + result.rows_deleted
    dropped = read - bad - written
    message = f"{result.rows_inserted} rows inserted, {result.rows_updated} updated, {result.rows_deleted} deleted"
    message += f"; {batch.reason}"
    if dropped:
        message += f"; {dropped} rows dropped, as others of their keys are newer or their keys are gone"
    if bad:
        message += f"; {bad} rows quarantined in {load.quarantine.path}"
    return ServiceResult(
        "ingest",
        services=result.services,
        instant=result.instant.time,
        rows_read=read,
        rows_written=written,
        rows_inserted=result.rows_inserted,
        rows_updated=result.rows_updated,
        rows_deleted=result.rows_deleted,
        rows_dropped=dropped,
        rows_quarantined=bad,
        files_read=batch.files,
        bytes_read=batch.items.bytes,
        files_written=result.files_written,
        bytes_written=result.bytes_written,
        message=with_services(message, result.services),
    )
