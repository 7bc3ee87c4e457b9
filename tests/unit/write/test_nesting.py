"""Partition values with slashes: folders of one depth are fine, a partition in a partition is refused."""

from __future__ import annotations

import shutil

import pytest

from hoodie import CLEAN
from hoodie.errors import RecordKeyError, UnsupportedTableError
from hoodie.model.names import PARTITION_METAFILE
from hoodie.transaction.metadata_table import METADATA_PARTITIONS
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

ENCODED = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
OPERATIONS = ("bulk_insert", "insert", "upsert")


def rows(*parts):
    return batch([(f"k{part}", part, 1, 1) for part in parts])


@pytest.mark.parametrize("hive_style", ["true", "false"])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("before", "after"), [("a/b", "a"), ("a", "a/b"), ("a/b/c", "a"), ("a", "a/b/c")])
def test_a_partition_in_another_is_refused_and_no_row_is_lost(tmp_path, operation, before, after, hive_style):
    table = create(tmp_path, FakeClock(), **{"hoodie.datasource.write.hive_style_partitioning": hive_style})
    table.write(rows(before), "upsert", SMALL_BLOOM)
    with pytest.raises(RecordKeyError, match=r"would lie in partition .*urlencode=true"):
        table.write(rows(after, "z"), operation, SMALL_BLOOM)
    assert content(table) == {f"k{before}": (before, 1, 1)}
    table.write(rows(before, "z"), operation, SMALL_BLOOM)
    assert set(table.read()["part"].to_pylist()) == {before, "z"}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_both_in_one_write_are_refused_and_leave_no_partition(tmp_path, operation):
    table = create(tmp_path, FakeClock())
    with pytest.raises(RecordKeyError, match="would lie in partition"):
        table.write(rows("a", "a/b"), operation, SMALL_BLOOM)
    assert table.read().num_rows == 0
    assert not list(tmp_path.rglob(PARTITION_METAFILE))
    table.write(rows("a/b"), operation, SMALL_BLOOM)
    assert table.read().num_rows == 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_slashes_of_one_depth_and_encoded_ones_are_taken(tmp_path, operation):
    table = create(tmp_path / "plain", FakeClock())
    table.write(rows("2026/01/01", "2026/01/02", "2027/01/01"), operation, SMALL_BLOOM)
    assert table.read().num_rows == 3
    table = create(tmp_path / "encoded", FakeClock(), **ENCODED)
    table.write(rows("a", "a/b"), operation, SMALL_BLOOM)
    assert table.read().num_rows == 2


@pytest.fixture
def nested(tmp_path):
    """A table with the partitions `a` and `a/b`, as Hudi writes them."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.datasource.write.hive_style_partitioning": "false"})
    table.write(rows("a"), "upsert", SMALL_BLOOM)
    hidden = tmp_path / "t" / "a" / PARTITION_METAFILE
    hidden.rename(tmp_path / "metafile")
    table.write(rows("a/b"), "upsert", SMALL_BLOOM)
    (tmp_path / "metafile").rename(hidden)
    return table


def test_partitions_in_each_other_are_read_written_and_cleaned(nested):
    assert content(nested) == {"ka": ("a", 1, 1), "ka/b": ("a/b", 1, 1)}
    for number in (2, 3, 4):
        nested.write(batch([("ka/b", "a/b", number, number), ("ka", "a", number, number)]), "upsert", SMALL_BLOOM)
    assert content(nested) == {"ka": ("a", 4, 4), "ka/b": ("a/b", 4, 4)}
    nested.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert content(nested) == {"ka": ("a", 4, 4), "ka/b": ("a/b", 4, 4)}
    assert {file_slice.partition for file_slice in nested.file_slices()} == {"a", "a/b"}


def test_a_metadata_table_that_alone_tells_readers_of_them_is_not_switched_off(nested):
    properties = nested.properties.with_values({METADATA_PARTITIONS: "files"})
    path = f"{nested.base_path}/.hoodie/hoodie.properties"
    shutil.copy(path, f"{path}.old")
    with open(path, "w") as file:
        file.writelines(f"{key}={value}\n" for key, value in properties.raw.items())
    with pytest.raises(UnsupportedTableError, match=r"'a/b' in partition 'a'.*metadata table alone"):
        nested.write(rows("c"), "upsert", SMALL_BLOOM)
    assert content(nested) == {"ka": ("a", 1, 1), "ka/b": ("a/b", 1, 1)}
