"""The schema of a table at a time."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.view.table_schema import table_schema
from tests.support.archive import archive
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.mark.parametrize("version", ["9", "6"])
def test_an_archived_commit_is_newer_than_an_active_one(tmp_path, version):
    """An archiver leaves the commit of a savepoint on the timeline."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    rows = batch([("a", "p", 1, 1)])
    for number in range(4):
        table.write(rows, "upsert", SMALL_BLOOM)
        rows = rows.append_column(f"more{number}", pa.array([1]))
    times = [commit.time for commit in table.timeline.commits]
    table.savepoint(times[0])
    before = [table_schema(table.state(), time) for time in times]
    assert [len(schema) for schema in before] == [4, 5, 6, 7]
    archive(table, table.timeline.commits[1:3])
    assert [table_schema(table.state(), time) for time in times] == before
    assert table_schema(table.state()) == before[-1]
