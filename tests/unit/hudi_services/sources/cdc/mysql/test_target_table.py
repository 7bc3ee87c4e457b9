"""Hudi tables with partitions: rows move where an update changes their key or the column of their partition."""

from __future__ import annotations

import random

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.write import pipeline
from hudi_services.sources.cdc.mysql import target_table
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load, server_rows

pytestmark = pytest.mark.process
TOWNS = ("'Bern'", "'Rom'", "''", "NULL", "'a/b=c'")


def transaction(draw):
    key, town = draw.randrange(12), draw.choice(TOWNS)
    statements = [
        f"INSERT INTO t VALUES ({key}, {town}, {draw.randrange(9)}) ON DUPLICATE KEY UPDATE town = {town}",
        f"UPDATE t SET town = {town} WHERE id BETWEEN {key} AND {key + 3}",
        f"UPDATE IGNORE t SET id = id + 1, town = {town} WHERE id = {key}",
        f"UPDATE t SET town = COALESCE(town, 'Bern'), n = n + 1 WHERE id > {key}",
        f"DELETE FROM t WHERE id = {key}",
        f"REPLACE INTO t VALUES ({key}, {town}, 7)",
    ]
    return ["BEGIN", *draw.choices(statements, k=4), draw.choice(["COMMIT", "COMMIT", "ROLLBACK"])]


@pytest.mark.parametrize(("kind", "index"), [("COPY_ON_WRITE", "GLOBAL_SIMPLE"), ("MERGE_ON_READ", "SIMPLE")])
def test_rows_move_between_partitions_and_leave_none_behind(server, tmp_path, kind, index):
    draw = random.Random(kind + index)
    database, target = f"moves_{kind}_{index}".lower(), str(tmp_path / "lake")
    server.run(
        f"CREATE DATABASE {database}",
        f"USE {database}",
        "CREATE TABLE t (id INT PRIMARY KEY, town VARCHAR(10), n INT)",
        *(f"INSERT INTO t VALUES ({key}, {town}, 0)" for key, town in enumerate(TOWNS)),
    )
    options = {
        "hoodie.table.type": kind,
        "hoodie.table.partition.fields": "town",
        "hoodie.datasource.write.partitionpath.urlencode": "true",
        "hoodie.index.type": index,
    }
    for _ in range(3):
        load(server, database, target, options=options).run()
        assert lake_rows(target) == server_rows(server, database)
        keys = HoodieTable.open(target, engine=LocalEngine(1)).read(columns=["id"])["id"].to_pylist()
        assert len(keys) == len(set(keys))
        for _ in range(draw.randrange(1, 8)):
            server.run(f"USE {database}", *transaction(draw))


def test_many_changes_are_written_by_many_small_tasks(server, tmp_path, monkeypatch):
    """Memory would grow with a transaction otherwise. The last change of a key counts, in any task."""
    server.run(
        "CREATE DATABASE long_one",
        "CREATE TABLE long_one.t (id INT PRIMARY KEY, v INT)",
    )
    target = str(tmp_path / "lake")
    load(server, "long_one", target).run()
    monkeypatch.setattr(target_table, "_TASK_BYTES", 4096)
    tasks, upserts = [], pipeline.shuffle_tasks

    def counted(*given):
        tasks.append(upserts(*given))
        return tasks[-1]

    monkeypatch.setattr(pipeline, "shuffle_tasks", counted)
    server.run(
        "USE long_one",
        "BEGIN",
        "INSERT INTO t SELECT seq, seq FROM seq_1_to_900",
        "UPDATE t SET v = v + 1 WHERE id % 2",
        "DELETE FROM t WHERE id % 3 = 0",
        "COMMIT",
        "UPDATE t SET v = 0 WHERE id = 1",
    )
    assert load(server, "long_one", target).run().changes == 900 + 450 + 300 + 1
    assert lake_rows(target) == server_rows(server, "long_one")
    assert max(tasks) > 4
