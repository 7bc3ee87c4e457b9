"""Columns that we alter, read and altered further by Hudi 1.2.0, and the other way round."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

from hoodie import COMPACTION
from hoodie.schema.changes import (
    AddColumn,
    CommentColumn,
    DropColumn,
    MoveColumn,
    Place,
    RenameColumn,
    WidenColumn,
)
from tests.interop.altered import OPTIONS
from tests.interop.test_cow import hudi_options
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, create

pytestmark = pytest.mark.interop

BY_ID = {"hoodie.schema.on.read.enable": "true"}
NESTED = pa.struct([("x", pa.int32()), ("y", pa.string())])
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("part", pa.string()),
        ("ts", pa.int64()),
        ("value", pa.int64()),
        ("n", pa.int32()),
        ("f", pa.float32()),
        ("s", NESTED),
    ]
)
CHANGES = [
    RenameColumn("value", "amount"),
    AddColumn("value", pa.string(), "another one", Place("id")),
    WidenColumn("n", pa.int64()),
    WidenColumn("f", pa.float64()),
    RenameColumn("s.y", "z"),
    AddColumn("s.y", pa.int32(), place=Place("x")),
    AddColumn("three", pa.struct([("q", pa.int32()), ("r", pa.list_(pa.string()))])),
    CommentColumn("amount", "with tax"),
]


def given(key, ts, number):
    nested = {"x": number, "y": f"y{number}"}
    values = {"id": key, "part": "p", "ts": ts, "value": number, "n": number, "f": 1.1, "s": nested}
    return pa.Table.from_pylist([values], SCHEMA)


def by_key(rows):
    wanted = [name for name in rows.column_names if not name.startswith("_hoodie")]
    found = {row["id"]: row for row in rows.select(wanted).to_pylist()}
    assert len(found) == rows.num_rows
    return found


def first(number):
    """A row of before, under the columns of after."""
    row = {"id": "", "value": None, "part": "p", "ts": 1, "amount": number, "n": number, "f": 1.1}
    return row | {"s": {"x": number, "y": None, "z": f"y{number}"}, "three": None}


# A merge-on-read table has base files, too. Tables of both versions and types that Hudi altered are in `golden`.
@pytest.mark.parametrize(("kind", "version"), sample(list(product(["COPY_ON_WRITE", "MERGE_ON_READ"], ["9", "6"])), 2))
def test_both_alter(tmp_path, kind, version, hudi12):
    """Each goes on from the other's columns, and reads the other's rows and its own of all times."""
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    table = create(tmp_path / "t", **options)
    path = table.base_path
    for key, number in (("a", 1), ("b", 2), ("c", 3)):
        table.write(given(key, 1, number), "upsert", SMALL_BLOOM)
    table.write(given("b", 2, 20), "upsert", SMALL_BLOOM)
    table.alter(CHANGES)
    rows = {
        "a": first(1) | {"id": "a"},
        "b": first(20) | {"id": "b", "ts": 2},
        "c": first(3) | {"id": "c"},
    }
    name = f"altered_{kind[:4]}_{version}".lower()
    for key, value in OPTIONS.items():
        hudi12.sql(f"set {key}={value}")
    assert by_key(table.read()) == rows
    assert by_key(hudi12.read(path, **BY_ID)) == rows

    row = rows["a"] | {"ts": 3, "amount": 10, "value": "new", "three": {"q": 1, "r": ["s"]}}
    table.write(pa.Table.from_pylist([row], table.schema), "upsert", SMALL_BLOOM)
    rows["a"] = row
    assert by_key(table.read()) == by_key(hudi12.read(path, **BY_ID)) == rows

    row = rows["c"] | {"ts": 4, "amount": 30, "value": "hudi"}
    written = hudi_options(table, True) | BY_ID | {"hoodie.clean.automatic": "false", "hoodie.metadata.enable": "false"}
    hudi12.write(path, pa.Table.from_pylist([row], table.schema), written)
    rows["c"] = row
    assert by_key(table.read()) == by_key(hudi12.read(path, **BY_ID)) == rows

    hudi12.sql(f"drop table if exists {name}")
    hudi12.sql(f"create table {name} using hudi location '{path}'")
    hudi12.sql(f"alter table {name} rename column amount to total")
    hudi12.sql(f"alter table {name} add columns (amount double after ts)")
    hudi12.sql(f"alter table {name} drop column value")
    hudi12.sql(f"alter table {name} rename column s.z to w")
    hudi12.sql(f"update {name} set amount = 4.5, ts = 5 where id = 'b'")
    order = ["id", "part", "ts", "amount", "total", "n", "f", "s", "three"]
    for key, row in rows.items():
        nested = row["s"]
        row |= {"total": row["amount"], "amount": 4.5 if key == "b" else None}
        row["s"] = {"x": nested["x"], "y": nested["y"], "w": nested["z"]}
        del row["value"]
    rows["b"]["ts"] = 5
    assert table.schema.names == order
    assert by_key(table.read()) == by_key(hudi12.read(path, **BY_ID)) == rows

    table.alter([DropColumn("n"), AddColumn("n", pa.int64()), MoveColumn("total", Place("id"))])
    for row in rows.values():
        row["n"] = None
    if kind == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)
    assert by_key(table.read()) == by_key(hudi12.read(path, **BY_ID)) == rows
    row = rows["b"] | {"ts": 6, "n": 66}
    table.write(pa.Table.from_pylist([row], table.schema), "upsert", SMALL_BLOOM)
    rows["b"] = row
    assert by_key(table.read()) == by_key(hudi12.read(path, **BY_ID)) == rows
    versions = table.state().schemas
    assert sorted(each.version for each in versions) == [each.version for each in versions]
    assert len({column.id for column in versions[-1].columns}) == len(versions[-1].columns)
