"""Tables that Hudi archived: reads that begin before their active timeline."""

from __future__ import annotations

import re

import pytest

from hoodie import HoodieTable
from hoodie.errors import TimeTravelError
from hoodie.timeline import WRITE_ACTIONS

ARCHIVES = ["12v9", "15v6"]


@pytest.fixture(params=ARCHIVES)
def table(request, golden):
    table = HoodieTable.open(str(golden(request.param) / "cow_clean"))
    state = table.state()
    table.archived = [i for i in state.archive.instants() if i.action in WRITE_ACTIONS]
    return table


def ids(table):
    return sorted(table["id"].to_pylist())


@pytest.mark.format("11o", "14i")
def test_the_archived_past_was_cleaned_and_the_error_says_from_when_on_it_can_be_read(table):
    for instant in table.archived:
        with pytest.raises(TimeTravelError, match="removed") as refused:
            table.read(as_of=instant.time)
        first = re.search(r"ask for (\d+)", str(refused.value))[1]
        assert table.read(as_of=first).num_rows
        assert first in table.timeline.commit_times
        with pytest.raises(TimeTravelError, match=first):
            table.read_incremental(None, instant.time if table.version == 6 else instant.completion_time)


def test_open_ranges_that_begin_in_the_archive(table):
    """Cleans take nothing from them: the newest files hold every row that is left."""
    whole = table.read(columns=["id", "_hoodie_commit_time"])
    assert ids(table.read_incremental("20200101")) == ids(table.read_incremental(None)) == ids(whole)
    for instant in table.archived:
        start = instant.time if table.version == 6 else instant.completion_time
        later = [row["id"] for row in whole.to_pylist() if row["_hoodie_commit_time"] > instant.time]
        assert ids(table.read_incremental(start)) == sorted(later)
        assert ids(table.read_incremental(instant.time, full_scan=True)) == sorted(later)
