"""Procedures of the other services: archival, TTL, Hive sync, bootstrap, and of whole partitions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from hoodie.clock import SystemClock
from hoodie.config.keys import archive as archive_keys
from hoodie.config.keys import bootstrap as bootstrap_keys
from hoodie.config.keys import clean as clean_keys
from hoodie.config.keys import sync as sync_keys
from hoodie.config.keys import ttl as ttl_keys
from hoodie.engine import LocalEngine
from hoodie.errors import SqlError
from hoodie.services.archive.service import ARCHIVE
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.services.sync import SYNC
from hoodie.services.ttl.service import TTL
from hoodie.sql.catalog import Entry
from hoodie.sql.names import TableName, checked_name
from hoodie.sql.procedures.procedure import (
    FLAG,
    INT,
    LONG,
    TABLE,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
)

_CAPS = "a run that would drop more than hoodie.delete.max.* allow stops"
_FULL = "FullRecordBootstrapModeSelector"
_LEFT_OUT = {  # what a bootstrap here has no use for, with the values that say nothing
    "schema_provider_class": "",
    "props_file_path": "",
    "enable_hive_sync": False,
    "bootstrap_overwrite": False,
}


def _archive(call: Call) -> Iterator[tuple[int]]:
    options = {
        archive_keys.MIN_COMMITS.name: call["min_commits"],
        archive_keys.MAX_COMMITS.name: call["max_commits"],
        clean_keys.COMMITS_RETAINED.name: call["retain_commits"],
    }
    call.table.run(ARCHIVE, call.options(options))
    yield (0,)


def _ttl(call: Call) -> Iterator[tuple[str]]:
    options = {ttl_keys.STRATEGY.name: call["ttl_policy"], ttl_keys.DAYS_RETAINED.name: call["retain_days"]}
    run = call.table.run(TTL, call.options(options))
    if run.commit is not None and run.decision.plan is not None:
        yield from ((partition,) for partition in run.decision.plan.partitions)


def _sync(call: Call) -> Iterator[tuple[str]]:
    options = {
        sync_keys.METASTORE_URIS.name: call["metastore_uri"],
        sync_keys.USERNAME.name: call["username"],
        sync_keys.PASSWORD.name: call["password"],
        sync_keys.USE_JDBC.name: call["use_jdbc"],
        sync_keys.MODE.name: call["mode"],
        sync_keys.PARTITION_FIELDS.name: call["partition_fields"],
        sync_keys.EXTRACTOR.name: call["partition_extractor_class"],
        sync_keys.STRATEGY.name: call["strategy"],
        sync_keys.INCREMENTAL.name: call["sync_incremental"],
    }
    call.table.run(SYNC, call.options({name: value or None for name, value in options.items()}))
    yield ("Success",)


def _bootstrap(call: Call) -> Iterator[tuple[int]]:
    for option, nothing in _LEFT_OUT.items():
        if call[option] != nothing:
            raise SqlError(
                f"A bootstrap here has no {option}", found=str(call[option])[:100], fix=f"leave {option} out"
            )
    name = TableName(call.session.database, checked_name(call["table"], "table"))
    entry = Entry(name, call["base_path"], managed=False)
    existing = call.session.catalog.find(name)
    if existing is None:
        call.session.catalog.location_of(name, entry.location)
    if existing is not None and existing.location != entry.location:
        raise SqlError(f"There is a table {name} at another path", found=existing.location, fix="choose another name")
    table = {
        "hoodie.table.name": name.name,
        "hoodie.table.type": call["table_type"],
        "hoodie.datasource.write.recordkey.field": call["rowKey_field"],
        "hoodie.datasource.write.partitionpath.field": call["partition_path_field"],
    }
    mode = bootstrap_keys.FULL_RECORD if call["selector_class"].endswith(_FULL) else bootstrap_keys.METADATA_ONLY
    options = {
        bootstrap_keys.SOURCE.name: call["bootstrap_path"],
        bootstrap_keys.SOURCE_FORMAT.name: call["base_file_format"].upper(),
        bootstrap_keys.MODE.name: mode,
        bootstrap_keys.PARALLELISM.name: call["parallelism"],
    }
    properties = {key: value for key, value in table.items() if value}
    run_bootstrap(BootstrapRequest(entry.location, properties, options), SystemClock(), LocalEngine())
    if existing is None:
        call.session.catalog.remember(entry)
    yield (0,)


def _drop(call: Call) -> Iterator[tuple[str]]:
    call.table.delete_partitions(_names(call["partition"]), call.options(), must_exist=True)
    yield ("Success",)


def _truncate(call: Call) -> Iterator[tuple[str, int]]:
    start = time.monotonic()
    if call["partitions"] is not None:
        call.table.delete_partitions(_names(call["partitions"]), call.options(), must_exist=True)
    else:
        call.table.truncate(call.options())
    yield "SUCCESS", round((time.monotonic() - start) * 1000)


def _names(text: str) -> Sequence[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _text(name: str, default: Any = "") -> Parameter:
    return Parameter(name, default=default)


SERVICES = (
    Procedure(
        "archive_commits",
        "Move old instants to the archive.",
        (
            *TABLE_OR_PATH,
            Parameter("min_commits", INT, 20),
            Parameter("max_commits", INT, 30),
            Parameter("retain_commits", INT, 10),
            Parameter("enable_metadata", FLAG, default=True),
        ),
        columns(result=INT),
        _archive,
        "enable_metadata has no effect: there is no metadata table",
    ),
    Procedure(
        "run_ttl",
        "Drop partitions that have outlived their time.",
        (TABLE, Parameter("ttl_policy"), Parameter("retain_days", INT), Parameter("options")),
        columns(deleted_partitions=TEXT),
        _ttl,
        _CAPS,
    ),
    Procedure(
        "hive_sync",
        "Make a Hive catalog's entries of the table equal to it.",
        (
            TABLE,
            _text("metastore_uri"),
            _text("username"),
            _text("password"),
            _text("use_jdbc"),
            _text("mode"),
            _text("partition_fields"),
            _text("partition_extractor_class"),
            _text("strategy"),
            _text("sync_incremental"),
        ),
        columns(result=TEXT),
        _sync,
        "modes are those of `hudi-services sync`",
    ),
    Procedure(
        "run_bootstrap",
        "A table of plain Parquet or ORC files becomes one of Hudi, and gets a name.",
        (
            TABLE,
            Parameter("table_type", required=True),
            Parameter("bootstrap_path", required=True),
            Parameter("base_path", required=True),
            Parameter("rowKey_field", required=True),
            _text("base_file_format", "PARQUET"),
            _text("partition_path_field"),
            _text("bootstrap_index_class", "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex"),
            _text("selector_class", "org.apache.hudi.client.bootstrap.selector.MetadataOnlyBootstrapModeSelector"),
            _text("key_generator_class", "org.apache.hudi.keygen.SimpleKeyGenerator"),
            _text("full_bootstrap_input_provider", "org.apache.hudi.bootstrap.SparkParquetBootstrapDataProvider"),
            _text("schema_provider_class"),
            _text("payload_class", "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"),
            Parameter("parallelism", INT, 1500),
            Parameter("enable_hive_sync", FLAG, default=False),
            _text("props_file_path"),
            Parameter("bootstrap_overwrite", FLAG, default=False),
            Parameter("options"),
        ),
        columns(status=INT),
        _bootstrap,
        "classes other than the selector's have no effect; schema_provider_class, props_file_path, enable_hive_sync and "
        "bootstrap_overwrite are refused",
    ),
    Procedure(
        "drop_partition",
        "Take partitions out of the table; * stands for anything, commas between several.",
        (TABLE, Parameter("partition", required=True)),
        columns(result=TEXT),
        _drop,
        "a replacecommit: a clean deletes the files later, and until then they can be read as of before; a path that matches no "
        "partition is refused",
    ),
    Procedure(
        "truncate_table",
        "Take all rows, or those of partitions, out of the table.",
        (TABLE, Parameter("partitions")),
        columns(result=TEXT, time_cost=LONG),
        _truncate,
        "a replacecommit: Hudi deletes the folder, with its history, at once; a path that matches no partition is refused, and "
        "an empty text",
    ),
)
