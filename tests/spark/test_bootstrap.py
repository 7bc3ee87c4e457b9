"""A bootstrap on Spark: the same table as on threads; DataFrames of it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hoodie.spark
from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hoodie.errors import SourceError
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap, validate_bootstrap
from hoodie.spark import SparkEngine
from tests.support.matrix import sample
from tests.support.sources import SMALL, TABLE, contents, hive_source, put

pytestmark = pytest.mark.spark


def rows_of(table):
    return sorted(map(str, table.to_pylist()))


def test_the_same_table_as_on_threads(spark, tmp_path):
    source = hive_source(tmp_path / "source")
    before = contents(source)
    options = {"hoodie.bootstrap.base.path": str(source), "hoodie.bootstrap.mode.selector.regex": "part=p2", **SMALL}
    columns = ["_hoodie_record_key", "_hoodie_partition_path", "_hoodie_commit_time", "id", "value", "part"]
    found = []
    for name, engine in (("threads", LocalEngine(2)), ("spark", SparkEngine(spark))):
        asked = BootstrapRequest(str(tmp_path / name), TABLE, options)
        result = run_bootstrap(asked, SystemClock(), engine)
        assert result.rows == 9
        assert validate_bootstrap(asked, SystemClock(), engine).different == ()
        found.append(rows_of(HoodieTable.open(asked.base_path).read(columns=columns)))
    assert found[0] == found[1]

    path = str(tmp_path / "spark")
    frame = hoodie.spark.read(spark, path)
    assert rows_of(frame.select(*columns).toArrow()) == found[1]
    assert frame.where("value = 4").select("id").collect()[0][0] == "h"
    incremental = hoodie.spark.read_incremental(spark, path, None)
    assert rows_of(incremental.select(*columns).toArrow()) == found[1]
    change = spark.createDataFrame(
        [("a", 5, 50, "p2"), ("b", 5, 50, "p1")], "id string, ts long, value long, part string"
    )
    hoodie.spark.write(change, path, options=SMALL)
    ours = HoodieTable.open(path).read(columns=columns)
    assert sum(value == 50 for value in ours["value"].to_pylist()) == 2
    assert rows_of(hoodie.spark.read(spark, path, columns=columns).toArrow()) == rows_of(ours)
    assert contents(source) == before


def test_errors_of_the_workers_say_what_to_do(spark, tmp_path):
    source = tmp_path / "source"
    put(source, "part=p1/a", ["a"], part="p2")
    asked = BootstrapRequest(str(tmp_path / "t"), TABLE, {"hoodie.bootstrap.base.path": str(source), **SMALL})
    with pytest.raises(Exception, match="another partition than its folder"):
        run_bootstrap(asked, SystemClock(), SparkEngine(spark))
    assert HoodieTable.open(asked.base_path).read() == pa.table({})
    put(source, "part=p1/b", ["x", None], part="p1")
    with pytest.raises(SourceError, match="null"):
        run_bootstrap(asked, SystemClock(), SparkEngine(spark))


@pytest.mark.parametrize("mode", sample(["METADATA_ONLY", "FULL_RECORD"], 0))
def test_what_spark_wrote_in_hives_old_ways(spark, tmp_path, mode):
    """INT96 timestamps, two-level lists, Hive's bags and maps, decimals in bytes."""
    plain = str(tmp_path / "source")
    legacy = {"spark.sql.parquet.writeLegacyFormat": "true", "spark.sql.parquet.outputTimestampType": "INT96"}
    before = {key: spark.conf.get(key) for key in legacy}
    for key, value in legacy.items():
        spark.conf.set(key, value)
    spark.range(20).selectExpr(
        "cast(id as string) id",
        "timestamp_seconds(1700000000 + id) at",
        "array(id, id + 1) two_level",
        "array(named_struct('a', id, 'b', array(id))) structs",
        "array(if(id = 3, null, id)) bag",
        "map('k', id) map",
        "cast(id as decimal(9, 2)) price",
        "concat('part ', id % 2) part",
    ).repartition(1).write.partitionBy("part").parquet(plain)
    for key, value in before.items():
        spark.conf.set(key, value)
    file = pq.ParquetFile(next((tmp_path / "source").rglob("*.parquet")))
    assert "repeated int64 field_id=-1 array" in str(file.schema)
    assert "Int96" in str(file.schema) or "int96" in str(file.schema)
    table = {key: value for key, value in TABLE.items() if key != "hoodie.table.ordering.fields"}
    options = {"hoodie.bootstrap.base.path": plain, "hoodie.bootstrap.mode.selector.regex.mode": mode, **SMALL}
    asked = BootstrapRequest(str(tmp_path / "t"), table, options)
    run_bootstrap(asked, SystemClock(), LocalEngine(2))
    assert validate_bootstrap(asked, SystemClock(), LocalEngine(2)).different == ()
    names = spark.read.parquet(plain).columns
    wanted = rows_of(spark.read.parquet(plain).select(names).toArrow())
    assert rows_of(HoodieTable.open(asked.base_path).read(columns=names)) == wanted
    assert rows_of(hoodie.spark.read(spark, asked.base_path).select(names).toArrow()) == wanted
