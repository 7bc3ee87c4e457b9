"""The sections `sink` and `pipeline` of a pipeline: Hudi tables below a folder, and what happens when columns change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_services.registry.pipeline.findings import Section
from hudi_services.registry.variables import expand

_TYPES = ("MERGE_ON_READ", "COPY_ON_WRITE")
_PROPERTIES = "table.properties."
_CHANGES = (
    "add.column",
    "alter.column.type",
    "create.table",
    "drop.column",
    "drop.table",
    "rename.column",
    "truncate.table",
)
_STATEMENTS = {"truncate.table": "truncate", "drop.table": "drop"}
_BEHAVIORS = {
    "try_evolve": "is not there: values are never cast with a loss. Write evolve, and a table whose change fails is parked",
    "ignore": "is not there: columns that the server adds are added. Write evolve or lenient",
    "exception": "is not there: columns that the server adds are added. Write evolve or lenient",
}
_FLINK = (
    "parallelism",
    "local-time-zone",
    "flink-conf",
    "schema.operator.uid",
    "operator.uid.prefix",
    "schema-operator.rpc-timeout",
    "sink.partitioning.strategy",
    "transform.decimal.precision.mode",
)
"""Options of the job in Flink, which say nothing of the rows."""


@dataclass(frozen=True)
class PipelineSink:
    """The folder of all Hudi tables, and options of new tables and of writes. `left_out` are kinds of changes of tables that do
    not reach the Hudi tables, None where the pipeline does not say."""

    path: str
    type: str
    hoodie: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] | None = None


def read_sink(section: Section, environ: Mapping[str, str]) -> PipelineSink:
    """Return the sink that a section says. Refusals are in the findings of the section."""
    if section.required("type").lower() not in ("hudi", ""):
        section.refuse("type", "has to be hudi: write `type: hudi` and `path`, the folder of all tables")
        return PipelineSink("", _TYPES[0])  # the other options are those of another kind
    section.ignore("name")
    path = section.required("path")
    try:
        path = expand(path, environ).rstrip("/")
    except ValueError as error:
        section.refuse("path", str(error))
    kind = section.text("hoodie.table.type") or _TYPES[0]
    if kind.upper() not in _TYPES:
        section.refuse("hoodie.table.type", f"has to be {' or '.join(_TYPES)}")
    hoodie = {}
    if (index := section.text("index.type")) is not None:
        hoodie["hoodie.index.type"] = index.upper()
    left_out = _left_out(section)
    for key in section.rest():
        name = key.removeprefix(_PROPERTIES)
        if name.startswith("hoodie."):
            hoodie[name] = section.text(key) or ""
        elif key.startswith(_PROPERTIES):
            section.refuse(key, "is not there: properties of tables are options of Hudi, which begin with `hoodie.`")
        else:
            section.refuse(key, "is not there")
    return PipelineSink(path, kind.upper(), hoodie, left_out)


def _left_out(section: Section) -> frozenset[str] | None:
    """The kinds of changes that a sink does not take."""
    if not {"include.schema.changes", "exclude.schema.changes"} & set(section.values):
        return None
    included = _kinds(section, "include.schema.changes") | {"create.table"}
    excluded = _kinds(section, "exclude.schema.changes")
    left_out = (set(_CHANGES) - included if "include.schema.changes" in section.values else set()) | excluded
    if unable := sorted(left_out - set(_STATEMENTS)):
        key = "exclude.schema.changes" if set(unable) & excluded else "include.schema.changes"
        section.refuse(
            key,
            f"leaves out {', '.join(unable)}, which always reach the Hudi tables: only "
            f"{' and '.join(_STATEMENTS)} can be left out",
        )
    return frozenset(left_out)


def _kinds(section: Section, key: str) -> set[str]:
    """The kinds of changes that an option names, also by a part such as `drop` or `column`."""
    section.ignore(key)
    declared: Any = section.values.get(key) or ()
    names = [str(name) for name in declared] if isinstance(declared, list | tuple) else str(declared).split(",")
    kinds = set()
    for name in map(str.strip, names):
        matching = {kind for kind in _CHANGES if kind == name or name in kind.split(".")}
        if not matching:
            section.refuse(key, f"names {name!r:.100}, which is not one of {', '.join(_CHANGES)}")
        kinds |= matching
    return kinds


@dataclass(frozen=True)
class PipelineBehavior:
    """The steps of loads at statements of the server. `first_only`: only the first route of a table counts."""

    statements: Mapping[str, str]
    first_only: bool


def read_behavior(section: Section, sink: PipelineSink, *, renames: bool) -> PipelineBehavior:
    """Return the section `pipeline`. Refusals are in the findings of the section."""
    section.ignore("name")
    behavior = (section.text("schema.change.behavior") or "lenient").lower()
    if behavior in _BEHAVIORS:
        section.refuse("schema.change.behavior", f"{behavior} {_BEHAVIORS[behavior]}")
    elif behavior not in ("evolve", "lenient"):
        section.refuse("schema.change.behavior", "has to be evolve or lenient")
    section.only("execution.runtime-mode", "streaming", "has to be STREAMING: runs go on with the log of the server")
    mode = (section.text("route-mode") or "ALL_MATCH").upper()
    if mode not in ("ALL_MATCH", "FIRST_MATCH"):
        section.refuse("route-mode", "has to be ALL_MATCH or FIRST_MATCH")
    for key in _FLINK:
        section.note(key, "is about the job in Flink")
    for key in ("user-defined-function", "model"):
        if key in section.values:
            section.refuse(key, "is not there: rows have the columns of the table")
    for key in section.rest():
        section.refuse(key, "is not there")
    left_out = sink.left_out
    if left_out is None:
        left_out = frozenset(_STATEMENTS) if behavior == "lenient" else frozenset()
    statements = {name: "ignore" if kind in left_out else "apply" for kind, name in _STATEMENTS.items()}
    return PipelineBehavior(
        {**statements, "alter": "apply", **({"rename": "apply"} if renames else {})}, mode == "FIRST_MATCH"
    )
