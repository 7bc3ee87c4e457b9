"""Tables of other columns, many tables, and tables that share keys, against the one Hudi table that has their rows."""

from __future__ import annotations

import pytest

from hudi_services.sources.cdc.mysql.equality import shard_sums
from tests.unit.hudi_services.sources.databases.test_shard_verification import filled, make, server

__all__ = ["make", "server"]
pytestmark = pytest.mark.process


def test_columns_that_became_wider_after_their_rows_were_written(make):
    """The rows of s1 are in files with the narrow types, and those of s2 widen the columns later."""
    shards = make()
    shards.run(
        "CREATE TABLE s1 (id INT PRIMARY KEY, f FLOAT, d DECIMAL(6,2), n INT)",
        "INSERT INTO s1 SELECT seq, seq / 10, seq / 7, seq FROM seq_1_to_50",
    )
    shards.sync.run()
    shards.run(
        "CREATE TABLE s2 (id BIGINT PRIMARY KEY, f DOUBLE, d DECIMAL(12,2), n BIGINT)",
        "INSERT INTO s2 SELECT seq, seq / 10, seq / 7, 5000000000 FROM seq_1_to_50",
        "INSERT INTO s1 VALUES (100, 1.1, 2.2, 3)",
    )
    report = shards.verify()
    assert (report.differing, report.rows, report.rows_read) == (0, 101, 0)
    shards.plant("upsert", "s1", id=1, f=0.1 + 1e-12, d=None, n=1)
    report = shards.verify()
    assert (shards.counts(report), report.columns) == ({"s1": (0, 0, 1, 0)}, {"f": 1, "d": 1})
    assert shards.verify(repair=True).written == 1
    assert shards.verify().is_equal


def test_keys_that_tables_share_while_a_row_moves_are_said_and_others_are_compared(make):
    shards = make(", global_keys: true")
    shards.run(
        *(f"CREATE TABLE {name} (id INT PRIMARY KEY, v VARCHAR(20))" for name in ("s1", "s2", "s3")),
        *(f"INSERT INTO s{n} SELECT {n}00 + seq, 'x' FROM seq_1_to_20" for n in (1, 2, 3)),
    )
    assert shards.verify().is_equal
    shards.run("INSERT INTO s2 VALUES (101, 'moved')")
    report = shards.verify()
    assert (report.is_equal, report.tables[f"{shards.database}.s1"].shared) == (True, 1)
    assert not report.is_proof
    assert shards.verify_all()["s1"].reason == "not compared: 1 rows whose keys the lake has from another table"
    assert shards.verify("s1").tables[f"{shards.database}.s1"].shared == 1
    shards.plant("upsert", "s3", id=102, v="x")  # the server has it in s1 only
    shards.plant("delete", "s2", id=202)
    shards.plant("upsert", "s2", id=900, v="x")
    shards.plant("upsert", "s2", id=101, v="other")
    report = shards.verify()
    assert shards.counts(report) == {"s1": (0, 0, 1, 0), "s2": (1, 1, 1, 0)}
    assert shards.verify(repair=True).written == 4
    assert shards.verify().is_equal
    shards.run("DELETE FROM s1 WHERE id = 101")
    assert shards.verify().is_proof


def test_many_tables_have_fewer_chunks_each_and_one_pass_reads_all(make, monkeypatch):
    monkeypatch.setattr(shard_sums, "_SUMS", 1 << 6)
    shards = make()
    names = [f"s{number}" for number in range(30)]
    shards.run(
        *(f"CREATE TABLE {name} (id INT PRIMARY KEY, v INT)" for name in names),
        *(f"INSERT INTO {name} SELECT seq, seq FROM seq_1_to_9" for name in names),
    )
    assert shards.verify().rows == 270
    for name in names[::7]:
        shards.plant("upsert", name, id=5, v=6)
    report = shards.verify()
    assert shards.counts(report) == dict.fromkeys(names[::7], (0, 0, 1, 0))
    assert shards.verify(repair=True).written == len(names[::7])
    assert shards.verify().is_equal


def test_masked_tables_are_compared_row_by_row_and_a_condition_holds(make):
    shards = filled(make(", masks: {v: mask}, where: id <= 30"))
    report = shards.verify()
    assert (report.is_equal, report.rows, report.lake_rows, report.rows_read) == (True, 90, 90, 90)
    assert report.masked == {"v": "mask"}
    shards.plant("upsert", "s1", id=2, v="clear", n=2, f=0.2)
    shards.plant("upsert", "s8", id=2, v="clear", n=2, f=0.2)
    report = shards.verify()
    assert (shards.counts(report), report.columns) == ({"s1": (0, 0, 1, 0)}, {"v": 1})
    assert report.others == {f"{shards.database}.s8": 1}
    assert shards.verify(repair=True).written == 1
    assert {row["v"] for row in shards.rows() if row["_source_table"] == "s1"} != {"clear"}
