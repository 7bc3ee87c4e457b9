"""Copy-on-write tables that we write are Hudi's own: it reads them, writes on, and we go on after it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.rows import META, rows
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

LAYOUTS = {
    "hive": {"hoodie.table.partition.fields": "part", "hoodie.datasource.write.hive_style_partitioning": "true"},
    "plain": {"hoodie.table.partition.fields": "part"},
    "encoded": {
        "hoodie.table.partition.fields": "part",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.partitionpath.urlencode": "true",
    },
    "none": {},
    "complex": {"hoodie.table.partition.fields": "part,kind", "hoodie.table.recordkey.fields": "id,kind"},
}


def make_table(ids, ts, price, second="cd"):
    count = len(ids)
    return pa.table(
        {
            "id": pa.array(ids),
            "kind": pa.array(["x"] * count),
            "part": pa.array([["a b", second][int(i[1:]) % 2] for i in ids]),
            "ts": pa.array(ts, pa.int64()),
            "price": pa.array(price, pa.float64()),
        }
    )


def write_history(path, version, layout, ordering, table):
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.write.table.version": version,
        **LAYOUTS[layout],
    }
    if ordering:
        options["hoodie.table.ordering.fields"] = "ts"
    ours = HoodieTable.create(str(path), options)
    ours.write(table([f"k{i}" for i in range(40)], [10] * 40, [1.0] * 40), "bulk_insert")
    ours.write(table([f"k{i}" for i in range(40, 50)], [10] * 10, [1.0] * 10), "insert")
    ours.write(table(["k1", "k2", "k60"], [20, 5, 1], [2.0, 2.0, 2.0]), "upsert")
    ours.write(table(["k3", "k41"], [0, 0], [0, 0]), "delete")
    return ours


def hudi_options(ours, ordering):
    properties = ours.properties
    keygen = {
        "SIMPLE": "SimpleKeyGenerator",
        "COMPLEX": "ComplexKeyGenerator",
        "NON_PARTITION": "NonpartitionedKeyGenerator",
    }
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": ",".join(properties.record_key_fields),
        "hoodie.datasource.write.partitionpath.field": ",".join(properties.partition_fields),
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{keygen[properties.keygen_type]}",
        "hoodie.datasource.write.hive_style_partitioning": str(properties.hive_style_partitioning).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": str(properties.url_encode_partitioning).lower(),
        "hoodie.write.table.version": str(ours.version),
        "hoodie.write.auto.upgrade": "false",
    }
    if ordering:
        options["hoodie.datasource.write.precombine.field"] = "ts"
    return options


CASES = [
    ("9", "hive", True),
    ("9", "plain", False),
    ("9", "encoded", True),
    ("9", "none", False),
    ("9", "complex", True),
    ("6", "hive", True),
    ("6", "none", False),
]


@pytest.mark.metadata
@pytest.mark.format("14a", "14t")
@pytest.mark.parametrize(("version", "layout", "ordering"), sample(CASES, 2))
def test_hudi_12_reads_and_writes_on(tmp_path, hudi12, hudi_rs_read, version, layout, ordering):
    def table(*columns):  # a colon must be encoded: Hadoop's paths cannot hold it
        return make_table(*columns, second="c:d" if layout == "encoded" else "cd")

    ours = write_history(tmp_path / "t", version, layout, ordering, table)
    expected = rows(ours.read())
    assert len(expected) == 49
    assert rows(hudi12.read(ours.base_path)) == expected
    assert rows(hudi_rs_read(ours.base_path)) == expected

    options = hudi_options(ours, ordering)
    change = table(["k1", "k4", "k70"], [30, 30, 30], [3.0, 3.0, 3.0])
    hudi12.write(ours.base_path, change, {**options, "hoodie.datasource.write.operation": "upsert"})
    gone = table(["k5"], [99], [0.0])
    hudi12.write(ours.base_path, gone, {**options, "hoodie.datasource.write.operation": "delete"})
    theirs = hudi12.read(ours.base_path)
    assert rows(ours.read()) == rows(theirs)
    assert "k5" not in theirs["id"].to_pylist()
    assert ours.read(columns=[*META, "id"]).num_rows == theirs.num_rows

    # The peer's writer has added a metadata table: after our next write no reader may trust it.
    result = ours.write(table(["k6", "k71"], [40, 40], [4.0, 4.0]), "upsert")
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    assert not ours.properties.has_metadata_table
    for metadata in ("true", "false"):
        assert rows(hudi12.read(ours.base_path, **{"hoodie.metadata.enable": metadata})) == rows(ours.read())
    assert rows(hudi_rs_read(ours.base_path)) == rows(ours.read())


@pytest.mark.metadata
@pytest.mark.format("14a", "14t")
@pytest.mark.parametrize("layout", sample(["hive", "none"], 0))
def test_hudi_15_reads_and_writes_on_version_6(tmp_path, hudi15, layout):
    table = make_table
    ours = write_history(tmp_path / "t", "6", layout, True, table)
    assert rows(hudi15.read(ours.base_path)) == rows(ours.read())
    options = hudi_options(ours, True)
    change = table(["k1", "k4", "k70"], [30, 30, 30], [3.0, 3.0, 3.0])
    hudi15.write(ours.base_path, change, {**options, "hoodie.datasource.write.operation": "upsert"})
    assert rows(ours.read()) == rows(hudi15.read(ours.base_path))
    ours.write(table(["k6", "k71"], [40, 40], [4.0, 4.0]), "upsert")
    assert rows(hudi15.read(ours.base_path, **{"hoodie.metadata.enable": "true"})) == rows(ours.read())


def all_types():
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    inner = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    return pa.table(
        {
            "id": pa.array(["1", "2", "3"]),
            "flag": pa.array([True, None, False]),
            "tiny": pa.array([1, None, -3], pa.int8()),
            "small": pa.array([1, None, -300], pa.int16()),
            "number": pa.array([1, None, -3], pa.int32()),
            "big": pa.array([1 << 40, None, -3], pa.int64()),
            "single": pa.array([1.5, None, -3.25], pa.float32()),
            "double": pa.array([1.1, None, -3.3], pa.float64()),
            "money": pa.array([Decimal("12345.67"), None, Decimal("-0.01")], pa.decimal128(10, 2)),
            "wide": pa.array([Decimal("12345678901234567890.12345"), None, Decimal("-1.00000")], pa.decimal128(25, 5)),
            "day": pa.array([date(2026, 1, 2), None, date(1960, 5, 6)]),
            "moment": pa.array([moment, None, moment], pa.timestamp("us", "UTC")),
            "text": pa.array(["ünï", None, ""]),
            "raw": pa.array([b"\x00\xff", None, b""]),
            "words": pa.array([["a", "b"], None, []], pa.list_(pa.string())),
            "nested": pa.array([[["a"], []], None, [["b", "c"]]], pa.list_(pa.list_(pa.string()))),
            "attributes": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
            "thing": pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}], inner),
            "things": pa.array([[{"a": 1, "b": ["x", "y"]}], None, []], pa.list_(inner)),
        }
    )


@pytest.mark.format("14n")
@pytest.mark.parametrize("version", sample(["9", "6"], 0))
def test_every_type_survives_both_writers(tmp_path, hudi12, hudi_rs_read, version):
    data = all_types()
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.write.table.version": version,
    }
    ours = HoodieTable.create(str(tmp_path / "t"), options)
    ours.write(data, "bulk_insert")
    expected = rows(ours.read())
    assert len(expected) == 3
    assert rows(hudi12.read(ours.base_path)) == expected
    assert rows(hudi_rs_read(ours.base_path)) == expected
    # Hudi rewrites the file with its own writer, then we rewrite Hudi's file.
    hudi12.write(
        ours.base_path, data.slice(0, 1), {**hudi_options(ours, False), "hoodie.datasource.write.operation": "upsert"}
    )
    assert rows(ours.read()) == expected
    ours.write(data.slice(1, 1), "upsert")
    assert rows(ours.read()) == expected
    assert rows(hudi12.read(ours.base_path)) == expected
