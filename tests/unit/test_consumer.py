"""Named consumers: what they hand out, and what becomes of it when processes die or share a name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pyarrow as pa
import pytest

from hoodie import ARCHIVE, CLEAN, HoodieTable, Restore, Rollback
from hoodie.errors import ArgumentError, ChangeRangeError, ConfigError, CorruptTableError, StaleConsumerError
from hoodie.schema.changes import AddColumn, DropColumn
from hoodie.storage import LocalStorage
from tests.support.changes import operations, overtaken, write
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import sample
from tests.support.tables import create

TABLES = [("9", "COPY_ON_WRITE"), ("6", "MERGE_ON_READ")]


@pytest.fixture(params=TABLES, ids=" ".join)
def table(request, tmp_path):
    version, kind = request.param
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    return create(tmp_path / "t", FakeClock(), **options)


def test_reading_twice_without_a_commit_gives_the_same(table):
    first = write(table, [("a", "p", 1, 1)], "insert")
    consumer = table.consumer("dashboard")
    assert operations(consumer.read()) == operations(consumer.read()) == [("i", "a", None, 1)]
    assert consumer.position is None
    assert consumer.commit() == consumer.commit() == consumer.position == first
    assert operations(consumer.read()) == []
    last = write(table, [("a", "p", 2, 2)])
    again = table.consumer("dashboard")  # as another process
    assert operations(again.stream().read_all()) == [("u", "a", 1, 2)]
    assert again.commit() == last


def test_a_limit_counts_commits(table):
    times = [write(table, [("a", "p", n, n)]) for n in range(3)]
    consumer = table.consumer("slow")
    found = []
    for _ in range(3):
        found += operations(consumer.read(limit=1))
        assert consumer.commit() == times[len(found) - 1]
    assert found == [("i", "a", None, 0), ("u", "a", 0, 1), ("u", "a", 1, 2)]
    for limit in (0, True, "1"):
        with pytest.raises(ArgumentError, match="limit"):
            consumer.read(limit=limit)


def test_where_a_new_consumer_begins(table):
    times = [write(table, [("a", "p", n, n)]) for n in range(3)]
    consumer = table.consumer("new")
    assert operations(consumer.read("latest")) == []
    assert consumer.next_position == times[2]
    assert len(consumer.read("earliest")) == 3
    assert operations(consumer.read(times[1])) == [("u", "a", 1, 2)]
    consumer.commit()
    assert operations(consumer.read(times[0])) == []  # it is not new any more
    for to, expected in [("earliest", None), (times[0], times[0]), ("2999-01-01", times[2]), ("latest", times[2])]:
        assert consumer.reset(to) == consumer.position == expected
    with pytest.raises(ConfigError, match="nothing to commit"):
        consumer.commit()
    assert consumer.delete()
    assert not consumer.delete()
    assert consumer.position is None


def test_the_latest_position_of_version_6_is_before_a_write_under_way(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": "6"})
    first = write(table, [("a", "p", 1, 1)], "insert")
    second = write(table, [("b", "p", 1, 1)], "insert")
    table.storage.create(f".hoodie/{int(first) + 1}.commit.requested", b"")
    assert first < str(int(first) + 1) < second
    assert table.consumer("x").reset("latest") == first


def test_a_stream_is_read_when_its_last_batch_is(table):
    for n in range(2):
        write(table, [("a", "p", n, n)])
    consumer = table.consumer("stream")
    batches = consumer.stream()
    batches.read_next_batch()
    with pytest.raises(ConfigError, match="stream to its last batch"):
        consumer.commit()
    batches.read_all()
    assert consumer.commit() is not None


def test_the_later_of_two_processes_with_one_name_notices(table):
    write(table, [("a", "p", 1, 1)], "insert")
    one, other = table.consumer("shared"), table.consumer("shared")
    for _ in range(2):  # the first commit makes the file, the second one replaces it
        one.read()
        other.read()
        one.commit()
        write(table, [("a", "p", 2, 2)])
        with pytest.raises(StaleConsumerError, match=r"was moved since its last read.*committed"):
            other.commit()
        with pytest.raises(ConfigError, match="nothing to commit"):
            other.commit()
        other.read()
        one.read()
        other.commit()
        with pytest.raises(StaleConsumerError):
            one.commit()
        write(table, [("a", "p", 3, 3)])
    one.read()
    other.delete()
    with pytest.raises(StaleConsumerError, match="deleted"):
        one.commit()


def test_of_many_threads_one_commits(table):
    write(table, [("a", "p", 1, 1)], "insert")
    consumers, barrier = [table.consumer("shared") for _ in range(8)], Barrier(8)

    def commit(consumer):
        barrier.wait()
        try:
            return consumer.commit() is not None
        except StaleConsumerError:
            return False

    for n in range(2, 5):
        for consumer in consumers:
            consumer.read()
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(commit, consumers)) == 1
        write(table, [("a", "p", n, n)])


@pytest.mark.parametrize("kind", sample(["kill", "full", "lost", "retried", "deaf"], 0, 2, 4))
def test_a_consumer_that_dies_hands_out_every_change(tmp_path, kind):
    """At least once for who keeps nothing, exactly once for who stores the position with the results."""
    table = create(tmp_path / "t", FakeClock())
    for n in range(2):
        write(table, [("a", "p", n, n)])
    expected = operations(table.read_changes())
    for fail_at in range(1, 200):
        table.consumer("x").delete()
        every, stored, failed, end = [], {"position": None, "results": []}, False, False
        storage = FaultyStorage(tmp_path / "t", fail_at, kind)
        while not end:
            try:
                end = _run(HoodieTable(storage, clock=FakeClock()).consumer("x"), every, stored)
            except (Killed, OSError, StaleConsumerError):
                failed, storage = True, LocalStorage(str(tmp_path / "t"))
        assert list(dict.fromkeys(every)) == expected
        assert stored["results"] == expected
        if not failed and storage.calls < fail_at:
            assert fail_at > 10
            return
    raise AssertionError("the calls do not end")


def _run(consumer, every, stored):
    """One run of a program with a database; True at the end of the changes."""
    if stored["position"] not in (None, consumer.position):
        consumer.commit(stored["position"])
    found = operations(consumer.read(limit=1))
    every += found
    stored |= {"position": consumer.next_position, "results": [*stored["results"], *found]}  # one transaction
    consumer.commit()
    return not found


def test_positions_of_a_program_are_checked(table):
    times = [write(table, [("a", "p", n, n)]) for n in range(3)]
    consumer = table.consumer("x")
    assert consumer.commit(times[1]) == consumer.position == times[1]
    for wrong in (times[0], str(int(times[1]) + 1)):
        with pytest.raises(ConfigError, match="consumer reset x --to TIME"):
            consumer.commit(wrong)
    other = table.consumer("x")
    other.read()
    consumer.commit(times[2])
    with pytest.raises(StaleConsumerError):
        other.commit(times[2])


def test_the_way_on_after_a_clean_and_a_restore(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table, [("a", "p", 1, 1)], "insert")
    table.savepoint()
    for n in range(2, 6):
        write(table, [("a", "p", n, n)])
    consumer = table.consumer("two words")
    reset = "consumer reset 'two words' --to latest` before you read the snapshot"
    consumer.read()
    consumer.commit()
    write(table, [("a", "p", 9, 9)])
    table.run(Restore(table.timeline.commits[0].time))
    for read in (consumer.read, consumer.stream):
        with pytest.raises(ChangeRangeError, match=reset):
            read()
    consumer.reset("earliest")
    for n in range(10, 15):
        write(table, [("a", "p", n, n)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1, "hoodie.consumer.retention.hours": 0})
    with pytest.raises(ChangeRangeError, match=reset):
        consumer.read()
    consumer.reset("latest")
    assert operations(consumer.read()) == []


def test_a_damaged_file(table):
    write(table, [("a", "p", 1, 1)], "insert")
    consumer = table.consumer("x")
    consumer.read()
    table.storage.create(".hoodie/.consumers/x.json", b"{")
    for failing in (consumer.read, lambda: consumer.position):
        with pytest.raises(CorruptTableError, match=r"x\.json .* has no position"):
            failing()
    with pytest.raises(StaleConsumerError, match="has no position"):
        table.consumer("x")._file.store(table.consumer("x")._file.new_position(None, FakeClock()), None)
    assert consumer.reset("earliest") is None
    assert len(consumer.read()) == 1


def test_services_change_nothing_for_consumers(table):
    """Compaction and clustering move the position, and have no changes."""
    for n in range(4):
        write(table, [("a", "p", n, n)])
    consumer = table.consumer("x")
    consumer.read()
    consumer.commit()
    table.run(ARCHIVE, {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1})
    assert operations(consumer.read()) == []
    last = write(table, [("a", "p", 9, 9)])
    assert operations(consumer.read()) == [("u", "a", 3, 9)]
    assert consumer.commit() == last


def test_a_rollback_behind_a_commit_that_completed_later(tmp_path):
    """The commit of the position stays, and one that it overtook is taken back."""
    table = create(tmp_path / "two", FakeClock())
    overtaken(table)
    consumer = table.consumer("x")
    assert len(consumer.read(limit=2)) == 3
    consumer.commit()
    assert len(consumer.read()) == 1
    last = consumer.commit(consumer.next_position)
    table.run(Rollback(table.timeline.commits[-1].time))
    assert consumer.position == last == max(each.completion_time for each in table.timeline.commits)
    for failing in (consumer.read, consumer.stream):
        with pytest.raises(ChangeRangeError, match="consumer reset x --to latest"):
            failing()
    consumer.reset("latest")
    assert operations(consumer.read()) == []


def test_a_column_whose_name_is_used_again_holds_a_consumer(table):
    first = write(table, [("a", "p", 1, 1)], "insert")
    consumer = table.consumer("x")
    consumer.read()
    consumer.commit()
    table.alter([DropColumn("value"), AddColumn("value", pa.int64())])
    for step in (1, 2):  # also while the alteration is all that came
        with pytest.raises(ChangeRangeError, match="consumer reset x --to latest"):
            consumer.read()
        last = write(table, [("a", "p", 1 + step, 2)])
    assert consumer.position == first
    assert consumer.reset("latest") == last
    assert consumer.read().num_rows == 0
