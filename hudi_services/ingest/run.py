"""The ingestion: new files of a folder, in one commit that also remembers them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from hoodie.config import CREATE_KEYS, WRITE_KEYS, Service, select_keys
from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.same_keygen import with_keygen_options
from hoodie.config.same_table import check_same_table
from hoodie.config.table import TableProperties
from hoodie.engine import Engine
from hoodie.errors import ConfigError, PendingInstantError, SourceError, TableNotFoundError
from hoodie.schema import find_field
from hoodie.services.after_write import AfterWrite, Place
from hoodie.storage import open_storage
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteHooks, WriteResult
from hoodie.write.sizing import input_tasks
from hudi_services.ingest.checkpoint import KEY, Checkpoint, find_checkpoint
from hudi_services.ingest.places import canonical, check_places
from hudi_services.ingest.plan import IngestPlan, Window, plan_ingest
from hudi_services.ingest.quarantine import QuarantineWriter
from hudi_services.ingest.readers import file_splits
from hudi_services.ingest.schema import FileSchemas
from hudi_services.ingest.source import list_source
from hudi_services.ingest.unite import settled, unite
from hudi_services.result import ServiceResult, with_services


@dataclass(frozen=True)
class IngestRequest:
    """What to load, and how. `max_bad_share` is the greatest tolerated share of rows that go to the quarantine."""

    base_path: str
    source_path: str
    source_format: str
    operation: str = "upsert"
    date_pattern: str | None = None
    window: Window = field(default_factory=Window)
    reload: bool = False
    start_fresh: bool = False
    quarantine_path: str | None = None
    max_bad_share: float = 0.0
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def quarantine_folder(self) -> str:
        """Of all runs."""
        return self.quarantine_path or f"{self.base_path.rstrip('/')}.quarantine"


@dataclass(frozen=True)
class Prepared:
    """The table as it is, or as it will be created, and what the run would load."""

    table: HoodieTable | None
    properties: TableProperties
    checkpoint: Checkpoint
    plan: IngestPlan
    after: AfterWrite  # with the options that are meant for the ingestion and the services after its commit


def prepare(request: IngestRequest, engine: Engine) -> Prepared:
    """Look at the table and the source; changes nothing. Raises HoodieError for whatever does not fit."""
    after = AfterWrite.of(request.options, Service.INGEST)
    if not request.window.is_open and request.date_pattern is None:
        raise ConfigError(
            "A date range needs a date pattern", fix="pass --source-date-pattern, for instance dt=%Y-%m-%d"
        )
    if not 0 <= request.max_bad_share <= 1:  # nan is neither
        raise ConfigError(
            f"The share of bad rows cannot be {request.max_bad_share}", fix="give --max-bad-share a number from 0 to 1"
        )
    quarantine = request.quarantine_folder
    check_places(request.base_path, request.source_path, quarantine)
    own = [canonical(request.base_path), canonical(quarantine)]
    files = list_source(request.source_path, request.source_format, request.date_pattern, own)
    created = select_keys(after.options, CREATE_KEYS)
    table: HoodieTable | None = None
    try:
        opened = HoodieTable.open(request.base_path, engine=engine)
    except TableNotFoundError as error:
        if request.operation == "delete":
            raise TableNotFoundError(error.what, found="nothing to delete from", fix="check the path") from None
        properties = new_table_properties(resolve(created, CREATE_KEYS))
        checkpoint = Checkpoint()
    else:
        table = opened
        state = opened.state()
        properties = state.properties
        wanted = resolve(created, CREATE_KEYS)
        with_keygen_options(properties, wanted)
        check_same_table(properties, wanted)
        checkpoint = find_checkpoint(state, forget=_forgotten(request))
    loaded = checkpoint.loaded(request.source_path)
    plan = plan_ingest(files, loaded, request.window, reload=request.reload)
    return Prepared(table, properties, checkpoint, plan, after)


def run_ingest(request: IngestRequest, engine: Engine) -> ServiceResult:
    """Load the new files. Exactly once: a run that is killed has loaded nothing, and the next one loads the same files.

    Services that the options ask for follow the commit, and a run without new files: one that failed is made good by the next
    run.

    Raises HoodieError; the table then stands as before.
    """
    begun = time.monotonic()
    prepared = prepare(request, engine)
    options = prepared.after.options
    if not prepared.plan.files:
        ran = prepared.after.run(Place(prepared.table.storage, prepared.table.clock, engine)) if prepared.table else ()
        message = with_services(f"nothing to do: {prepared.plan.reason}", ran)
        return ServiceResult("ingest", message=message, services=ran, seconds=time.monotonic() - begun)
    known = table_schema(prepared.table.state()) if prepared.table is not None else None
    storage = open_storage(request.source_path)
    paths = [file.path for file in prepared.plan.files]
    schemas = [
        each for found in engine.map(FileSchemas(storage, request.source_format, known), paths) for each in found
    ]
    found = unite(schemas, guessed=request.source_format != "parquet")
    _check_roles(found, request, prepared.properties)
    schema = pa.schema([field.with_type(_settled(field, known)) for field in found])
    table = prepared.table
    if table is None:
        table = HoodieTable.create(request.base_path, select_keys(options, CREATE_KEYS), engine=engine)
    quarantine = QuarantineWriter(
        request.quarantine_folder, f"run-{table.clock.now():%Y%m%d%H%M%S}-{table.clock.uuid().hex[:8]}"
    )
    properties = prepared.properties
    required = tuple(
        dict.fromkeys(
            (*properties.record_key_fields, *(() if request.operation == "delete" else properties.precombine_fields))
        )
    )
    chosen = resolve(select_keys(options, WRITE_KEYS), WRITE_KEYS)
    tasks = input_tasks(request.operation, chosen, prepared.plan.bytes, engine.parallelism)
    splits = file_splits(storage, request.source_format, prepared.plan.files, schema, required, quarantine, tasks)
    after = prepared.checkpoint.with_files(request.source_path, prepared.plan.files)
    counts: list[int] = []

    def unchanged(state: TableState) -> None:
        now = find_checkpoint(state, forget=_forgotten(request))
        if now != prepared.checkpoint:
            raise PendingInstantError(
                f"Another ingestion committed to {request.base_path} meanwhile",
                fix="run again: what is still new is then loaded",
            )

    def counted() -> Mapping[str, str]:
        read, bad = quarantine.totals()
        if bad > request.max_bad_share * read:
            raise SourceError(
                f"{bad} of {read} rows from {request.source_path} cannot be loaded",
                found=f"more than the allowed share of {request.max_bad_share:.2%}; rows and reasons are in {quarantine.path}",
                fix="repair the source, or allow more with --max-bad-share; nothing was loaded",
            )
        for name in properties.precombine_fields if known is None else ():
            if pa.types.is_null(found.field(name).type):
                raise SourceError(
                    f"Ordering column {name!r} has no value in any of the source files",
                    found="so its type is not known; a table that orders by text would keep 9 rather than 10",
                    fix="run again when there are rows with values; nothing was loaded",
                )
        counts.extend((read, bad))
        return {KEY: after.encode(), **({"hudi_services.quarantine": quarantine.path} if bad else {})}

    try:
        result = table.write(
            splits,
            request.operation,
            options,
            schema=schema,
            hooks=WriteHooks(unchanged, counted),
        )
    finally:
        quarantine.tidy(keep_rows=True)
    return _service_result(result, prepared.plan, counts, quarantine, time.monotonic() - begun)


def _service_result(
    result: WriteResult, plan: IngestPlan, counts: list[int], quarantine: QuarantineWriter, seconds: float
) -> ServiceResult:
    read, bad = counts
    message = f"{result.rows_inserted} rows inserted, {result.rows_updated} updated, {result.rows_deleted} deleted; {plan.reason}"
    if bad:
        message += f"; {bad} rows quarantined in {quarantine.path}"
    return ServiceResult(
        "ingest",
        services=result.services,
        instant=result.instant.time,
        rows_read=read,
        rows_written=result.rows_inserted + result.rows_updated + result.rows_deleted,
        rows_inserted=result.rows_inserted,
        rows_updated=result.rows_updated,
        rows_deleted=result.rows_deleted,
        rows_quarantined=bad,
        files_read=len(plan.files),
        bytes_read=plan.bytes,
        files_written=result.files_written,
        bytes_written=result.bytes_written,
        seconds=seconds,
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


def _forgotten(request: IngestRequest) -> str | None:
    return request.source_path if request.start_fresh else None
