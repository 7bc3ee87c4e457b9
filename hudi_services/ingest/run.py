"""The ingestion: new files of a folder, in one commit that also remembers them."""

from __future__ import annotations

import pyarrow as pa

from hoodie.config import KEYGEN_KEYS, WRITE_KEYS, select_keys
from hoodie.config.key import resolve
from hoodie.config.operations import operation_named
from hoodie.config.same_keygen import with_keygen_options
from hoodie.config.table import TableProperties
from hoodie.engine import Engine
from hoodie.errors import SourceError
from hoodie.schema import find_field, normalise
from hoodie.storage import open_storage
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteHooks, WriteResult
from hoodie.write.sizing import input_tasks
from hudi_services.ingest.checks import RowChecks
from hudi_services.ingest.load import Load
from hudi_services.ingest.plan import IngestPlan
from hudi_services.ingest.prepare import prepare
from hudi_services.ingest.quarantine import QuarantineWriter
from hudi_services.ingest.readers import file_splits
from hudi_services.ingest.request import IngestRequest
from hudi_services.ingest.schema import FileSchemas
from hudi_services.ingest.target import create_target
from hudi_services.ingest.unite import settled, unite
from hudi_services.result import ServiceResult, with_services


def run_ingest(request: IngestRequest, engine: Engine) -> ServiceResult:
    """Load the new files. Exactly once: a run that is killed has loaded nothing, and the next one loads the same files.

    Services that the options ask for follow the commit, and a run without new files: one that failed is made good by the next
    run.

    Raises HoodieError; the table then stands as before.
    """
    prepared = prepare(request, engine)
    options = prepared.after.options
    if not prepared.plan.files:
        ran = (
            prepared.after.run(TableAccess(prepared.table.storage, prepared.table.clock, engine))
            if prepared.table
            else ()
        )
        message = with_services(f"nothing to do: {prepared.plan.reason}", ran)
        return ServiceResult("ingest", message=message, services=ran)
    known = table_schema(prepared.table.state()) if prepared.table is not None else None
    storage = open_storage(request.source_path)
    look = FileSchemas(storage, request.source_format, known)
    schemas = [schema for found in engine.map(look, [file.path for file in prepared.plan.files]) for schema in found]
    found = unite(schemas, guessed=request.source_format != "parquet")
    _check_roles(found, request, prepared.properties)
    schema = pa.schema([field.with_type(_settled(field, known)) for field in found])
    with_types = with_keygen_options(prepared.properties, resolve(select_keys(options, KEYGEN_KEYS), KEYGEN_KEYS))
    checks = RowChecks.of_table(with_types, request.operation)
    checks.check_types(normalise(schema, nulls=True))
    table = prepared.table or create_target(request.base_path, options, engine, prepared.left)
    run = f"run-{table.clock.now():%Y%m%d%H%M%S}-{table.clock.uuid().hex[:8]}"
    quarantine = QuarantineWriter(request.quarantine_folder, request.base_path, run)
    chosen = resolve(select_keys(options, WRITE_KEYS), WRITE_KEYS)
    tasks = input_tasks(operation_named(request.operation), chosen, prepared.plan.bytes, engine.parallelism)
    splits = file_splits(storage, request.source_format, prepared.plan.files, schema, checks, quarantine, tasks)
    untyped = [name for name in prepared.properties.precombine_fields if _is_untyped(found, known, name)]
    load = Load(request, prepared, quarantine, tuple(untyped))
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
    return _service_result(result, prepared.plan, load)


def _service_result(result: WriteResult, plan: IngestPlan, load: Load) -> ServiceResult:
    read, bad = load.rows_read, load.rows_bad
    written = result.rows_inserted + result.rows_updated + result.rows_deleted
    dropped = read - bad - written
    message = f"{result.rows_inserted} rows inserted, {result.rows_updated} updated, {result.rows_deleted} deleted; {plan.reason}"
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
        files_read=len(plan.files),
        bytes_read=plan.bytes,
        files_written=result.files_written,
        bytes_written=result.bytes_written,
        message=with_services(message, result.services),
    )


def _check_roles(found: pa.Schema, request: IngestRequest, properties: TableProperties) -> None:
    roles = {
        "Record key": properties.record_key_fields,
        "Partition": properties.partition_fields,
        "Ordering": () if request.operation == "delete" else properties.ordering_fields,
    }
    for role, names in roles.items():
        for name in names:
            if find_field(found, name) is None:
                raise SourceError(
                    f"{role} column {name!r} is in none of the source files",
                    found=f"columns {', '.join(found.names)}",
                    fix="correct the option that names it or the source; nothing was loaded",
                )


def _settled(field: pa.Field, known: pa.Schema | None) -> pa.DataType:
    if known is not None and pa.types.is_null(field.type) and field.name in known.names:
        return known.field(field.name).type
    return settled(field.type)


def _is_untyped(found: pa.Schema, known: pa.Schema | None, name: str) -> bool:
    field = find_field(found, name)
    return known is None and field is not None and pa.types.is_null(field.type)
