"""Cleaning and archiving keep unread changes, and say so."""

from __future__ import annotations

import logging
import re

import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION
from hoodie.changes.consumer_lag import last_completed, unread
from hoodie.errors import ChangeRangeError
from tests.support.archive import archive_before, beyond_savepoints
from tests.support.changes import operations, write

ONE_COMMIT = {"hoodie.clean.commits.retained": 1}
ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1}
ONE_HOUR = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": 1}
POLICIES = (ONE_COMMIT, ONE_VERSION, ONE_HOUR)
EACH = pytest.mark.parametrize("policy", POLICIES, ids=["commits", "versions", "hours"])
SHORT = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, **ONE_COMMIT}


def slices(table, count=6):
    """As many file slices of one group, and the time of each commit."""
    times = []
    for n in range(count):
        times.append(write(table, [("a", "p", n, n)]))
        if table.properties.is_merge_on_read:
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
    return times


def expected(first, last):
    return [("u", "a", n - 1, n) for n in range(first, last)]


@EACH
def test_a_clean_keeps_what_the_slowest_consumer_needs(table, policy):
    if policy is ONE_HOUR and table.version == 6:
        return  # the hours of version 6 count from the time of files, which no clock of a test sets
    times = slices(table)
    table.consumer("slow").reset(times[2])
    table.consumer("fast").reset("latest")
    table.consumer("later").reset(times[4])
    table.clock.sleep(7200)
    decision = table.explain(CLEAN, policy)
    assert decision.plan.files
    (blocker,) = decision.blockers
    assert "consumer 'slow' has not read" in str(blocker)
    assert "consumer reset slow --to latest" in blocker.fix
    table.run(CLEAN, policy)
    slow = table.consumer("slow")
    assert operations(slow.read()) == expected(3, 6)
    with pytest.raises(ChangeRangeError):
        table.read_changes(times[0])
    slow.commit()
    table.consumer("later").delete()
    table.clock.sleep(7200)
    assert table.run(CLEAN, policy).files_deleted  # what the first clean kept for the consumer
    assert not table.explain(CLEAN, policy).blockers


@EACH
def test_replaced_groups_stay_for_a_consumer(table, policy):
    position = write(table, [("a", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2)], "insert_overwrite")
    for n in range(3, 6):
        write(table, [("b", "q", n, n)])
    table.consumer("slow").reset(position)
    table.clock.sleep(7200)
    table.run(CLEAN, policy)
    changes = operations(table.consumer("slow").read())
    assert changes[:2] == [("d", "a", 1, None), ("i", "a", None, 2)]


def test_services_pass_a_consumer_that_is_too_slow(table, caplog):
    times = slices(table)
    table.consumer("slow").reset(times[1])
    table.clock.sleep(3600 * 24 * 8)
    slices(table, 2)
    with caplog.at_level(logging.WARNING):
        done = table.run(CLEAN, ONE_COMMIT)
    words = "consumer 'slow' of table .* is passed: .*hoodie.consumer.retention.hours is 168"
    assert done.files_deleted
    for text in (done.decision.reason, caplog.text, table.explain(ARCHIVE, SHORT).reason):
        assert re.search(words, text)
    with pytest.raises(ChangeRangeError, match="consumer reset slow --to latest"):
        table.consumer("slow").read()


def test_the_hours_are_an_option(table):
    times = slices(table)
    table.consumer("slow").reset(times[1])
    table.clock.sleep(7200)
    for hours, held in ((3, True), (1, False), (0, False)):
        options = {**ONE_COMMIT, "hoodie.consumer.retention.hours": hours}
        assert bool(table.explain(CLEAN, options).blockers) == held


def test_a_position_that_cannot_be_read_keeps_everything(table):
    slices(table)
    table.storage.create(".hoodie/.consumers/x.json", b"{")
    table.clock.sleep(7200)
    for policy in (ONE_COMMIT, ONE_VERSION):
        decision = table.explain(CLEAN, policy)
        assert decision.plan is None
        assert ".hoodie/.consumers/x.json" in str(decision.blockers[0])
        assert not table.run(CLEAN, policy).files_deleted
    decision = table.explain(ARCHIVE, SHORT)
    assert decision.plan is None
    assert ".hoodie/.consumers/x.json" in decision.reason


def test_an_archival_keeps_commits_that_are_unread(table):
    times = [write(table, [("a", "p", n, n)]) for n in range(8)]
    options = {**SHORT, "hoodie.compact.inline.max.delta.commits": "1"}
    assert table.explain(ARCHIVE, options).plan is not None
    table.consumer("slow").reset(times[2])
    kept = [commit.time for commit in table.timeline.commits][3:]
    decision = table.explain(ARCHIVE, options)
    assert "unread of consumer 'slow'" in decision.reason
    assert any("consumer reset slow" in blocker.fix for blocker in decision.blockers)
    table.run(ARCHIVE, options)
    assert [commit.time for commit in table.timeline.commits] == kept
    assert operations(table.consumer("slow").read()) == expected(3, 8)


def test_archived_commits_are_unread_too(table):
    """Hudi's archiver knows no consumers."""
    times = [write(table, [("a", "p", n, n)]) for n in range(6)]
    archive_before(table, table.timeline.commits[4].time)
    state = table.state()
    for position in (None, times[0], times[2], times[4]):
        found = unread(state, position)
        first = times.index(position) + 1 if position else 0
        assert len(found.commits) == 6 - first
        assert found.first == found.commits[0]
    assert unread(state, times[5]) is None


@pytest.mark.parametrize("version", ["9", "6"])
def test_the_last_commit_at_a_time_may_be_archived_though_an_older_one_is_active(tmp_path, version):
    table, commits, _ = beyond_savepoints(tmp_path / "t", version, (0,), (7, 8))
    times = [each.time if version == "6" else each.completion_time for each in commits]
    state = table.state()
    assert [last_completed(state, time) for time in times] == times
    consumer = table.consumer("x")
    consumer.reset(times[2])
    assert consumer.commit(times[4]) == times[4]
    assert [change[1] for change in operations(consumer.read())] == ["k5", "k6", "k7", "k8"]
