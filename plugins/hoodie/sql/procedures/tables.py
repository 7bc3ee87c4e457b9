"""Procedures of a table's own metadata: its properties, what is damaged of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hoodie.doctor import catalogue as checks
from hoodie.sql.procedures.procedure import (
    FILTER,
    FLAG,
    TABLE,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
    limit,
)
from hoodie.timeline import Action
from hoodie.view import TableView


def _properties(call: Call) -> Iterator[tuple[str, str]]:
    yield from call.state.properties.raw.items()


def _partition_meta(call: Call) -> Iterator[tuple[str, str, str]]:
    diagnosis = call.table.diagnose(call.options())
    findings = diagnosis.of(checks.PARTITION_METAFILE.name)
    lacking = {(finding.path or "").rpartition("/")[0] for finding in findings}
    if findings and not call["dry_run"]:
        call.table.mend(replace(diagnosis, findings=findings), call.options())
    partitions = {files.partition for files in TableView(call.table.state()).files}
    for partition in sorted(lacking | partitions):
        if partition in lacking:
            yield partition, "No", "Repaired" if partition in partitions else "None"
        else:
            yield partition, "Yes", "None"


def _clean_files(call: Call) -> Iterator[tuple[bool]]:
    """Torn files of cleans are put aside; the doctor finds them."""
    diagnosis = call.table.diagnose(call.options())
    kinds = (checks.TORN_SERVICE_INSTANT.name, checks.TORN_PLAN.name)
    findings = tuple(
        finding for kind in kinds for finding in diagnosis.of(kind) if f".{Action.CLEAN}" in (finding.path or "")
    )
    if findings:
        call.table.mend(replace(diagnosis, findings=findings), call.options())
    yield (True,)


TABLES = (
    Procedure(
        "show_table_properties",
        "Properties in hoodie.properties.",
        (*TABLE_OR_PATH, limit(), FILTER),
        columns(key=TEXT, value=TEXT),
        _properties,
    ),
    Procedure(
        "repair_add_partition_meta",
        "Write the partition metafiles that are missing; dry_run only shows them.",
        (TABLE, Parameter("dry_run", FLAG, default=True)),
        columns(partition_path=TEXT, metadata_is_present=TEXT, action=TEXT),
        _partition_meta,
    ),
    Procedure(
        "repair_corrupted_clean_files",
        "Put files of cleans aside that are torn, so that the next clean can run.",
        (TABLE,),
        columns(result=FLAG),
        _clean_files,
        "the files are renamed, not deleted",
    ),
)
