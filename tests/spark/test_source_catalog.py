"""Spark SQL with `USING hoodie`: the statements that work, and the messages of those that do not."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

import hoodie.spark
from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from tests.support.tables import OPTIONS, batch, content, create

pytestmark = pytest.mark.spark

COLUMNS = "id STRING, part STRING, ts BIGINT, value BIGINT"


@pytest.fixture(scope="module", autouse=True)
def registered(spark):
    hoodie.spark.register(spark)


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", None, LocalEngine(1))
    table.write(batch([("k1", "p1", 1, 1), ("k2", "p0", 1, 2)]), "insert")
    return table


@pytest.fixture
def carrier(spark, table):
    """A table of Spark's catalog; what it names are columns."""
    spark.sql(f"CREATE TABLE of_catalog USING hoodie LOCATION '{table.base_path}'")
    yield "of_catalog"
    spark.sql("DROP TABLE IF EXISTS of_catalog")
    assert len(content(table)) > 0  # the table does not own its files: a drop keeps them


def keys(spark, query):
    return sorted(row["id"] for row in spark.sql(query).collect())


def test_a_temporary_view_is_written_by_insert(spark, table):
    at = f"USING hoodie OPTIONS (path '{table.base_path}')"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW written ({COLUMNS}) {at}")
    assert keys(spark, "SELECT * FROM written") == ["k1", "k2"]
    spark.sql("INSERT INTO written VALUES ('k2', 'p0', 2, 20), ('k3', 'p0', 1, 3)")
    assert content(table) == {"k1": ("p1", 1, 1), "k2": ("p0", 2, 20), "k3": ("p0", 1, 3)}
    assert keys(spark, "SELECT * FROM written") == ["k1", "k2"]  # as when it was first read
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW written {at}")
    assert keys(spark, "SELECT * FROM written") == ["k1", "k2", "k3"]
    spark.sql(
        "INSERT INTO written BY NAME SELECT 'k4' id, 'p0' part, 1L ts, 4L value"
    )  # meta columns are the table's business
    assert sorted(content(table)) == ["k1", "k2", "k3", "k4"]
    spark.sql("INSERT OVERWRITE written BY NAME SELECT 'k5' id, 'p0' part, 1L ts, 5L value")
    assert content(table) == {"k5": ("p0", 1, 5)}


def test_a_table_of_the_catalog_is_one_with_its_path(spark, table, carrier):
    with_path = f"{carrier} WITH (path '{table.base_path}')"
    assert keys(spark, f"SELECT id FROM {with_path} WHERE part = 'p1'") == ["k1"]
    spark.sql("CREATE OR REPLACE VIEW trips_of_catalog AS SELECT * FROM " + with_path)
    try:
        assert keys(spark, "SELECT * FROM trips_of_catalog") == ["k1", "k2"]
        spark.sql(f"INSERT INTO {with_path} (id, part, ts, value) VALUES ('k3', 'p1', 1, 3)")
        assert keys(spark, "SELECT * FROM trips_of_catalog") == ["k1", "k2", "k3"]  # as it is at each query
    finally:
        spark.sql("DROP VIEW trips_of_catalog")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT * FROM {t}", r"SELECT … FROM orders WITH \(path"),
        ("INSERT INTO {t} (id, part, ts, value) VALUES ('k3', 'p1', 1, 3)", r"INSERT INTO orders WITH \(path"),
        ("DELETE FROM {t} WHERE id = 'k1'", "does not support deletes"),
        ("UPDATE {t} SET value = 3", "does not support UPDATE TABLE"),
        (
            "MERGE INTO {t} USING (SELECT 'k1' k) s ON s.k = id WHEN MATCHED THEN DELETE",
            "does not support MERGE INTO TABLE",
        ),
        ("TRUNCATE TABLE {t}", "does not support truncates"),
        ("SHOW PARTITIONS {t}", "does not support partition management"),
        ("SELECT * FROM hoodie.`{path}`", "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"),
        (
            "CREATE TABLE other USING hoodie LOCATION '{path}' TBLPROPERTIES ('hoodie.tabl.name' 'x')",
            "hoodie.tabl.name",
        ),
        ("CREATE TABLE other USING hoodie LOCATION '{path}/other' AS SELECT 'k' id", "has no path"),
    ],
)
def test_what_spark_does_not_do_for_a_source_of_python(spark, table, carrier, statement, said):
    before = content(table)
    with pytest.raises(PySparkException, match=said):
        spark.sql(statement.format(t=carrier, path=table.base_path)).collect()
    assert content(table) == before


def test_a_statement_with_a_path_creates_the_table(spark, tmp_path):
    options = ", ".join(f"`{name}` '{value}'" for name, value in OPTIONS.items())
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW new_one ({COLUMNS}) USING hoodie OPTIONS (path '{tmp_path}/new', {options})"
    )
    spark.sql("INSERT INTO new_one VALUES ('k1', 'p1', 1, 1)")
    assert content(HoodieTable.open(tmp_path / "new")) == {"k1": ("p1", 1, 1)}
