"""`spark.read.format("hoodie")` gives the rows that `HoodieTable.read` gives, of the table as it was at `load`."""

from __future__ import annotations

import datetime
import decimal
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import hoodie.spark
from hoodie import CLEAN, HoodieTable
from hoodie.engine import LocalEngine
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.spark

KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]
QUERY_TYPE = "hoodie.datasource.query.type"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"


@pytest.fixture(scope="module", autouse=True)
def registered(spark):
    hoodie.spark.register(spark)


def two_commits(path, kind="COPY_ON_WRITE"):
    table = create(path, None, LocalEngine(1), **{"hoodie.table.type": kind})
    table.write(batch([(f"k{i}", f"p{i % 2}", i, i) for i in range(10)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("k1", "p1", 100, 100), ("new", "p0", 1, 7)]), "upsert", SMALL_BLOOM)
    return table


def values(frame):
    return {row["id"]: row["value"] for row in frame.collect()}


def stored(table, **how):
    rows = table.read(**how)
    return dict(zip(rows["id"].to_pylist(), rows["value"].to_pylist(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_the_library(spark, tmp_path, kind):
    table = two_commits(tmp_path / "t", kind)
    frame = spark.read.format("hoodie").load(table.base_path)
    assert frame.columns[:2] == ["_hoodie_commit_time", "_hoodie_commit_seqno"]
    assert values(frame) == stored(table)
    assert len(values(frame)) == 11
    frame.createOrReplaceTempView("orders_of_source")
    assert spark.sql("SELECT sum(value) FROM orders_of_source WHERE part = 'p1'").collect()[0][0] == 100 + 3 + 5 + 7 + 9


@pytest.mark.parametrize("kind", KINDS)
def test_options_ask_for_other_rows(spark, tmp_path, kind):
    table = two_commits(tmp_path / "t", kind)
    first = table.timeline.commits[0]
    reader = spark.read.format("hoodie")
    assert values(reader.option("as.of.instant", first.time).load(table.base_path)) == {f"k{i}": i for i in range(10)}
    compacted = spark.read.format("hoodie").option(QUERY_TYPE, "read_optimized").load(table.base_path)
    assert values(compacted) == stored(table, read_optimized=True)

    def changes(begin, end=None):
        found = spark.read.format("hoodie").option(QUERY_TYPE, "incremental").option(BEGIN, begin)
        return values((found if end is None else found.option(END, end)).load(table.base_path))

    assert changes(first.completion_time) == {"k1": 100, "new": 7}
    assert changes("earliest") == stored(table)
    assert changes("earliest", first.completion_time) == {f"k{i}": i for i in range(10)}


def test_a_frame_stays_as_it_was_loaded(spark, tmp_path):
    """Otherwise the sides of a join would see different tables when another writer commits in between."""
    table = two_commits(tmp_path / "t")
    frame = spark.read.format("hoodie").load(table.base_path)
    table.write(batch([("later", "p0", 1, 1)]), "upsert", SMALL_BLOOM)
    assert "later" not in values(frame)
    assert frame.where("id = 'later'").count() == 0
    assert "later" in values(spark.read.format("hoodie").load(table.base_path))
    table.write(batch([(f"k{i}", f"p{i % 2}", 9, 9) for i in range(10)]), "upsert", SMALL_BLOOM)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted
    for query in (frame, frame.where("id <> 'k1'")):  # both planned by the first query
        with pytest.raises(PySparkException, match="MissingFileError"):
            query.collect()


def test_a_schema_names_the_columns_that_are_read(spark, tmp_path):
    table = two_commits(tmp_path / "t", "MERGE_ON_READ")
    named = spark.read.format("hoodie").schema("value BIGINT, id STRING").load(table.base_path)
    assert named.columns == ["value", "id"]
    assert values(named) == stored(table)
    other = spark.read.format("hoodie").schema("value STRING").load(table.base_path)
    with pytest.raises(PySparkException, match="Column value is asked for as string"):
        other.collect()


def test_conditions_of_one_query_do_not_change_another(spark, tmp_path):
    """Spark asks one reader for all queries of a DataFrame, and for both sides of a union."""
    frame = spark.read.format("hoodie").load(two_commits(tmp_path / "t").base_path)
    first, second = frame.where("part = 'p0'"), frame.where("part = 'p1'")
    assert (first.count(), frame.count(), second.count()) == (6, 11, 5)
    assert len(values(frame.where("part = 'p0' OR value = 100"))) == 7
    assert first.union(second).count() == second.union(frame).count() - 5 == 11


def test_conditions_of_every_type_find_the_same_rows(spark, tmp_path):
    """Arrow gets no comparison that Spark makes in its own way."""
    utc = datetime.UTC
    moments = [datetime.datetime(2026, 1, day, 12, tzinfo=utc) for day in (1, 2, 3)]
    rows = pa.table(
        {
            "id": ["a", "b", "c"],
            "f": [1.0, float("nan"), None],
            "d": [moment.date() for moment in moments],
            "at": pa.array(moments, pa.timestamp("us", "UTC")),
            "price": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.50"), None], pa.decimal128(10, 2)),
            "flag": [True, False, None],
        }
    )
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), options)
    table.write(rows, "insert")
    frame = spark.read.format("hoodie").load(table.base_path)
    for condition, found in {
        "f > 5": "b",
        "NOT f < 5": "b",
        "f <=> NULL": "c",
        "d >= DATE'2026-01-02'": "bc",
        "d IN (DATE'2026-01-01', DATE'2026-01-03')": "ac",
        "at > TIMESTAMP'2026-01-02 11:00:00'": "bc",
        "price < 2": "a",
        "price IS NULL": "c",
        "flag": "a",
        "NOT flag": "b",
        "id NOT IN ('a')": "bc",
        "id IN ('a', NULL)": "a",
    }.items():
        assert "".join(sorted(row["id"] for row in frame.where(condition).collect())) == found, condition
    assert sorted(frame.select("at").toArrow()["at"].to_pylist()) == moments


@pytest.mark.parametrize(
    ("options", "said"),
    sample(
        [
            ({}, "has no path"),
            ({"path": "/nowhere/at/all"}, "/nowhere/at/all"),
            ({BEGIN: "20260101000000000"}, "says nothing to a query of type snapshot"),
            ({"as.of.instnt": "2026-01-01"}, "as.of.instant"),
        ],
        0,
        1,
    ),
)
def test_what_is_refused(spark, tmp_path, options, said):
    """`unit/spark/test_source_options.py` has the others."""
    given = {"path": two_commits(tmp_path / "t").base_path, **options} if options else options
    with pytest.raises(PySparkException, match=said):
        spark.read.format("hoodie").options(**given).load()


def test_an_empty_table_has_its_columns(spark, tmp_path):
    table = create(tmp_path / "t", None, LocalEngine(1))
    table.write(batch([]), "insert", SMALL_BLOOM)
    frame = spark.read.format("hoodie").load(table.base_path)
    assert frame.count() == 0
    assert frame.columns[-4:] == ["id", "part", "ts", "value"]


def test_a_temporary_view_of_sql_reads_a_table(spark, tmp_path):
    table = two_commits(tmp_path / "t")
    spark.sql(f"CREATE TEMPORARY VIEW of_source USING hoodie OPTIONS (path '{table.base_path}')")
    assert values(spark.sql("SELECT * FROM of_source WHERE part = 'p1'"))["k1"] == 100


def test_columns_without_nulls_may_be_read_as_if_they_had_some(spark, tmp_path):
    """Spark compares the first batch of a task with the columns that the reader of a table declared, nulls included."""
    rows = pa.table({"id": ["a"], "value": [1]}, pa.schema([pa.field("id", pa.string(), False), ("value", pa.int64())]))
    table = HoodieTable.create(tmp_path / "t", {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"})
    table.write(rows, "insert")
    assert not table.schema.field("id").nullable
    assert values(spark.read.format("hoodie").schema("id STRING, value BIGINT").load(table.base_path)) == {"a": 1}


def test_another_session_and_another_thread_know_the_format(spark, tmp_path):
    """Spark looks for sources of Python in the session that is active in the thread."""
    table = two_commits(tmp_path / "t")

    def change(session, value):
        hoodie.spark.register(session)
        changed = session.read.format("hoodie").load(table.base_path).where("id = 'new'").drop("value")
        changed.selectExpr("id", "part", "ts", f"{value} value").write.format("hoodie").mode("append").save(
            table.base_path
        )

    try:
        change(spark.newSession(), 8)
        assert stored(table)["new"] == 8
        with ThreadPoolExecutor(1) as other:
            other.submit(change, spark, 9).result()
        assert stored(table)["new"] == 9
    finally:
        hoodie.spark.register(spark)
