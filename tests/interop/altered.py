"""A table that Apache Hudi alters by SQL between its writes, with the history of its schemas kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

OPTIONS = {
    "hoodie.schema.on.read.enable": "true",
    "hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true",  # else 1.2.0 renames and drops nothing
    "spark.sql.parquet.enableVectorizedReader": "false",  # else it reads no nested column that has changed
    "hoodie.compact.inline": "false",
    "hoodie.logfile.data.block.format": "avro",
    "hoodie.metadata.enable": "false",
    "hoodie.clean.automatic": "false",
}
COLUMNS = (
    "id string, name string, price double, n int, f float, note string, "
    "s struct<a:int,b:string>, arr array<struct<x:int,y:int>>, m map<string,struct<k:int,l:string>>, ts bigint"
)
_FIRST = (
    "('k{0}', 'one{0}', {0}.5, {0}, 101.01, 'old{0}', named_struct('a', {0}, 'b', 'b{0}'), "
    "array(named_struct('x', {0}, 'y', 2)), map('q', named_struct('k', {0}, 'l', 'l')), 1)"
)
STEPS: tuple[tuple[str, ...], ...] = (
    ("insert into {t} values " + ", ".join(_FIRST.format(number) for number in range(1, 7)),),
    (
        "alter table {t} rename column name to title",
        "alter table {t} add columns (extra string comment 'in the middle' after id)",
        "alter table {t} drop column note",
        "update {t} set title = 'two', ts = 2 where id = 'k2'",
    ),
    (
        "alter table {t} add columns (note string, name string)",  # neither shows values of those that had the names
        "alter table {t} rename column s.b to c",
        "alter table {t} add columns (s.b string first, arr.element.z int after x, m.value.v string)",
        "update {t} set note = 'new', name = 'again', ts = 3 where id = 'k3'",
    ),
    (
        "alter table {t} alter column n type bigint",
        "alter table {t} alter column f type double",
        "alter table {t} alter column price comment 'with tax'",
        "alter table {t} drop column arr.element.y",
        "alter table {t} alter column m.value.l first",
        "update {t} set price = 44.5, ts = 4 where id = 'k4'",
    ),
    ("alter table {t} rename column m to dict", "alter table {t} alter column title after ts"),
)


def steps(peer: Any, name: str, location: str, kind: str, **properties: str) -> Iterator[int]:
    """Create the table and do one step after the other."""
    for key, value in OPTIONS.items():
        peer.sql(f"set {key}={value}")
    given = {"type": kind, "primaryKey": "id", "preCombineField": "ts", **properties}
    listed = ", ".join(f"'{key}'='{value}'" for key, value in given.items())
    peer.sql(f"drop table if exists {name}")
    peer.sql(f"create table {name} ({COLUMNS}) using hudi location '{location}' tblproperties ({listed})")
    for number, statements in enumerate(STEPS):
        for statement in statements:
            peer.sql(statement.format(t=name))
        yield number
