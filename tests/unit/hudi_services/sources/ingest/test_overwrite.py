"""Loads in place of what is there: whole partitions, the whole table, and partitions that rows name to be dropped."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError, DataError, TableNotFoundError
from tests.support.tables import batch, content

FIRST = [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]


@pytest.fixture
def loaded(feed):
    feed.land("1.parquet", batch(FIRST))
    feed.run()
    return feed


def test_a_delivery_replaces_its_partitions(loaded):
    loaded.land("2.parquet", batch([("x", "p", 2, 2)]))
    loaded.land("3.parquet", batch([("y", "p", 2, 2)]))
    done = loaded.run(operation="insert_overwrite")
    assert content(loaded.open()) == {"c": ("q", 1, 1), "x": ("p", 2, 2), "y": ("p", 2, 2)}
    assert "2 rows inserted, 0 updated, 0 deleted, 1 file group replaced" in done.message
    before = loaded.open().timeline
    assert "nothing to do" in loaded.run(operation="insert_overwrite").message, "each file is loaded once"
    assert loaded.open().timeline == before


def test_a_delivery_is_the_whole_table(loaded):
    loaded.land("2.parquet", batch([("x", "r", 2, 2)]))
    loaded.run(operation="insert_overwrite_table")
    assert content(loaded.open()) == {"x": ("r", 2, 2)}


def test_an_empty_delivery_empties_no_table(loaded):
    loaded.land("2.parquet", batch([]))
    with pytest.raises(DataError, match=r"An overwrite of table .* got no row"):
        loaded.run(operation="insert_overwrite_table")
    assert len(content(loaded.open())) == 3
    loaded.land("3.parquet", batch([("x", "r", 2, 2)]))
    loaded.run(operation="insert_overwrite_table")
    assert content(loaded.open()) == {"x": ("r", 2, 2)}


def test_rows_name_partitions_to_drop(loaded):
    loaded.land("2.parquet", batch([("z", "p", 2, 2), ("z", "nowhere", 2, 2)]).select(["id", "part"]))
    done = loaded.run(operation="delete_partition")
    assert content(loaded.open()) == {"c": ("q", 1, 1)}
    assert "1 file group replaced" in done.message
    assert done.rows_without_effect == 0
    names = {"hoodie.datasource.write.partitions.to.delete": "part=q"}
    with pytest.raises(ConfigError, match="by their names"):
        loaded.run(options=names, operation="delete_partition")


def test_there_is_nothing_to_drop_from_a_table_that_is_not_there(feed):
    feed.land("1.parquet", batch(FIRST))
    with pytest.raises(TableNotFoundError):
        feed.run(operation="delete_partition")
    feed.run(operation="insert_overwrite")
    assert len(content(feed.open())) == 3
