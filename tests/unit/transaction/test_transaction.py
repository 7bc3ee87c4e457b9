"""The one commit point: in which order things happen, and what a failure at each place leaves."""

from __future__ import annotations

from contextlib import suppress

import pytest

from hoodie.config.properties.store import update_properties
from hoodie.errors import PendingInstantError, UnclearCommitError
from hoodie.markers import DirectMarkers, MarkerType, read_markers
from hoodie.model.commit import CommitMetadata, WriteStat
from hoodie.storage import LocalStorage
from hoodie.timeline import Action
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency import pending_plan
from hoodie.transaction.locks.files import LOCK
from hoodie.transaction.transaction import execution, transaction
from hoodie.view import load_state
from tests.support.clock import FakeClock
from tests.support.locks import NO_WAIT
from tests.support.tables import create

FILE = "part=p/11111111-1111-1111-1111-111111111111-0_0-0-{}_{}.parquet"
OTHER = FILE.replace("11111111-1", "22222222-2")


class Journal(LocalStorage):
    """Records created and deleted paths. On request it runs a function, or fails, before a path is created."""

    def __init__(self, base_path):
        super().__init__(base_path)
        self.notes, self.before = [], {}

    def create(self, path, data):
        for part, action in self.before.items():
            if part in path:
                action()
        super().create(path, data)
        self.notes.append(f"+{path}")

    def delete(self, path):
        found = super().delete(path)
        if found:
            self.notes.append(f"-{path}")
        return found

    def delete_folder(self, folder):
        super().delete_folder(folder)
        self.notes.append(f"-{folder}/")


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def storage(tmp_path, clock):
    return Journal(create(tmp_path / "t", clock).base_path)


def put(storage, instant, name=FILE, attempt=0):
    """A data file with its marker, as a task leaves it."""
    path = name.format(attempt, instant.time)
    DirectMarkers(storage, instant.time).create(path, MarkerType.CREATE)
    with storage.open_output(path) as sink:
        sink.write(b"rows")
    return path


def change(instant, *paths, more=dict):
    stats = tuple(WriteStat(path.split("/")[1].split("_")[0], path, "part=p", num_writes=1) for path in paths)
    return Change(instant, CommitMetadata("INSERT", stats), more)


def begun(storage, clock):
    return transaction(storage, clock, "test", NO_WAIT)


def fail(*_):
    raise ZeroDivisionError


def write(storage, clock, then=fail, name=FILE, more=dict):
    """A transaction that writes one file and commits it; `then` is done before the commit. Returns the path of the file."""
    written = []
    with suppress(ZeroDivisionError, UnclearCommitError), begun(storage, clock) as tx:
        instant = tx.open(Action.COMMIT)
        written.append(put(storage, instant, name))
        then(instant)
        tx.commit(change(instant, *written, more=more))
    return written[0]


def active(storage, clock):
    with begun(storage, clock) as tx:
        return [(i.time, i.is_completed) for i in tx.state.timeline if i.action.completed_as is Action.COMMIT]


def test_leftovers_go_before_the_completion_and_markers_after_it(storage, clock):
    with begun(storage, clock) as tx:
        instant = tx.open(Action.COMMIT)
        kept, lost = put(storage, instant), put(storage, instant, attempt=1)
        late = FILE.format(2, instant.time)
        storage.before[f"{instant.time}_"] = lambda: put(storage, instant, attempt=2)  # as the commit is made
        asked = []

        def more():
            asked.append(storage.info(lost))
            return {"asked": "last"}

        (done,) = tx.commit(change(instant, kept, more=more))
        assert storage.info(LOCK) is not None, "the lock is held until the block ends"
    assert asked == [None], "asked for when the leftovers are gone"
    assert done.instant.is_completed
    assert done.metadata.extra == {"asked": "last"}
    completed = f"+.hoodie/timeline/{done.instant.file_name}"
    told = [note for note in storage.notes if instant.time in note and ".marker." not in note]
    folder = ".hoodie/timeline"
    assert told == [
        f"+{folder}/{instant.time}.commit.requested",
        f"+{folder}/{instant.time}.inflight",
        f"-{lost}",
        completed,
        f"-{late}",
        f"-.hoodie/.temp/{instant.time}/",
    ]
    assert storage.info(kept) is not None
    assert storage.info(LOCK) is None


def test_several_instants_are_complete_one_after_the_other_or_none(storage, clock):
    with begun(storage, clock) as tx:
        opened = [tx.open(Action.COMMIT, time=time) for time in ("00000000000001", "00000000000002")]
        paths = [put(storage, instant, name) for instant, name in zip(opened, (FILE, OTHER), strict=True)]
        done = tx.commit(*(change(instant, path) for instant, path in zip(opened, paths, strict=True)))
    assert [each.instant.time for each in done] == ["00000000000001", "00000000000002"]
    first = next(n for n, note in enumerate(storage.notes) if "00000000000002_" in note and "timeline" in note)
    assert not any(".temp" in note and note.startswith("-") for note in storage.notes[:first]), "markers wait for both"


def test_completions_are_in_order_though_the_clock_goes_back(storage, clock):
    """A reader of changes that has read the first commit asks for what was complete after it."""
    with begun(storage, clock) as tx:
        opened = [tx.open(Action.COMMIT, time=time) for time in ("00000000000001", "00000000000002")]
        paths = [put(storage, instant, name) for instant, name in zip(opened, (FILE, OTHER), strict=True)]
        storage.before["00000000000001_"] = lambda: clock.sleep(-5)
        done = tx.commit(*(change(instant, path) for instant, path in zip(opened, paths, strict=True)))
    first, second = (each.instant.completion_time for each in done)
    assert first < second


def test_a_failure_of_what_is_asked_last_is_rolled_back(storage, clock):
    path = write(storage, clock, lambda instant: None, more=fail)
    assert storage.info(path) is None
    assert active(storage, clock) == []


def test_a_failure_before_the_completion_is_rolled_back_under_the_same_lock(storage, clock):
    path = write(storage, clock, fail)
    rolled_back = next(n for n, note in enumerate(storage.notes) if ".rollback" in note)
    assert rolled_back < storage.notes.index(f"-{LOCK}")
    assert storage.info(path) is None
    assert active(storage, clock) == []


def test_a_failure_without_a_begun_write_rolls_nothing_back(storage, clock):
    with suppress(ZeroDivisionError), begun(storage, clock) as tx:
        tx.request(Action.CLEAN, b"a plan")
        fail()
    assert not any(".rollback" in note for note in storage.notes)


def test_a_completion_that_failed_is_not_taken_back_at_once(storage, clock):
    def refuse():
        raise PermissionError("read only")

    path = write(storage, clock, lambda instant: storage.before.update({f"{instant.time}_": refuse}))
    assert storage.info(path) is not None, "whether it is done may not be known: the next writer looks"
    assert active(storage, clock) == []
    assert storage.info(path) is None


class TestExecution:
    @pytest.fixture
    def plan(self, storage, clock):
        with begun(storage, clock) as tx:
            return tx.request(Action.COMPACTION, b"a plan")

    def attempts(self, storage, plan):
        return lambda state: [path for n in range(9) if storage.info(path := FILE.format(n, plan.time))]

    def test_no_lock_is_held_while_it_works(self, storage, clock, plan):
        old = put(storage, plan)
        with execution(storage, clock, plan.time, plan.action, NO_WAIT) as tx:
            instant = tx.resume(pending_plan(tx.state, plan.time, plan.action), self.attempts(storage, plan))
            assert storage.info(old) is None, "an earlier attempt's"
            assert not read_markers(storage, plan.time)
            with begun(storage, clock) as other:
                written = other.open(Action.COMMIT)
                other.commit(change(written, put(storage, written, OTHER)))
            new = put(storage, plan, attempt=1)
            with storage.open_output(FILE.format(2, plan.time)) as sink:  # by a task without a marker
                sink.write(b"late")
            tx.commit(change(instant, new))
        assert dict(active(storage, clock)) == {plan.time: True, written.time: True}
        assert storage.info(new) is not None
        assert storage.info(FILE.format(2, plan.time)) is None
        assert not read_markers(storage, plan.time)

    def execute(self, storage, clock, plan, then):
        """An execution that writes one file and commits it; `then` is done before the commit. Returns the path of the file."""
        with execution(storage, clock, plan.time, plan.action, NO_WAIT) as tx:
            instant = tx.resume(pending_plan(tx.state, plan.time, plan.action), self.attempts(storage, plan))
            path = put(storage, plan)
            then()
            tx.commit(change(instant, path))
        return path

    def test_a_failure_leaves_the_plan_and_its_files_to_the_next_execution(self, storage, clock, plan):
        path = FILE.format(0, plan.time)
        with pytest.raises(ZeroDivisionError):
            self.execute(storage, clock, plan, fail)
        assert storage.info(path) is not None
        assert dict(active(storage, clock)) == {plan.time: False}
        self.execute(storage, clock, plan, lambda: None)
        assert storage.info(path) is not None
        assert dict(active(storage, clock)) == {plan.time: True}

    def test_a_plan_that_was_taken_back_meanwhile_is_not_completed(self, storage, clock, plan):
        def take_back():
            for state in ("requested", "inflight"):
                storage.delete(f".hoodie/timeline/{plan.time}.compaction.{state}")

        with begun(storage, clock) as other:
            written = other.open(Action.COMMIT)
            other.commit(change(written, put(storage, written, OTHER)))
        with pytest.raises(PendingInstantError):
            self.execute(storage, clock, plan, take_back)
        assert storage.info(FILE.format(0, plan.time)) is None
        assert active(storage, clock) == [(written.time, True)]

    def test_it_is_encoded_as_the_table_is_when_it_completes(self, tmp_path, clock):
        storage = create(tmp_path / "old", clock, **{"hoodie.write.table.version": "6"}).storage
        with begun(storage, clock) as tx:
            plan = tx.request(Action.COMPACTION, b"a plan")

        def upgrade():
            for state in ("requested", "inflight"):
                name = f"{plan.time}.compaction.{state}"
                storage.create(f".hoodie/timeline/{name}", storage.read(f".hoodie/{name}"))
            properties = load_state(storage, clock).properties
            version = {"hoodie.table.version": "8", "hoodie.timeline.layout.version": "2"}
            update_properties(storage, properties.with_values(version))

        path = self.execute(storage, clock, plan, upgrade)
        state = load_state(storage, clock)
        (commit,) = state.timeline.commits
        assert [stat.path for stat in state.commit_metadata(commit).stats] == [path]

    def test_a_plan_that_does_not_wait_is_told(self, storage, clock, plan):
        with (
            execution(storage, clock, "20200101000000000", plan.action, NO_WAIT) as tx,
            pytest.raises(PendingInstantError, match=f"pending are {plan.time}"),
        ):
            pending_plan(tx.state, "20200101000000000", plan.action)
