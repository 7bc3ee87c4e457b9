"""DataFrames of tables whose slices have logs, and of those that have none."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hoodie.spark
from hoodie import HoodieTable


@pytest.mark.parametrize("archive", ["12v9", "15v6"])
@pytest.mark.parametrize("name", ["mor_avro", "mor_pendcomp", "mor_event"])
def test_logs_are_merged_by_workers(spark, golden, expected, archive, name):
    path = str(golden(archive) / name)
    rows = hoodie.spark.read(spark, path, columns=["id", "name", "price", "ts"]).collect()
    assert {row["id"]: [row["name"], row["price"], row["ts"]] for row in rows} == expected(archive, name)
    whole = hoodie.spark.read(spark, path)
    assert whole.columns[:5] == [
        f"_hoodie_{n}" for n in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
    ]
    assert whole.where("price > 2").count() == sum(row[1] > 2 for row in expected(archive, name).values())
    only_base = hoodie.spark.read(spark, path, read_optimized=True)
    assert only_base.count() == HoodieTable.open(path).read(read_optimized=True).num_rows


@pytest.mark.parametrize("name", ["event", "commit"])
def test_rows_of_some_columns_are_filled_by_workers(spark, golden, expected, name):
    rows = hoodie.spark.read(spark, str(golden("12merge") / name), columns=["id", "name", "price", "ts"]).collect()
    assert {row["id"]: [row["name"], row["price"], row["ts"]] for row in rows} == expected("12merge", name)


def test_rows_of_nan_are_found_by_spark(spark, tmp_path):
    """To Spark NaN is equal to itself and greater than every other number; statistics without it hid its row."""
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), options)
    table.write(pa.table({"id": ["1", "2", "3"], "f": [1.0, math.nan, 2.0]}), "bulk_insert")
    frame = hoodie.spark.read(spark, str(tmp_path / "t"))
    for condition in ("f > 5", "f = double('NaN')", "NOT f < 5", "f <=> double('NaN')"):
        assert [row["id"] for row in frame.where(condition).collect()] == ["2"], condition


def test_a_frame_of_the_past_has_the_columns_of_its_time(spark, tmp_path):
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), options)
    table.write(pa.table({"id": ["1"], "old": [1]}), "insert")
    then = table.timeline.commits[0].time
    table.write(pa.table({"id": ["2"], "old": [2], "new": [2]}), "insert")
    frame = hoodie.spark.read(spark, table.base_path, as_of=then)
    assert frame.columns[-2:] == ["id", "old"]
    assert [row["id"] for row in frame.collect()] == ["1"]
    asked = hoodie.spark.query(spark, table.base_path, lambda rows: rows.groupBy().sum("old"), as_of=then)
    assert asked.collect()[0][0] == 1


def test_a_damaged_page_is_refused_by_spark(spark, tmp_path):
    """It may become other values."""
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), options)
    table.write(pa.table({"id": [f"{n}" for n in range(300)], "v": [n * 7919 % 1000 for n in range(300)]}), "insert")
    (path,) = (tmp_path / "t").glob("*.parquet")
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(6)
    damaged = bytearray(path.read_bytes())
    damaged[(chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size - 20] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(Exception, match="could not verify page integrity"):
        hoodie.spark.read(spark, table.base_path).agg({"v": "sum"}).collect()


@pytest.mark.parametrize(
    ("option", "said"), [("Missing", "FILE_NOT_EXIST|does not exist"), ("Corrupt", "not a Parquet file|FAILED_READ")]
)
def test_a_session_that_ignores_files_loses_no_rows(spark, tmp_path, option, said):
    """A clean takes files of a frame of the past: it is that snapshot, or an error."""
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), options)
    table.write(pa.table({"id": ["1", "2"]}), "insert")
    frame = hoodie.spark.read(spark, table.base_path)
    (path,) = (tmp_path / "t").glob("*.parquet")
    size = path.stat().st_size
    path.unlink()
    if option == "Corrupt":
        path.write_bytes(b"x" * size)
    setting = f"spark.sql.files.ignore{option}Files"
    spark.conf.set(setting, "true")
    try:
        with pytest.raises(Exception, match=said):
            frame.collect()
    finally:
        spark.conf.unset(setting)
