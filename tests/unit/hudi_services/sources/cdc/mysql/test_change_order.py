"""The order of changes is that of the server's commits, also where changes are read twice. No clock decides it."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.services.rollback.service import Rollback
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, load, server_rows

pytestmark = pytest.mark.process


def test_rows_that_are_deleted_and_inserted_again_stay_when_changes_are_read_twice(server, tmp_path):
    """A table that is emptied and filled each night. Both commits are taken back, so the load reads their changes again."""
    database, target, options = "nightly", str(tmp_path / "lake"), {"hoodie.table.type": "MERGE_ON_READ"}
    server.run(f"CREATE DATABASE {database}", f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v INT)")
    fill = f"INSERT INTO {database}.t VALUES (1, 1), (2, 2), (3, 3)"
    server.run(fill)
    load(server, database, target, options=options).run()
    for statement in (f"DELETE FROM {database}.t", fill):
        server.run(statement)
        assert load(server, database, target, options=options).run().changes == 3
    for _ in range(2):
        table = HoodieTable.open(target)
        table.run(Rollback(table.timeline.commits[-1].time))
    assert load(server, database, target, options=options).run().changes == 6
    assert lake_rows(target) == server_rows(server, database)
    assert load(server, database, target, options=options).run().commits == 0


def test_a_transaction_that_begins_first_and_commits_last_wins(server, tmp_path):
    """The clock of its session is years behind, and the table is loaded while it is open."""
    database, target = "late_commit", str(tmp_path / "lake")
    server.run(
        f"CREATE DATABASE {database}",
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, v VARCHAR(9))",
        f"INSERT INTO {database}.t VALUES (1, 'old')",
    )
    load(server, database, target).run()
    first = server.connection(database)
    with first, first.cursor() as cursor:
        for statement in ("SET timestamp = 1000000", "BEGIN", "INSERT INTO t VALUES (2, 'first')"):
            cursor.execute(statement)
        server.run(
            f"UPDATE {database}.t SET v = 'second' WHERE id = 1", f"INSERT INTO {database}.t VALUES (3, 'second')"
        )
        load(server, database, target).run()
        assert lake_rows(target) == [(1, "second"), (3, "second")]
        cursor.execute("UPDATE t SET v = 'first' WHERE id IN (1, 3)")
        cursor.execute("COMMIT")
    assert load(server, database, target).run().changes == 3
    assert lake_rows(target) == server_rows(server, database)


def test_a_null_stays_null_where_the_column_has_a_default(server, tmp_path):
    """Also in a column that names the partition, which a row leaves when its null becomes the default."""
    database, target, options = "defaults", str(tmp_path / "lake"), {"hoodie.table.partition.fields": "p"}
    server.run(
        f"CREATE DATABASE {database}",
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, p VARCHAR(9) DEFAULT 'x', v INT DEFAULT 7)",
        f"INSERT INTO {database}.t VALUES (1, NULL, NULL), (2, NULL, 7)",
    )
    load(server, database, target, options=options).run()
    server.run(
        f"UPDATE {database}.t SET p = DEFAULT, v = DEFAULT WHERE id = 1",
        f"UPDATE {database}.t SET v = NULL WHERE id = 2",
        f"INSERT INTO {database}.t VALUES (3, NULL, NULL)",
        f"INSERT INTO {database}.t (id) VALUES (4)",
    )
    load(server, database, target, options=options).run()
    assert lake_rows(target) == server_rows(server, database)
