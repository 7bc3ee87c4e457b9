"""A file that comes after the rollback of its write is not the table's, though it is older than the first commit."""

from __future__ import annotations

import pytest

from hoodie import ARCHIVE, Restore, Rollback
from hoodie.model.rollback import RollbackResult
from hoodie.model.time import Time
from hoodie.timeline import Action
from hoodie.timeline.codecs.rollback import encode_rollback_result
from hoodie.timeline.rollbacks import memory, taken_back
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.view import load_state
from tests.support.archive import archive
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.long_timelines import SHORT
from tests.support.tables import SMALL_BLOOM, batch, content, create

KINDS = [("COPY_ON_WRITE", "9"), ("COPY_ON_WRITE", "6"), ("MERGE_ON_READ", "9")]


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0][:4]}{kind[1]}")
def table(request, tmp_path):
    kind, version = request.param
    return create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})


def write(table, key, partition="p"):
    return table.write(batch([(key, partition, 1, 1)]), "insert", SMALL_BLOOM)


def take_back(table):
    """The instant of a first write that was rolled back, the path of its file, and its bytes."""
    lost = write(table, "lost")
    (stat,) = lost.metadata.stats
    body = table.storage.read(stat.path)
    table.run(Rollback(lost.instant.time))
    return lost.instant.time, stat.path, body


def test_its_rows_are_not_read_and_the_doctor_moves_it_aside(table):
    time, path, body = take_back(table)
    write(table, "a")
    rows = content(table)
    table.storage.create(path, body)  # a task that went on has written it since
    assert content(table) == rows
    (finding,) = table.diagnose().findings
    assert (finding.check, finding.path, finding.instant) == ("uncommitted-file", path, time)
    write(table, "b")
    assert sorted(content(table)) == ["a", "b"]
    table.mend(table.diagnose())
    assert table.storage.info(path) is None
    assert table.diagnose().findings == ()
    assert sorted(content(table)) == ["a", "b"]


def test_the_rollback_stays_on_the_timeline_as_long_as_the_file_is_there(table):
    time, path, body = take_back(table)
    for number in range(6):
        write(table, f"k{number}")
    rows = content(table)
    table.storage.create(path, body)
    assert f"{path} is left of {time}, which was rolled back" in table.explain(ARCHIVE, SHORT).reason
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.completed(Action.ROLLBACK)) == 1
    assert content(table) == rows
    table.mend(table.diagnose())
    table.run(ARCHIVE, SHORT)
    assert len(table.timeline.commits) < 6
    assert content(table) == rows


def test_rollbacks_are_read_once_and_only_if_a_file_is_older(table):
    state = table.state()
    write(table, "a")
    take_back(table)
    memory.clear()
    storage = CountingStorage(table.base_path)

    def asked(*times):
        storage.opened.clear()
        timeline = load_state(storage, table.clock).timeline
        committed = [timeline.is_committed(Time.of(time)) for time in times]
        return committed, [path for path in storage.opened if not path.endswith("hoodie.properties")]

    (rollback,) = table.timeline.completed(Action.ROLLBACK)
    newest = table.timeline.commits[-1].time
    assert asked(newest, rollback.time) == ([True, False], [])
    assert asked("20200101000000000", "20200101000000001") == ([True, True], [state.layout.path(rollback)])
    assert asked("20200101000000000") == ([True], [])


def undone(table, action, time):
    """A rollback that says that it took an instant of this action back."""
    state = table.state()
    rollback = instants.request(state, new_time(state, table.clock), Action.ROLLBACK)
    body = encode_rollback_result(RollbackResult(rollback.time, 1, time, action, {}), state.storage.base_path)
    return instants.complete(state, instants.start(state, rollback), body, table.clock)


@pytest.mark.parametrize("action", ["compaction", "logcompaction", "clustering", ""])
def test_a_plan_is_carried_out_again_at_its_time(table, action):
    write(table, "a")
    undone(table, action, "20200101000000000")
    assert table.timeline.is_committed(Time.of("20200101000000000"))


def test_actions_whose_files_may_be_the_tables_in_version_6(tmp_path):
    for version, final in (("6", {"commit"}), ("9", {"commit", "deltacommit", "replacecommit"})):
        table = create(tmp_path / version, FakeClock(), **{"hoodie.write.table.version": version})
        write(table, "a")
        state = table.state()
        for number, action in enumerate(("commit", "deltacommit", "replacecommit")):
            time = Time.of(f"2020010100000000{number}")
            rollback = undone(table, action, time)
            found = taken_back(state.storage, state.layout, [rollback], state.timeline.commits[0].time)
            assert found == ({time} if action in final else set())


def test_bootstraps_and_archived_commits_stay(table):
    first = write(table, "a").instant.time
    write(table, "b")
    archive(table, table.timeline.commits[:1])
    rows = content(table)
    action = str(table.timeline.commits[0].action)
    for time in (first, "00000000000001", "00000000000002"):
        undone(table, action, time)
        assert table.timeline.is_committed(Time.of(time))
    assert content(table) == rows


def test_a_rollback_that_cannot_be_read_takes_nothing_back(table):
    time, *_ = take_back(table)
    write(table, "a")
    (rollback,) = table.timeline.completed(Action.ROLLBACK)
    file = table.state().layout.path(rollback)
    table.storage.delete(file)
    table.storage.create(file, b"torn")
    assert table.timeline.is_committed(time)


def test_what_a_restore_took_back_before_the_first_commit(tmp_path):
    """The commit of the savepoint, and those that came after the restore, are archived without it."""
    table = create(tmp_path / "t", FakeClock())
    saved = table.write(batch([("a", "p", 1, 1), ("c", "q", 1, 1)]), "insert", SMALL_BLOOM).instant.time
    table.savepoint()
    lost = write(table, "lost", "q")
    (stat,) = lost.metadata.stats
    body = table.storage.read(stat.path)
    table.run(Restore(saved))
    table.delete_savepoint(saved)
    write(table, "b")
    rows = content(table)
    archive(table, table.timeline.commits[:1])
    table.storage.create(stat.path, body)
    assert content(table) == rows
