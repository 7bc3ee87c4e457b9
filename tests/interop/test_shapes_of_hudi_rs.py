"""Tables of the shapes in the tests of hudi-rs, made by Hudi: we read them and go on, and hudi-rs reads the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hudi import HudiTableBuilder

from hoodie import COMPACTION, HoodieTable

pytestmark = pytest.mark.interop

SCHEMA = pa.schema(
    [
        ("id", pa.int32()),
        ("name", pa.string()),
        ("n", pa.int64()),
        ("yes", pa.bool_()),
        ("f", pa.float32()),
        ("d", pa.float64()),
        ("amount", pa.decimal128(10, 5)),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("raw", pa.binary()),
        ("list", pa.list_(pa.string())),
        ("map", pa.map_(pa.string(), pa.struct([("d", pa.float64()), ("yes", pa.bool_())]))),
        ("nest", pa.struct([("a", pa.string()), ("in", pa.struct([("d", pa.float64()), ("yes", pa.bool_())]))])),
        ("small", pa.int32()),
        ("short", pa.int32()),
        ("text_time", pa.string()),
        ("seconds", pa.int64()),
    ]
)
AT = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
KEYGEN, TIMEBASED = "hoodie.datasource.write.keygenerator.class", "hoodie.keygen.timebased."
BY_HOUR = {
    KEYGEN: "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
    TIMEBASED + "output.dateformat": "yyyy/MM/dd/HH",
}
MOR, UPSERT, COW = "MERGE_ON_READ", "upsert", "COPY_ON_WRITE"
COMPACT = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
CLUSTER = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"}


def row(id_, n):
    """A row of every type; rows of even ids and of odd ones are in two partitions."""
    return {
        "id": id_,
        "name": f"n{id_}",
        "n": n,
        "yes": None if id_ == 1 else n % 2 == 0,
        "f": n + 0.5,
        "d": n + 0.25,
        "amount": Decimal(f"{n}.12345"),
        "day": date(2024, 1, id_),
        "at": AT,
        "raw": bytes([id_, 0, 255]),
        "list": ["x", None] if id_ % 2 else None,
        "map": [("k", {"d": 1.5, "yes": True})] if id_ % 2 else [],
        "nest": {"a": "x", "in": {"d": 2.5, "yes": None}},
        "small": 10 + id_ % 2,
        "short": 300 + id_ % 2,
        "text_time": f"2024-01-15T1{id_ % 2}:30:00.000Z",
        "seconds": int(AT.timestamp()) + 3600 * (id_ % 2),
    }


def rows(*pairs):
    return pa.Table.from_pylist([row(id_, n) for id_, n in pairs], SCHEMA)


@dataclass(frozen=True)
class Shape:
    """A table by its options, and what Hudi does to it after the first load: an operation, its rows, more options."""

    version: str
    kind: str
    partitions: str = ""
    keys: str = "id"
    more: dict[str, str] = field(default_factory=dict)
    steps: tuple[tuple[str, tuple[tuple[int, int], ...], dict[str, str]], ...] = ((UPSERT, ((1, 2), (5, 1)), {}),)

    @property
    def options(self):
        several = "," in self.partitions + self.keys
        name = "Nonpartitioned" if not self.partitions else "Complex" if several else "Simple"
        return {
            "hoodie.table.name": "shape",
            "hoodie.datasource.write.table.type": self.kind,
            "hoodie.write.table.version": self.version,
            "hoodie.datasource.write.recordkey.field": self.keys,
            "hoodie.datasource.write.partitionpath.field": self.partitions,
            "hoodie.datasource.write.precombine.field": "n",
            "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
            "hoodie.datasource.write.hive_style_partitioning": "true",
            KEYGEN: f"org.apache.hudi.keygen.{name}KeyGenerator",
            "hoodie.metadata.enable": "false",
            "hoodie.index.bloom.num_entries": "100",
            "hoodie.bloom.index.filter.dynamic.max.entries": "200",
            **self.more,
        }


FIRST = ((1, 1), (2, 1), (3, 1), (4, 1))
PLAIN_FOLDERS = {"hoodie.datasource.write.hive_style_partitioning": "false"}
NO_META = {"hoodie.populate.meta.fields": "false"}
WITH_METADATA = {"hoodie.metadata.enable": "true"}
AVRO, PARQUET = ({"hoodie.logfile.data.block.format": name} for name in ("avro", "parquet"))
OVERWRITE = (("insert_overwrite_table", ((4, 3),), {}),)
CHANGES = ((UPSERT, ((1, 2), (2, 2)), {}), ("delete", ((3, 9),), {}))
ALL_ACTIONS = (
    *CHANGES,
    ("insert", ((6, 1), (7, 1)), {}),
    ("delete_partition", ((2, 9),), {}),
    (UPSERT, ((1, 3), (8, 1)), COMPACT),
    ("insert_overwrite", ((8, 2), (10, 1)), CLUSTER),
    (UPSERT, ((1, 4),), {}),
)
SHAPES_6 = {
    "cow_complex": Shape("6", COW, "small,short", "id,name"),
    "cow_nonpartitioned": Shape("6", COW),
    "mor_parquet_overwritten": Shape("6", MOR, "small", more=PLAIN_FOLDERS | PARQUET, steps=(*CHANGES, *OVERWRITE)),
    "mor_avro_without_meta_fields": Shape("6", MOR, "small", more=NO_META | AVRO, steps=()),
    "cow_text_as_time": Shape(
        "6",
        COW,
        "text_time",
        more=PLAIN_FOLDERS
        | BY_HOUR
        | {TIMEBASED + "timestamp.type": "DATE_STRING", TIMEBASED + "input.dateformat": "yyyy-MM-dd'T'HH:mm:ss.SSSZ"},
    ),
    "mor_trips": Shape("6", MOR, "small", more=AVRO, steps=CHANGES),
}
SHAPES_9 = {
    "cow_8_complex": Shape("8", COW, "small,short", "id,name"),
    "mor_8_trips": Shape("8", MOR, "small", more=AVRO | WITH_METADATA, steps=(*CHANGES, (UPSERT, ((4, 2),), COMPACT))),
    "mor_9_all_actions": Shape("9", MOR, "small", "id,name", AVRO | WITH_METADATA, ALL_ACTIONS),
    "cow_9_all_actions": Shape("9", COW, "", "id", {}, (*CHANGES, (UPSERT, ((1, 3), (8, 1)), CLUSTER), *OVERWRITE)),
    "mor_9_overwritten": Shape("9", MOR, "small", more=PLAIN_FOLDERS | AVRO, steps=(*CHANGES, *OVERWRITE)),
    "cow_9_seconds": Shape(
        "9", COW, "seconds", more=PLAIN_FOLDERS | BY_HOUR | {TIMEBASED + "timestamp.type": "UNIX_TIMESTAMP"}
    ),
}


def made(hudi, path, shape):
    """Hudi makes the table, and says which rows it holds."""
    hudi.write(path, rows(*FIRST), {**shape.options, "hoodie.datasource.write.operation": "insert"}, "overwrite")
    for operation, pairs, more in shape.steps:
        options = {**shape.options, **more, "hoodie.datasource.write.operation": operation}
        hudi.write(path, rows(*pairs), options)
    name = path.name
    hudi.sql(f"create table {name} using hudi location '{path}'")
    return sorted((record["id"], record["n"]) for record in hudi.sql(f"select id, n from {name}"))


def held(table, partition):
    """(id, n) of the rows, all of whose columns have the values of such a row. Columns that make partitions by time are text."""
    records = table.select(SCHEMA.names).to_pylist()
    for record in records:
        expected = row(record["id"], record["n"])
        assert {**record, partition: None} == {**expected, partition: None}
    return sorted((record["id"], record["n"]) for record in records)


def check(folder, hudi, name, shape):
    path = folder / name
    expected = made(hudi, path, shape)
    table = HoodieTable.open(hudi.table(path))
    partition = shape.partitions if BY_HOUR.items() <= shape.more.items() else ""
    assert held(table.read(), partition) == expected
    first, gone = expected[0][0], expected[-1][0]
    by_time = {name: value for name, value in shape.more.items() if name.startswith(TIMEBASED)}  # version 6 keeps none
    table.write(rows((first, 20), (9, 20)), options=by_time)
    table.write(rows(expected[-1]), "delete", by_time)
    if shape.kind == MOR:
        assert table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    changed = {**dict(expected), first: 20, 9: 20}
    del changed[gone]
    expected = sorted(changed.items())
    assert held(table.read(), partition) == expected
    theirs = HudiTableBuilder.from_base_uri(str(path)).build().read()
    assert held(pa.Table.from_batches(theirs), partition) == expected


def check_empty(folder, hudi, version):
    """A table that was created by SQL, and never written."""
    path = folder / f"empty_{version}"
    hudi.sql(
        f"create table {path.name} (id int, name string, yes boolean) using hudi location '{path}' "
        f"tblproperties (primaryKey = 'id', hoodie.write.table.version = '{version}')"
    )
    table = HoodieTable.open(hudi.table(path))
    assert (table.read().num_rows, table.schema.names) == (0, ["id", "name", "yes"])
    table.write(pa.table({"id": pa.array([1], pa.int32()), "name": ["a"], "yes": [True]}))
    for result in (table.read(), pa.Table.from_batches(HudiTableBuilder.from_base_uri(str(path)).build().read())):
        assert result.select(["id", "name", "yes"]).to_pylist() == [{"id": 1, "name": "a", "yes": True}]


@pytest.mark.parametrize("name", SHAPES_6)
def test_version_6(tmp_path, recorded, name):
    check(tmp_path, recorded("hudi15"), name, SHAPES_6[name])


def test_an_empty_table_of_version_6(tmp_path, recorded):
    check_empty(tmp_path, recorded("hudi15"), "6")


@pytest.mark.parametrize("name", SHAPES_9)
def test_versions_8_and_9(tmp_path, recorded, name):
    check(tmp_path, recorded("hudi12"), name, SHAPES_9[name])


def test_an_empty_table_of_version_8(tmp_path, recorded):
    check_empty(tmp_path, recorded("hudi12"), "8")
