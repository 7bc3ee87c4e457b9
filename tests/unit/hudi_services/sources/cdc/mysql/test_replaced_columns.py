"""Expressions that take the place of columns, and those of columns that are not loaded: the same rows on every way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie import HoodieTable
from hoodie.errors import HoodieError
from hudi_services.sources.cdc.column_expressions import AddedColumns
from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.databases.expressions import ColumnExpressions
from tests.unit.hudi_services.sources.cdc.mysql.test_group_load import APPLY, Shards
from tests.unit.hudi_services.sources.cdc.mysql.test_snapshot_load import lake_rows, load

pytestmark = pytest.mark.process
ADDED = AddedColumns(ColumnExpressions({"n": "n * 2", "v": "upper(v)", "long": "length(secret) + n"}))
CHOSEN = Masks(only=frozenset(["id", "n", "v"]))
EXPECTED = "SELECT id, n * 2, UPPER(v), LENGTH(secret) + n FROM {}.{}"


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_snapshots_changes_verify_and_resync_have_the_same_rows(server, tmp_path, kind):
    database, target = f"replaced_{kind.lower()}", str(tmp_path / "lake")
    server.run(
        f"CREATE OR REPLACE DATABASE {database}",
        f"CREATE TABLE {database}.t (id INT PRIMARY KEY, n INT, v VARCHAR(9), secret VARCHAR(9))",
        f"INSERT INTO {database}.t VALUES (1, 10, 'a', 'xyz'), (2, 20, 'b', NULL), (3, NULL, NULL, 'x')",
    )

    def fitted(path=target, masks=CHOSEN, added=ADDED):
        one = load(server, database, path, {"hoodie.table.type": kind})
        one.target = replace(one.target, masks=masks, added=added)
        return one

    def expected():
        connection = server.connection(database)
        with connection, connection.cursor() as cursor:
            cursor.execute(EXPECTED.format(database, "t"))
            return sorted(cursor.fetchall(), key=str)

    fitted().run()
    assert lake_rows(target) == expected()
    server.run(
        f"USE {database}",
        "INSERT INTO t VALUES (4, 40, 'd', 'four')",
        "UPDATE t SET secret = 'longer' WHERE id = 2",
        "UPDATE t SET n = 11, v = 'aa' WHERE id = 1",
        "UPDATE t SET id = 9 WHERE id = 4",
        "DELETE FROM t WHERE id = 3",
    )
    last = fitted()
    last.run()
    assert lake_rows(target) == expected()
    assert EqualityCheck(last).verify().is_equal
    fitted(str(tmp_path / "other")).run()
    assert lake_rows(str(tmp_path / "other")) == expected()

    damaged = HoodieTable.open(target)
    rows = damaged.read()
    rows = rows.select([name for name in rows.schema.names if not name.startswith("_hoodie")])
    damaged.write(rows.set_column(1, "n", rows["id"]), "upsert")
    assert lake_rows(target) != expected()
    report = EqualityCheck(last).verify()
    assert not report.is_equal
    assert EqualityCheck(last).resync().differing == report.differing == 3
    assert lake_rows(target) == expected()
    assert EqualityCheck(last).verify().is_equal

    keyed = fitted(str(tmp_path / "keyed"), Masks(), AddedColumns(ColumnExpressions({"id": "id * 2"})))
    with pytest.raises(HoodieError, match=r"'id' is a part of the key of .*, so no expression can take its place"):
        keyed.run()


def test_without_masks_a_replaced_column_is_verified_by_its_expression(server, tmp_path):
    target = str(tmp_path / "lake")
    server.run(
        "CREATE OR REPLACE DATABASE replaced_alone",
        "CREATE TABLE replaced_alone.t (id INT PRIMARY KEY, amount DECIMAL(9,2))",
        "INSERT INTO replaced_alone.t VALUES (1, 1.50), (2, 2.50)",
    )
    one = load(server, "replaced_alone", target)
    one.target = replace(one.target, added=AddedColumns(ColumnExpressions({"amount": "CAST(amount AS VARCHAR)"})))
    one.run()
    server.run("UPDATE replaced_alone.t SET amount = 3.50 WHERE id = 2", "INSERT INTO replaced_alone.t VALUES (3, 0)")
    one.run()
    assert lake_rows(target) == [(1, "1.50"), (2, "3.50"), (3, "0.00")]
    assert EqualityCheck(one).verify().is_equal
    server.run("ALTER TABLE replaced_alone.t MODIFY amount DECIMAL(9,3)")
    with pytest.raises(HoodieError, match="may have changed rows"):
        one.run()


def test_statements_about_columns_that_only_expressions_read_stop_the_load(server, tmp_path):
    """A column that is dropped and comes again is empty at the server. The stored rows are made of its old values."""
    target = str(tmp_path / "lake")
    server.run(
        "CREATE OR REPLACE DATABASE replaced_again",
        "CREATE TABLE replaced_again.t (id INT PRIMARY KEY, n INT, v VARCHAR(9), secret VARCHAR(9))",
        "INSERT INTO replaced_again.t VALUES (1, 10, 'a', 'xyz')",
    )
    one = load(server, "replaced_again", target)
    one.target = replace(one.target, masks=CHOSEN, added=ADDED)
    one.run()
    server.run("USE replaced_again", "ALTER TABLE t DROP secret", "ALTER TABLE t ADD secret VARCHAR(9)")
    with pytest.raises(HoodieError, match="may have changed rows"):
        one.run()
    assert lake_rows(target) == [(1, 20, "A", 13)]


def test_shards(server, tmp_path):
    shards = Shards(server, "replaced_shards", tmp_path)
    shards.policies = APPLY
    shards.masks = Masks({"secret": "drop"}, of_many=True)
    shards.added = AddedColumns(ColumnExpressions({"v": "upper(v)", "long": "length(secret) + id"}))
    for name in shards.names:
        shards.run(
            f"ALTER TABLE {name} ADD secret VARCHAR(9) DEFAULT '{name}-'", f"UPDATE {name} SET v = CONCAT(v, 'x')"
        )

    def assert_equal():
        expected = [
            (database, name, key, v.upper(), len(secret) + key)
            for database, name, key, v, secret in shards.server_rows("id", "v", "secret")
        ]
        assert shards.lake_rows("id", "v", "long") == sorted(expected, key=str)

    assert set(shards.states(shards.sync()).values()) == {"current"}
    assert_equal()
    shards.run(
        "UPDATE s1 SET secret = 'other' WHERE id = 1",
        "UPDATE s2 SET v = 'zz' WHERE id = 2",
        "INSERT INTO s3 VALUES (7, 'new', 'n')",
        "DELETE FROM s1 WHERE id = 2",
    )
    assert set(shards.states(shards.sync()).values()) == {"current"}
    assert_equal()
    shards.run("TRUNCATE s2", "INSERT INTO s2 VALUES (5, 'five', '55555')")
    assert set(shards.states(shards.sync()).values()) == {"current"}
    assert_equal()
    shards.run("TRUNCATE s3")  # nothing comes with the rows that go
    assert set(shards.states(shards.sync()).values()) == {"current"}
    assert_equal()
    shards.run("ALTER TABLE s1 DROP secret", "UPDATE s1 SET v = 'w'", "UPDATE s2 SET v = 'w'")
    assert shards.states(shards.sync()) == {"s1": "parked", "s2": "current", "s3": "current"}
    assert ("replaced_shards", "s2", 5, "W", 10) in shards.lake_rows("id", "v", "long")
