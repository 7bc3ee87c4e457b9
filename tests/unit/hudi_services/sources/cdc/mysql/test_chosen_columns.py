"""Some columns of a server, some rows, and columns that are computed: the same by snapshots, by changes and after kills."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from hoodie.errors import SourceError
from hoodie.storage import open_storage
from hudi_services.sources.cdc.column_expressions import AddedColumns
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.mysql import snapshot_load
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.row_filter import RowFilter
from hudi_services.sources.databases.expressions import ColumnExpressions
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import sample
from tests.unit.hudi_services.sources.cdc.mysql.test_group_load import APPLY, Shards
from tests.unit.hudi_services.sources.cdc.mysql.test_snapshot_load import (
    changes_between_statements,
    lake_rows,
    load,
    made,
    server_rows,
    stored,
)

pytestmark = pytest.mark.process


@pytest.mark.parametrize("kind", sample(["COPY_ON_WRITE", "MERGE_ON_READ"], 1))
def test_kills_between_snapshot_and_changes_lose_no_row_of_the_condition(server, tmp_path, monkeypatch, kind):
    for name, value in {"GROUP_ROWS": 7, "CHUNK_ROWS": 3}.items():
        monkeypatch.setattr(snapshot_load, name, value)
    draw, database, target = random.Random(kind), f"chosen_{kind.lower()}", str(tmp_path / "lake")
    made(server, database)
    server.run(f"ALTER TABLE {database}.t ADD hidden VARCHAR(9) DEFAULT 'hidden'")

    def fitted(storage, sessions=1):
        run = load(server, database, storage, {"hoodie.table.type": kind}, sessions=sessions)
        added = AddedColumns(ColumnExpressions({"n": "b * 2", "w": "upper(v)"}))
        masks = Masks(only=frozenset(["a", "b", "v"]))
        run.target = replace(run.target, masks=masks, added=added, filter=RowFilter("b > 3 and v <> 'again'"))
        return run

    def expected():
        rows = [row[:3] for row in server_rows(server, database) if row[1] > 3 and row[2] not in (None, "again")]
        return sorted(((a, b, v, b * 2, v.upper()) for a, b, v in rows), key=str)

    kills, inside = 0, False
    monkeypatch.setattr("tests.unit.hudi_services.sources.cdc.mysql.test_snapshot_load.random_transaction", named)
    with changes_between_statements(server, database, draw, monkeypatch):
        while True:
            storage = FaultyStorage(target, draw.randrange(10, 90) if kills < 6 or not inside else None, "kill")
            try:
                fitted(storage, draw.randint(1, 3)).run()
                break
            except Killed:
                kills += 1
                position = stored(fitted(target))
                inside = inside or (position is not None and position.snapshot is not None)
    assert inside
    last = fitted(target)
    last.run()
    assert lake_rows(target) == expected()
    assert EqualityCheck(last).verify().is_equal
    server.run(f"USE {database}", "ALTER TABLE t ADD later INT, DROP hidden", "UPDATE t SET later = b")
    last = fitted(target)
    last.run()
    assert lake_rows(target) == expected()
    assert EqualityCheck(last).resync().is_equal


def named(draw):
    """A transaction that lets rows in and out of the condition, and changes the hidden column, too."""
    b, other = draw.randrange(13), draw.randrange(13)
    statements = [
        f"UPDATE t SET v = 'again' WHERE b = {b}",
        f"UPDATE t SET v = 'back', hidden = 'x' WHERE b = {b}",
        f"UPDATE IGNORE t SET b = {other} WHERE b = {b}",
        f"DELETE FROM t WHERE b = {b} AND v = 'back'",
        f"INSERT IGNORE INTO t (a, b, v) VALUES ('n{draw.randrange(99)}', {b}, 'new'), ('m', {other}, NULL)",
        f"UPDATE t SET hidden = 'y' WHERE b = {b}",
    ]
    return ["BEGIN", *draw.choices(statements, k=draw.randint(1, 3)), draw.choice(["COMMIT", "COMMIT", "ROLLBACK"])]


def test_shards_have_the_chosen_columns_and_where_rows_are_from(server, tmp_path):
    shards = Shards(server, "chosen_shards", tmp_path)
    origin = ("_source_database", "_source_table")
    shards.policies, shards.masks = APPLY, Masks(only=frozenset(["id", "n", *origin]), of_many=True)
    shards.added = AddedColumns(ColumnExpressions({"twice": "n * 2"}))
    shards.run("ALTER TABLE s1 ADD n INT", "UPDATE s1 SET n = id")
    shards.run("ALTER TABLE s3 DROP v, ADD v DATE")  # its type does not go together with that of the others
    assert set(shards.states(shards.sync()).values()) == {"current"}
    shards.run(
        "ALTER TABLE s2 ADD n INT, MODIFY v TEXT",
        "INSERT INTO s2 VALUES (7, 'x', 8)",
        "ALTER TABLE s1 ADD another INT",
        "INSERT INTO s1 VALUES (3, 'c', 4, 5)",
        "UPDATE s1 SET v = 'hidden' WHERE id = 1",
        "UPDATE s3 SET v = '2026-01-02' WHERE id = 1",
        "DELETE FROM s3 WHERE id = 2",
    )
    assert set(shards.states(shards.sync()).values()) == {"current"}
    columns = ("id", "n", "twice", "v", "another")
    by_changes = shards.lake_rows(*columns)
    assert [row[1:] for row in by_changes] == [
        ("s1", 1, 1, 2, None, None),
        ("s1", 2, 2, 4, None, None),
        ("s1", 3, 4, 8, None, None),
        ("s2", 1, None, None, None, None),
        ("s2", 2, None, None, None, None),
        ("s2", 7, 8, 16, None, None),
        ("s3", 1, None, None, None, None),
    ]
    shards.path, shards.cuts = str(tmp_path / "other"), CutStore(open_storage(str(tmp_path / "states")), "shop")
    shards.sync()
    assert shards.lake_rows(*columns) == by_changes


def test_a_computed_column_follows_a_wider_column(server, tmp_path):
    target = str(tmp_path / "lake")
    server.run(
        "CREATE OR REPLACE DATABASE chosen_wider",
        "CREATE TABLE chosen_wider.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO chosen_wider.t VALUES (1, 2)",
    )

    def run():
        one = load(server, "chosen_wider", target)
        one.target = replace(
            one.target, added=AddedColumns(ColumnExpressions({"w": "v * 2"})), filter=RowFilter("v > 1")
        )
        one.run()
        return one

    run()
    big = 5_000_000_000
    server.run("USE chosen_wider", "ALTER TABLE t MODIFY v BIGINT", f"INSERT INTO t VALUES (2, {big}), (3, 0)")
    last = run()
    assert lake_rows(target) == [(1, 2, 4), (2, big, 2 * big)]
    assert EqualityCheck(last).verify().is_equal
    server.run("USE chosen_wider", "UPDATE t SET v = 9223372036854775807 WHERE id = 1")
    with pytest.raises(SourceError, match=r"column 'w' fails for 1 of \d row.*Overflow"):
        run()
    assert lake_rows(target) == [(1, 2, 4), (2, big, 2 * big)]
    server.run("USE chosen_wider", "UPDATE t SET v = 7 WHERE id = 1")
    with pytest.raises(SourceError, match="column 'w' fails"):
        run()  # the log still has the row: nothing is left out without a word
