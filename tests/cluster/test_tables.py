"""Tables on S3, written, compacted, cleaned and read by executors on two workers."""

from __future__ import annotations

import os
import signal
import threading

import pyarrow as pa
import pytest

import hoodie.spark
from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.model.names import is_data_file
from hoodie.spark import SparkEngine
from hoodie.storage import open_storage, walk_files
from tests.support.matrix import sample
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, content, create
from tests.support.waiting import until

MARKERS = "hoodie.write.markers.type"
PARTITIONS = 6
ROWS = 60_000


def data_files(url):
    """The base and log files that lie in the table."""
    return {file.path for file in walk_files(open_storage(url), "") if is_data_file(file.name)}


def committed_files(table):
    """Those of the file slices after each commit."""
    slices = [each for commit in table.timeline.commits for each in table.file_slices(commit.time)]
    return {file.path for each in slices for file in (each.base_file, *each.log_files) if file is not None}


def test_executors_have_the_library_from_the_archive(spark, library):
    """Without the archive these tests would say nothing about a cluster whose machines have no checkout."""
    where = spark.sparkContext.parallelize([0, 1], 2).map(lambda _: __import__("hoodie").__file__).collect()
    assert where == [f"./{library.name}/hoodie/__init__.py"] * 2


@pytest.mark.parametrize(
    ("where", "kind"), sample([("s3", "COPY_ON_WRITE"), ("s3", "MERGE_ON_READ"), ("file", "MERGE_ON_READ")], 1)
)
def test_a_table_lives_on_the_cluster(spark, cluster, s3, tmp_path, where, kind):
    place = f"{s3.bucket()}/table" if where == "s3" else f"file://{tmp_path}/table"  # a folder that all machines share
    create(place, **{"hoodie.table.type": kind})
    table = HoodieTable.open(place, engine=SparkEngine(spark))
    hoodie.spark.register(spark)
    table.write(batch([(f"k{n}", f"p{n % 3}", 0, n) for n in range(300)]), "bulk_insert", SMALL_BLOOM)
    expected = {f"k{n}": (f"p{n % 3}", 0, n) for n in range(300)}
    for step in (1, 2, 3):
        rows = [(f"k{n}", f"p{n % 3}", step, n * step) for n in range(step, 300, 7)] + [(f"n{step}", "p0", 1, 1)]
        frame = spark.createDataFrame(batch(rows))
        if step == 1:  # executors note their files at the driver's server
            hoodie.spark.write(frame, place, "upsert", {**SMALL_BLOOM, MARKERS: "timeline_server_based"})
        elif step == 2:  # executors stage the rows
            frame.write.format("hoodie").options(**SMALL_BLOOM).mode("append").save(place)
        else:
            hoodie.spark.write(frame, place, "upsert", SMALL_BLOOM)
        expected.update({key: tuple(rest) for key, *rest in rows})
    logs = "".join(file.read_text() for file in cluster.folder.rglob("stderr"))
    assert "note their files themselves" not in logs, "the server in the driver was reached"
    if kind == "MERGE_ON_READ":
        assert table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
        assert table.run(COMPACTION)
    table.write(batch([("k5", "p2", 9, 0)]), "delete", SMALL_BLOOM)
    del expected["k5"]
    assert content(HoodieTable.open(place)) == expected
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted > 0
    assert content(HoodieTable.open(place)) == expected
    frame = hoodie.spark.read(spark, place, columns=["id", "part", "ts", "value"])
    assert {row.id: (row.part, row.ts, row.value) for row in frame.collect()} == expected
    assert frame.where("part = 'p1'").count() == sum(part == "p1" for part, _, _ in expected.values())


@pytest.mark.parametrize(
    ("kind", "victim"),
    sample([("COPY_ON_WRITE", "executor"), ("MERGE_ON_READ", "executor"), ("MERGE_ON_READ", "python")], 0),
)
def test_a_process_that_is_killed_in_the_middle_of_a_write(spark, cluster, s3, kind, victim):
    """Its tasks run again elsewhere; each row is there once, and no file that the dead one wrote."""
    url = f"{s3.bucket()}/table"
    create(url, **{"hoodie.table.type": kind})
    table = HoodieTable.open(url, engine=SparkEngine(spark))
    table.write(rows(0), "bulk_insert", {**SMALL_BLOOM, "hoodie.bulkinsert.shuffle.parallelism": PARTITIONS})
    killed = threading.Event()
    killer = threading.Thread(target=kill_writer, args=(cluster, url, victim, killed))
    killer.start()
    table.write(rows(1), "upsert", {**SMALL_BLOOM, "hoodie.upsert.shuffle.parallelism": PARTITIONS})
    killer.join()
    assert killed.is_set(), "the write was over before anything could be killed"
    found = HoodieTable.open(url)
    assert found.timeline.pending == ()
    assert found.read(columns=["id", "value"]).sort_by("id").equals(rows(1).select(["id", "value"]).sort_by("id"))
    assert data_files(url) == committed_files(found)
    assert list(walk_files(open_storage(url), ".hoodie/.temp")) == []


@pytest.mark.deep("other tests here kill an executor and write by the format, and `spark` has copies of its tasks")
def test_the_format_writes_what_the_attempts_that_count_have_staged(spark, cluster, s3):
    """Executors stage rows on S3, one of their processes is killed, and the driver's process writes each row once."""
    hoodie.spark.register(spark)
    url = f"{s3.bucket()}/table"
    frame = spark.createDataFrame(rows(1)).repartition(PARTITIONS)
    killed = threading.Event()
    killer = threading.Thread(target=kill_writer, args=(cluster, url, "python", killed, ".hoodie/.staged", ".arrow"))
    killer.start()
    frame.write.format("hoodie").options(**OPTIONS, **SMALL_BLOOM).mode("append").save(url)
    killer.join()
    assert killed.is_set(), "the write was over before anything could be killed"
    found = HoodieTable.open(url)
    assert found.read(columns=["id", "value"]).sort_by("id").equals(rows(1).select(["id", "value"]).sort_by("id"))
    assert data_files(url) == committed_files(found)
    assert list(walk_files(open_storage(url), ".hoodie/.staged")) == []


def rows(step):
    numbers = range(ROWS)
    return pa.table(
        {
            "id": [f"k{n:06}" for n in numbers],
            "part": [f"p{n % PARTITIONS}" for n in numbers],
            "ts": pa.array([step] * ROWS, pa.int64()),
            "value": pa.array([n * (step + 1) for n in numbers], pa.int64()),
        }
    )


def kill_writer(cluster, url, victim, killed, folder=".hoodie/.temp", sign=".marker"):
    """As soon as a marker of a data file is there, or another sign, end a process that may be writing it, for good."""
    storage = open_storage(url)

    def victims():
        if not any(sign in file.name for file in walk_files(storage, folder)):
            return []
        return cluster.executors()[:1] if victim == "executor" else cluster.python_workers()

    for process in until(victims):
        os.kill(process.pid, signal.SIGKILL)
        killed.set()
