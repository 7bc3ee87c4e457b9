"""Archives of tables that were upgraded from version 6, by Hudi or by us."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.config.properties.store import update_properties
from hoodie.storage import LocalStorage
from hoodie.timeline.archive import LsmArchive
from tests.support.archive import add_history, archive
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

TIMES = ("20260101000000005", "20260101000000001", "20260101000000009", "20260101000000003")


@pytest.fixture
def written(tmp_path):
    """A file as Hudi's upgrade writes it: named by its first and its last instant, which are in no order."""
    storage = LocalStorage(str(tmp_path))
    rows = [
        {"instantTime": time, "completionTime": time, "action": "commit", "metadata": None, "plan": None, "version": 1}
        for time in TIMES
    ]
    add_history(storage, "history", rows)
    return storage


def test_ranges_of_files_come_from_their_instants(written):
    trusting, archived = LsmArchive(written, "history"), LsmArchive(written, "history", trusts_names=False)
    assert not trusting.instants(after=TIMES[0])
    ordered = sorted(TIMES)
    for place, time in enumerate(ordered):
        assert [each.time for each in archived.instants(after=time)] == ordered[place + 1 :]
        assert [each.time for each in archived.instants(until=time)] == ordered[: place + 1]
        assert archived.completion_times([time]) == {time: time}
        assert archived.reaches(time)
    assert len(archived.archived_keys(archived.instants())) == len(TIMES)
    assert [each.time for each in archived.newest()] == ordered[::-1]
    assert archived.stamp() == trusting.stamp()


def test_a_table_says_whether_it_was_upgraded(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    for number in range(1, 6):
        table.write(batch([("a", "p", number, number)]), "upsert", SMALL_BLOOM)
    first, second, third, *_ = table.timeline.commits
    archive(table, [third, first, second])
    assert not table.properties.was_upgraded
    assert not table.state().archive.instants(after=second.time)
    update_properties(table.storage, table.properties.with_values({"hoodie.table.initial.version": "6"}))
    table = HoodieTable.open(table.base_path)
    assert table.properties.was_upgraded
    assert [each.time for each in table.state().archive.instants(after=second.time)] == [third.time]
