"""Shards of one Hudi table with columns that are computed, and with a filter."""

from __future__ import annotations

import random

import pytest

from hoodie.storage import open_storage
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED, AddedColumns
from hudi_services.sources.cdc.cuts import CutStore
from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.row_filter import RowFilter
from hudi_services.sources.databases.expressions import ColumnExpressions
from tests.unit.hudi_services.sources.cdc.mysql.test_group_load import APPLY, Shards

pytestmark = pytest.mark.process


@pytest.fixture
def shards(server, request, tmp_path):
    return Shards(server, f"columns_{random.Random(request.node.name).randrange(10**9)}", tmp_path)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_added_columns_are_the_same_by_rows_and_by_changes(shards, tmp_path, kind):
    """They are a part of the path, too. A shard that lacks a column of an expression has null there."""
    shards.options = {"hoodie.table.type": kind, "hoodie.table.partition.fields": "part"}
    shards.added = AddedColumns(ColumnExpressions({"part": "id % 3", "w": "upper(v) || coalesce(n, 0)"}))
    shards.policies, shards.masks = APPLY, Masks({"v": "mask"})
    shards.run("ALTER TABLE s2 ADD n INT", "UPDATE s2 SET n = id")
    shards.sync()
    shards.run(
        "INSERT INTO s1 VALUES (3, 'c')",
        "UPDATE s2 SET id = id + 1 ORDER BY id DESC",
        "UPDATE s3 SET v = 'ß' WHERE id = 2",
        "ALTER TABLE s3 ADD n BIGINT",
        "INSERT INTO s3 VALUES (7, NULL, 5000000000)",
        "DELETE FROM s1 WHERE id = 1",
        "TRUNCATE s2",
        "INSERT INTO s2 VALUES (4, 'd', 9)",
    )
    assert set(shards.states(shards.sync()).values()) == {"current"}
    columns = ("id", "v", "n", "part", "w")
    by_changes = shards.lake_rows(*columns)
    assert [row[2:] for row in by_changes if row[1] == "s2"] == [(4, "***", 9, 1, "***9")]
    shards.path, shards.cuts = str(tmp_path / "other"), CutStore(open_storage(str(tmp_path / "states")), "shop")
    shards.sync()
    assert shards.lake_rows(*columns) == by_changes
    assert [row[:3] for row in by_changes] == shards.server_rows("id")
    shards.run("ALTER TABLE s1 ADD W INT", "INSERT INTO s1 VALUES (9, 'x', 1)")
    assert shards.states(shards.sync()) == {"s1": "parked", "s2": "current", "s3": "current"}
    shards.added = NOTHING_ADDED
    assert "computed in another way" in shards.sync()["s2"].reason


def test_a_filter_is_the_same_for_rows_and_for_changes(shards, tmp_path):
    """Rows come and go as they meet the condition. The server reads numbers for it, and no text: its collation takes a for A."""
    shards.filter, shards.policies = RowFilter("(id > 1 and v <> 'A') or v is null"), APPLY
    shards.run("INSERT INTO s1 VALUES (3, 'A'), (4, NULL), (0, NULL), (5, 'a')")

    def expected():
        return [row for row in shards.server_rows("id", "v") if row[3] is None or (row[2] > 1 and row[3] != "A")]

    shards.sync()
    assert shards.lake_rows("id", "v") == expected()
    shards.run(
        "UPDATE s1 SET v = 'A' WHERE id = 5",
        "UPDATE s1 SET v = 'b' WHERE id = 3",
        "UPDATE s2 SET id = 9 WHERE id = 1",
        "DELETE FROM s3",
        "INSERT INTO s3 VALUES (1, 'x'), (2, 'A'), (7, 'y')",
        "UPDATE s1 SET v = 'w' WHERE id = 0",
        "TRUNCATE s2",
        "INSERT INTO s2 VALUES (8, 'A'), (9, 'b')",
    )
    assert set(shards.states(shards.sync()).values()) == {"current"}
    by_changes = shards.lake_rows("id", "v")
    assert by_changes == expected()
    shards.path, shards.cuts = str(tmp_path / "other"), CutStore(open_storage(str(tmp_path / "states")), "shop")
    shards.sync()
    assert shards.lake_rows("id", "v") == by_changes
    shards.run("ALTER TABLE s1 DROP v", "INSERT INTO s1 VALUES (20)")
    assert shards.states(shards.sync()) == {"s1": "parked", "s2": "current", "s3": "current"}
    shards.filter = RowFilter("id > 1")
    assert "filtered in another way" in shards.sync()["s2"].reason
