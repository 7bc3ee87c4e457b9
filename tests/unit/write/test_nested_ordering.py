"""Ordering fields inside structs (`a.b`): a table ordered by one holds what a table ordered by a column of its values holds."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import CLUSTERING, COMPACTION, LOG_COMPACTION, HoodieTable
from hoodie.errors import RecordKeyError, SchemaConflictError
from hoodie.schema.changes import DropColumn, RenameColumn
from tests.support.tables import create

PLAIN, NESTED = "ts,name", "meta.deep.ts,meta.name"
MARKED = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
SPILLED = {"hoodie.memory.merge.max.size": "1"}
BY_ID = {"hoodie.clustering.plan.strategy.sort.columns": "id"}
LOGS_OF_2 = {"hoodie.log.compaction.blocks.threshold": 2}
META = pa.struct(
    [
        pa.field("name", pa.string(), nullable=False),
        ("deep", pa.struct([("ts", pa.int64())])),
        pa.field("more", pa.struct([pa.field("on", pa.bool_(), nullable=False)]), nullable=False),
        pa.field("list", pa.list_(pa.int32()), nullable=False),
        pa.field("map", pa.map_(pa.string(), pa.int32()), nullable=False),
    ]
)


def rows(*entries, part="p"):
    """One row for each (id, ts, name, op). `ts` and `name` are in columns and in a struct."""
    ids, tss, names, ops = zip(*entries, strict=True)
    more = {"more": {"on": True}, "list": [1], "map": [("k", 1)]}
    meta = [{"name": name, "deep": {"ts": ts}, **more} for ts, name in zip(tss, names, strict=True)]
    return pa.table(
        {
            "id": ids,
            "part": [part] * len(ids),
            "ts": pa.array(tss, pa.int64()),
            "name": names,
            "op": pa.array(ops, pa.string()),
            "meta": pa.array(meta, META),
        }
    )


FIRST = rows(*((key, 5, "m", "I") for key in "abcdef"), ("g", 5, "m", "I"), ("g", 5, "a", "I"), ("a", 4, "z", "I"))
LATER = rows(
    ("a", 4, "z", "I"),
    ("b", 5, "n", "I"),
    ("c", 5, "l", "I"),
    ("d", 4, "z", "D"),
    ("e", 6, "a", "D"),
    ("h", 1, "h", "D"),
)
LAST = rows(("b", 5, "m", "I"), ("e", 5, "z", "I"), ("f", 7, "a", None), ("h", 2, "h", "I"))


def held(table, **read):
    return sorted((row["id"], row["part"], row["ts"], row["name"], row["op"]) for row in table.read(**read).to_pylist())


def both(path, **options):
    plain = create(path / "plain", **{**options, "hoodie.table.ordering.fields": PLAIN})
    return plain, create(path / "nested", **{**options, "hoodie.table.ordering.fields": NESTED})


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("MERGE_ON_READ", {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}),
        ("COPY_ON_WRITE", {**MARKED, "hoodie.index.type": "GLOBAL_SIMPLE"}),
        ("MERGE_ON_READ", {**MARKED, "hoodie.index.type": "GLOBAL_BLOOM"}),
    ],
)
def test_every_step_leaves_the_same_rows(tmp_path, kind, more):
    index = {name: more[name] for name in more if "index" in name}
    created = {name: more[name] for name in more if name not in index}
    tables = both(tmp_path, **{"hoodie.table.type": kind, **created})

    def agree():
        plain, nested = (held(table) for table in tables)
        assert nested == plain
        return plain

    def write(batch, operation="upsert"):
        for table in tables:
            table.write(batch, operation, index)
        return agree()

    assert write(FIRST)[-1] == ("g", "p", 5, "m", "I")
    later = {key: (ts, name) for key, _, ts, name, _ in write(LATER)}
    assert (later["a"], later["b"], later["c"]) == ((5, "m"), (5, "n"), (5, "m"))
    if kind == "MERGE_ON_READ" and "partial" not in str(more):
        for table in tables:
            table.schedule(LOG_COMPACTION, LOGS_OF_2)
        write(LAST)
        for table in tables:
            table.run(LOG_COMPACTION)
        agree()
    else:
        write(LAST)
    write(rows(("a", 9, "z", "I"), ("b", 1, "z", "I"), part="q"))
    write(rows(("c", 1, "a", "I")), "delete")
    write(rows(("c", 1, "b", "I")))
    if kind == "MERGE_ON_READ":
        for table in tables:
            assert table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
        agree()
    for table in tables:
        assert table.schedule(CLUSTERING, BY_ID, force=True)
        table.run(CLUSTERING)
    agree()
    write(rows(("b", 5, "m", "I"), ("c", 0, "z", "I")))


@pytest.mark.parametrize("version", ["6", "9"])
def test_one_field_in_old_and_new_tables(tmp_path, version):
    options = {"hoodie.datasource.write.precombine.field": "meta.deep.ts", "hoodie.write.table.version": version}
    table = HoodieTable.create(
        str(tmp_path / "t"),
        {
            "hoodie.table.name": "t",
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.type": "MERGE_ON_READ",
            **options,
        },
        FIRST.schema,
    )
    for batch in (FIRST, LATER, LAST):
        table.write(batch)
    assert [row[0::2] for row in held(table)][:3] == [("a", 5, "I"), ("b", 5, "I"), ("c", 5, "I")]
    assert [row[3] for row in held(table)][:3] == ["m", "m", "l"]


def test_a_null_struct_a_missing_field_and_types_without_order_are_refused(tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.ordering.fields": "meta.deep.ts"})
    none = FIRST.set_column(5, "meta", pa.array([None] * 9, META))
    with pytest.raises(RecordKeyError, match=r"'meta\.deep\.ts' is null"):
        table.write(none)
    for batch in (FIRST.drop_columns(["meta"]), FIRST.set_column(5, "meta", FIRST["ts"])):
        with pytest.raises(RecordKeyError, match=r"'meta\.deep\.ts' is missing"):
            table.write(batch)
    assert not (tmp_path / "t" / "part=p").exists()
    options = {
        "hoodie.table.name": "t",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.ordering.fields": "meta.no",
    }
    with pytest.raises(RecordKeyError, match=r"'meta\.no'"):
        HoodieTable.create(str(tmp_path / "no"), options, FIRST.schema)
    whole = create(tmp_path / "whole", **{"hoodie.table.ordering.fields": "meta.deep"})
    with pytest.raises(SchemaConflictError, match=r"'meta\.deep' has a type"):
        whole.write(FIRST)


def test_the_struct_stays_while_rows_are_ordered_by_its_field(tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.ordering.fields": "meta.deep.ts"})
    table.write(FIRST)
    for change in (DropColumn("meta"), DropColumn("meta.deep.ts"), RenameColumn("meta.deep", "d")):
        with pytest.raises(SchemaConflictError, match=r"meta\.deep\.ts is an ordering field"):
            table.alter([change])
