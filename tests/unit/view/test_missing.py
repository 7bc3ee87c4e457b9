"""Logs are not read, nor written on, as if they were the rows of a slice whose base file is gone."""

from __future__ import annotations

import pytest

from hoodie.errors import MissingFileError
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """A group with a log in partition p, one without in q; its first commit, and its second, which wrote the log."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    table = create(tmp_path / "t", FakeClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]), "insert", NO_SMALL_FILES)
    table.write(batch([("a", "p", 2, 2)]), "upsert", NO_SMALL_FILES)
    return table


def lose_the_base(table):
    (base,) = [s.base_file for s in table.file_slices() if s.log_files]
    table.storage.delete(base.path)
    return base


def forget(table, time):
    """Remove a commit from the timeline."""
    for file in table.storage.list(table.state().layout.folder).files:
        if file.name.startswith(time):
            table.storage.delete(file.path)


def test_it_is_neither_read_nor_written_on(table):
    first, second = table.timeline.commits
    base = lose_the_base(table)
    with pytest.raises(MissingFileError, match=rf"base file of table.*{base.name}.*{first.time}.*restore it"):
        table.read()
    with pytest.raises(MissingFileError):
        table.read(read_optimized=True)
    with pytest.raises(MissingFileError):
        table.read(as_of=second.time)
    with pytest.raises(MissingFileError, match=base.name):
        table.write(batch([("b", "p", 3, 3)]), "upsert", NO_SMALL_FILES)
    assert table.timeline.instants[:2] == (first, second)
    table.write(batch([("c", "q", 3, 3)]), "upsert", NO_SMALL_FILES)  # another partition


def test_a_group_that_began_with_a_log(table):
    """No commit knows of a base file: as other indexes of Hudi's write, or after the commit was archived."""
    forget(table, lose_the_base(table).instant)
    assert content(table)["a"] == ("p", 2, 2)


def test_as_of_before_a_compaction(table):
    """A base file that a compaction made of logs alone is not missing before it."""
    forget(table, lose_the_base(table).instant)
    upsert = table.timeline.last_commit.time
    table.schedule_compaction(force=True)
    table.compact(options=SMALL_BLOOM)
    assert content(table, as_of=upsert)["a"] == content(table)["a"] == ("p", 2, 2)
