"""All procedures by name, those that are there and those of Hudi's that are not. docs/reference/procedures.md is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hoodie.errors import SqlError
from hoodie.sql.procedures.cleans import CLEANS
from hoodie.sql.procedures.clusterings import CLUSTERINGS
from hoodie.sql.procedures.commits import COMMITS
from hoodie.sql.procedures.files import FILES
from hoodie.sql.procedures.logs import LOGS
from hoodie.sql.procedures.procedure import TEXT, Call, Parameter, Procedure, columns
from hoodie.sql.procedures.rewrites import REWRITES
from hoodie.sql.procedures.savepoints import SAVEPOINTS
from hoodie.sql.procedures.services import SERVICES
from hoodie.sql.procedures.tables import TABLES
from hoodie.sql.procedures.timeline import TIMELINE
from hoodie.sql.types import sql_type

_NO_METADATA = "the library neither writes nor reads metadata tables"
_DOWNGRADE = "tables are not downgraded; use Hudi"
_UPGRADE = "`hudi-services table upgrade --to 9` does that, with a plan"
_AUDIT = "locks are not audited by files; `hudi-services show locks` lists their holders"

ABSENT: Mapping[str, str] = {
    "cleanup_audit_lock": _AUDIT,
    "copy_to_table": "a plain table of Spark's would be made; CREATE TABLE … USING hudi AS SELECT … copies",
    "copy_to_temp_view": "views of Hudi tables are not there; a WITH clause names a query",
    "create_metadata_table": _NO_METADATA,
    "delete_marker": "markers of failed writes go with their rollback; `hudi-services doctor --fix` removes what is left",
    "delete_metadata_table": _NO_METADATA,
    "downgrade_table": _DOWNGRADE,
    "export_instants": "`hudi-services show timeline --json` and `show commits --json` print the contents of instants",
    "hdfs_parquet_import": "CALL run_bootstrap takes Parquet files over, and ingestion loads them",
    "init_metadata_table": _NO_METADATA,
    "partition_bucket_index_manager": "bucket counts by partition are not there",
    "repair_deduplicate": "an upsert of one row of a key takes the place of the doubled ones in its partition",
    "repair_migrate_partition_meta": "partition metafiles are properties files, and no Parquet ones are written",
    "repair_overwrite_hoodie_props": "`hudi-services doctor --fix` repairs a damaged file; a wrong property loses a table",
    "set_audit_lock": _AUDIT,
    "show_audit_lock_status": _AUDIT,
    "show_metadata_column_stats_overlap": _NO_METADATA,
    "show_metadata_table_column_stats": _NO_METADATA,
    "show_metadata_table_files": _NO_METADATA,
    "show_metadata_table_partitions": _NO_METADATA,
    "show_metadata_table_stats": _NO_METADATA,
    "sync_validate": "`hudi-services sync --explain` lists what a catalog lacks",
    "upgrade_table": _UPGRADE,
    "validate_audit_lock": _AUDIT,
    "validate_metadata_table_files": _NO_METADATA,
}
"""Procedures of Hudi 1.2.0 that are not there, and why."""


def _help(call: Call) -> Iterator[tuple[str]]:
    if call["cmd"] is None:
        lines = [f"\t{name}\t{procedure.does}" for name, procedure in PROCEDURES.items()]
        yield ("\n".join(["synopsis", "\tcall [command]([key1]=>[value1],[key2]=>[value2])", "commands", *lines]),)
        return
    procedure = PROCEDURES.get(call["cmd"].lower())
    if procedure is None:
        raise SqlError(f"There is no procedure {call['cmd']:.100}", fix="CALL help lists them")
    accepted = [
        f"\t{p.name}\t{sql_type(p.kind).lower()}\t{'required' if p.required else p.default}"
        for p in procedure.parameters
    ]
    outputs = [f"\t{field.name}\t{sql_type(field.type).lower()}" for field in procedure.result]
    yield ("\n".join([procedure.does, "parameters:", *accepted, "outputType:", *outputs]),)


_HELP = Procedure(
    "help",
    "The procedures, or what one of them takes and gives.",
    (Parameter("cmd"),),
    columns(result=TEXT),
    _help,
    "parameters and columns are printed in another form",
)

PROCEDURES: Mapping[str, Procedure] = {
    procedure.name: procedure
    for procedure in sorted(
        (*CLEANS, *CLUSTERINGS, *COMMITS, *FILES, *LOGS, *REWRITES, *SAVEPOINTS, *SERVICES, *TABLES, *TIMELINE, _HELP),
        key=lambda procedure: procedure.name,
    )
}
