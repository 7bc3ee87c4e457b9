"""Changes as DataFrames, in SQL and by Hudi's options of a source: those of `HoodieTable.read_changes`."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import hoodie.spark
from hoodie import CLEAN, HoodieTable
from hoodie.errors import ChangeRangeError, DataError
from hoodie.sql import connect
from tests.support.changes import operations, write
from tests.support.clock import FakeClock
from tests.support.tables import create

pytestmark = pytest.mark.spark

CDC = {
    "hoodie.datasource.query.type": "incremental",
    "hoodie.datasource.query.incremental.format": "cdc",
}
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE"}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": request.param})
    write(table, [("a", "z", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1), ("e", "q", 1, 1)], "insert", **GLOBAL)
    write(table, [("a", "c", 2, 2), ("d", "p", 2, 2), ("c", "q", 2, 2)], **GLOBAL)
    write(table, [("b", "p", 3, 1)], "delete", **GLOBAL)
    write(table, [("c", "q", 4, 1)], **GLOBAL)
    return table


def rows(changes):
    return sorted(changes.to_pylist(), key=repr)


def test_a_frame_has_the_changes_of_the_library(spark, table):
    first, *_, last = table.read_changes()["_hoodie_completion_time"].unique().to_pylist()
    frame = hoodie.spark.read_changes(spark, table.base_path)
    whole = frame.orderBy("_hoodie_completion_time", "op", "_hoodie_record_key").toArrow()
    assert rows(whole) == rows(table.read_changes())
    assert operations(whole)[4:7] == [("d", "a", 1, None), ("i", "a", None, 2), ("i", "d", None, 2)]
    for how in ({"columns": ["value"], "filter": "value > 1"}, {"net": True}, {"net": True, "end": last}):
        some = hoodie.spark.read_changes(spark, table.base_path, first, **how)
        assert rows(some.toArrow()) == rows(table.read_changes(first, **how)), how
    nothing = hoodie.spark.read_changes(spark, table.base_path, last)
    assert (nothing.schema, nothing.count()) == (frame.schema, 0)


def test_required_fields_of_structs(spark, tmp_path):
    """They are null in an image that is null."""
    point = pa.struct(
        [pa.field("x", pa.int64(), nullable=False), ("at", pa.timestamp("us", "UTC")), ("l", pa.list_(pa.int32()))]
    )
    rows_of = {
        "id": ["a", "b"],
        "point": pa.array([{"x": 1, "at": datetime(2026, 1, 1, tzinfo=UTC), "l": [1]}, None], point),
    }
    table = HoodieTable.create(tmp_path / "t", {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"})
    table.write(pa.table(rows_of), "insert")
    table.write(pa.table({"id": ["a"]}), "delete")
    hoodie.spark.register(spark)
    source = spark.read.format("hoodie").options(**CDC, **{BEGIN: "earliest"}).load(table.base_path)
    for frame in (hoodie.spark.read_changes(spark, table.base_path), source):
        assert rows(frame.toArrow()) == rows(table.read_changes())


def test_statements(spark, table, tmp_path):
    first = table.read_changes()["_hoodie_completion_time"][0]
    with connect(tmp_path, spark=spark) as db:
        query = f"select op, after.id, before.value old from hudi_table_changes('t', 'cdc', '{first}') where after.value = 2"
        found = sorted(db.sql(query).rows(), key=repr)
    assert found == [("i", "a", None), ("i", "d", None), ("u", "c", 1)]


def test_the_source(spark, table):
    hoodie.spark.register(spark)
    first, *_, last = table.read_changes()["_hoodie_completion_time"].unique().to_pylist()
    for begin, end in (("earliest", None), (first, None), (first, last), (last, None)):
        options = {**CDC, BEGIN: begin, **({} if end is None else {END: end})}
        frame = spark.read.format("hoodie").options(**options).load(table.base_path)
        expected = table.read_changes(None if begin == "earliest" else begin, end)
        assert (frame.columns, rows(frame.toArrow())) == (expected.schema.names, rows(expected))
    named = spark.read.format("hoodie").options(**CDC, **{BEGIN: first})
    some = named.schema("op STRING, _hoodie_record_key STRING").load(table.base_path).where("op = 'd'")
    assert sorted(some.collect()) == [("d", "a"), ("d", "b")]
    for schema, words in (("op INT", "Column op"), ("nope INT", "no column nope")):
        with pytest.raises(PySparkException, match=words):
            named.schema(schema).load(table.base_path).count()


def test_ranges_that_are_gone(spark, tmp_path):
    """The driver finds them when it plans."""
    table = create(tmp_path / "t", FakeClock())
    for value in range(4):
        write(table, [("a", "p", value, value)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": "1"})
    with pytest.raises(ChangeRangeError, match="clean"):
        hoodie.spark.read_changes(spark, table.base_path)
    with connect(tmp_path, spark=spark) as db, pytest.raises(ChangeRangeError, match="clean"):
        db.sql("select * from hudi_table_changes('t', 'earliest')")
    hoodie.spark.register(spark)
    with pytest.raises(PySparkException, match="clean"):
        spark.read.format("hoodie").options(**CDC, **{BEGIN: "earliest"}).load(table.base_path).count()


def test_errors_of_workers(spark, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table, [("a", "p", 1, 1)], "insert")
    write(table, [("a", "p", 1, 2)], "insert")
    frame = hoodie.spark.read_changes(spark, table.base_path, net=True)
    with pytest.raises(PySparkException, match=DataError.__name__):
        frame.toArrow()
