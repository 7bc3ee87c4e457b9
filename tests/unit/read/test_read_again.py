"""A file goes while a reader looks at the table. A failed write of version 6 is rolled back after its log was listed, or an
archiver takes instants off the timeline."""

from __future__ import annotations

import pytest

from hoodie import ARCHIVE, CLEAN, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import MissingFileError
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.read.plan import plan_once
from hoodie.read.query import Query, Snapshot
from hoodie.storage import LocalStorage
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


class Overtaken(LocalStorage):
    """Before a log is opened for the first time something happens."""

    def __init__(self, base_path, event):
        super().__init__(base_path)
        self._event = event

    def open_input(self, path):
        if ".log." in path and self._event is not None:
            event, self._event = self._event, None
            event()
        return super().open_input(path)


@pytest.fixture
def table(tmp_path):
    """The second of two delta commits is not complete; its log is beside that of the first."""
    made = create(
        tmp_path / "t",
        **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": "6"},
        engine=LocalEngine(1),
    )
    for ts in (1, 2, 3):
        last = made.write(batch([("a", "p", ts, ts)]), "upsert", SMALL_BLOOM).instant
    log = next(log.path for s in made.file_slices() for log in s.log_files if ".log.2" in log.path)
    (tmp_path / "t" / ".hoodie" / last.file_name).unlink()
    DirectMarkers(made.storage, last.time).create(log, MarkerType.APPEND)
    return made


@pytest.mark.parametrize("read", ["read", "read_incremental"])
def test_it_is_read_again_on_the_table_as_it_is_then(table, read):
    def rolled_back():
        table.write(batch([("b", "p", 9, 9)]), "upsert", SMALL_BLOOM)

    reader = HoodieTable.open(Overtaken(table.base_path, rolled_back), engine=LocalEngine(1))
    found = reader.read() if read == "read" else reader.read_incremental(None)
    assert {row["id"]: row["value"] for row in found.to_pylist()} == {"a": 2, "b": 9}
    assert content(table) == {"a": ("p", 2, 2), "b": ("p", 9, 9)}


def test_a_file_that_is_gone_while_nothing_happened_is_missing(table):
    (log,) = [log.path for s in table.file_slices() for log in s.log_files if ".log.1" in log.path]
    reader = HoodieTable.open(Overtaken(table.base_path, lambda: table.storage.delete(log)), engine=LocalEngine(1))
    with pytest.raises(MissingFileError, match=r"\.log\.1"):
        reader.read()


@pytest.mark.parametrize("version", ["9", "6"])
def test_as_of_beside_an_archival(tmp_path, version):
    """The clean that the timeline listed is in the archive by the time it is asked what it removed."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    for number in range(3):
        table.write(batch([("a", "p", number, number)]), "upsert", SMALL_BLOOM)
    for _ in range(4):  # in version 6 cleans are archived by their count
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
        table.write(batch([("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    times = [table.write(batch([("c", "r", n, n)]), "upsert", SMALL_BLOOM).instant.time for n in range(4)]
    state = table.state()
    archived = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
    assert table.run(ARCHIVE, archived).instants
    assert table.timeline.completed(Action.CLEAN) != state.timeline.completed(Action.CLEAN)
    assert len(plan_once(state, Query(kind=Snapshot(times[-2]))).slices) == 3
