"""Hudi tables with partitions: rows move where an update changes their key or the column of their partition."""

from __future__ import annotations

import random

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from tests.unit.hudi_services.cdc.mysql.test_table_load import lake_rows, load, server_rows

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
