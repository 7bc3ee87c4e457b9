"""Incremental reads: what the commits of a range wrote, as of its end."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC

import pyarrow.compute as pc
import pytest

from hoodie import CLEAN, COMPACTION
from hoodie.errors import CorruptTableError, PendingInstantError, TimeTravelError
from hoodie.model.clean import CleanResult
from hoodie.timeline import Action, Instant, State, format_time
from hoodie.timeline.codecs.clean import encode_clean_result
from hoodie.transaction.instant_generator import new_time
from tests.support.archive import archive, archive_before
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture(params=[("9", "COPY_ON_WRITE"), ("6", "COPY_ON_WRITE"), ("9", "MERGE_ON_READ"), ("6", "MERGE_ON_READ")])
def table(request, tmp_path):
    version, kind = request.param
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    return create(tmp_path / "t", FakeClock(), **options)


def write(table, rows, operation="upsert"):
    """Returns the time at which the commit counts."""
    done = table.write(batch(rows), operation, SMALL_BLOOM).instant
    return done.time if table.version == 6 else done.completion_time


def found(table, *args, **kwargs):
    return {row["id"]: row["value"] for row in table.read_incremental(*args, **kwargs).to_pylist()}


def test_ranges(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert")
    second = write(table, [("a", "p", 2, 2), ("d", "p", 2, 2)])
    third = write(table, [("a", "p", 3, 3), ("b", "p", 3, 3)])
    assert found(table, None) == {"a": 3, "b": 3, "c": 1, "d": 2}
    assert found(table, first) == {"a": 3, "b": 3, "d": 2}
    assert found(table, second) == {"a": 3, "b": 3}
    assert found(table, third) == {}
    assert found(table, first, second) == {"a": 2, "d": 2}, "a row is as it was at the end of the range"
    assert found(table, None, first) == {"a": 1, "b": 1, "c": 1}
    assert found(table, first, columns=["id", "value"], filter=pc.field("value") == 2) == {"d": 2}


def test_a_range_with_a_write_that_may_complete_late(table, caplog):
    """In version 6 a reader that goes on from the last commit would never see its rows. So the read is refused, as by Hudi."""
    first = write(table, [("a", "p", 1, 1)], "insert")
    action = Action.DELTA_COMMIT if table.properties.is_merge_on_read else Action.COMMIT
    rival = new_time(table.state(), table.access.clock)
    path = table.state().layout.requested_path(rival, action)
    table.storage.create(path, b"")
    assert found(table, first) == {}
    assert found(table, first, rival) == {}
    assert (f"{rival}" in caplog.text) == (table.version == 6)
    table.storage.delete(path)
    last = write(table, [("b", "p", 2, 2)])
    table.storage.create(path, b"")
    if table.version != 6:
        assert found(table, first) == {"b": 2}
        return
    for start, end in ((first, None), (None, None), (first, last)):
        with pytest.raises(PendingInstantError, match=rf"{rival}.*pending, and began before commit {last}"):
            table.read_incremental(start, end)
    assert found(table, None, first) == {"a": 1}
    assert found(table, rival) == {"b": 2}
    table.storage.delete(path)
    assert found(table, first) == {"b": 2}


def test_a_write_of_version_6_that_began_before_the_range_is_logged(table, caplog):
    """No range that begins at the last commit of a snapshot has its rows. A range that ends before it does not name it."""
    first = write(table, [("a", "p", 1, 1)], "insert")
    action = Action.DELTA_COMMIT if table.properties.is_merge_on_read else Action.COMMIT
    rival = new_time(table.state(), table.access.clock)
    last = write(table, [("b", "p", 2, 2)])
    table.storage.create(table.state().layout.requested_path(rival, action), b"")
    assert found(table, None, first) == {"a": 1}
    assert rival not in caplog.text
    assert found(table, last) == {}
    named = (
        f"{rival}" in caplog.text
        and f"after {last}: no range from there on has its rows. Begin at {first}" in caplog.text
    )
    assert named == (table.version == 6)


def test_deleted_rows_do_not_appear(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2), ("b", "p", 2, 2)])
    write(table, [("b", "p", 3, 3)], "delete")
    assert found(table, first) == {"a": 2}


def test_compactions_and_cleans_change_nothing(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    second = write(table, [("a", "p", 2, 2)])
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
        assert table.run(COMPACTION)
    assert found(table, first) == {"a": 2}
    assert found(table, second) == {}
    write(table, [("b", "p", 4, 4)])
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert found(table, first) == {"a": 2, "b": 4}


def history(table):
    """Five commits, of which three are archived; the times at which each counts."""
    return [
        write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert"),
        write(table, [("a", "p", 2, 2)]),
        write(table, [("b", "p", 3, 3), ("d", "q", 3, 3)]),
        write(table, [("a", "p", 4, 4)]),
        write(table, [("e", "q", 5, 5)]),
    ]


RANGES = [
    (None, None),
    (None, 0),
    (None, 2),
    (0, None),
    (0, 1),
    (0, 3),
    (1, 2),
    (1, None),
    (2, 3),
    (2, None),
    (3, None),
]


def test_archived_commits_are_looked_up(table):
    """Ranges that begin or end in the archived timeline give what they gave before."""
    times = history(table)
    moments = [(None if a is None else times[a], None if b is None else times[b]) for a, b in RANGES]
    before = [found(table, *moment) for moment in moments]
    archive_before(table, table.timeline.commits[3].time)
    assert len(table.timeline.commits) == 2
    assert [found(table, *moment) for moment in moments] == before
    assert (
        found(table, "20200101000000000") == found(table, "00000000000000") == {"a": 4, "b": 3, "c": 1, "d": 3, "e": 5}
    )
    assert found(table, times[1]) == {"a": 4, "b": 3, "d": 3, "e": 5}


def test_a_full_scan_that_ends_before_the_first_commit_is_refused(table):
    history(table)
    archive_before(table, table.timeline.commits[3].time)
    with pytest.raises(TimeTravelError, match="its first commit is 2026"):
        table.read_incremental("20190101", "20200101", full_scan=True)


def test_a_full_scan_needs_no_archive(table):
    times = history(table)
    archive_before(table, table.timeline.commits[3].time)
    folder = table.state().layout.archive_folder
    for file in table.storage.list(folder).files:
        if file.size:
            table.storage.delete(file.path)
            table.storage.create(file.path, b"torn")
    with pytest.raises(CorruptTableError, match="full_scan=True"):
        table.read_incremental("20200101")
    assert found(table, "20200101", full_scan=True) == {"a": 4, "b": 3, "c": 1, "d": 3, "e": 5}
    if table.version == 6:
        assert found(table, times[3]) == {"e": 5}, "of this range nothing was archived"


@pytest.mark.parametrize("trace", ["files", "base"])
def test_an_archive_that_is_lost_is_noticed(table, trace):
    """Its commits were missing from the range. Files of theirs are left, or what a later commit wrote over."""
    times = history(table)
    archive_before(table, table.timeline.commits[3].time)
    state = table.state()
    if trace == "base":
        current = {file.path for each in table.file_slices() for file in each.files}
        for group in state.files.all():
            for file in group.files:
                if file.path not in current:
                    table.storage.delete(file.path)
    for file in table.storage.list(state.layout.archive_folder).files:
        table.storage.delete(file.path)
    for start, end in ((times[0], None), ("20200101", None), (times[0], times[3])):
        with pytest.raises(CorruptTableError, match=r"archived timeline of table .* is lost.*full_scan=True"):
            table.read_incremental(start, end)
    assert found(table, times[3]) == found(table, times[3], full_scan=True), "of this range nothing was archived"
    assert table.read().num_rows


@pytest.mark.parametrize("archived", [False, True])
def test_a_cleaned_range_is_refused_and_the_first_readable_instant_is_named(table, archived):
    """The files that were current at the end of the range are gone; where it is open nothing is missing."""
    times = history(table)
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    write(table, [("a", "p", 6, 6), ("c", "q", 6, 6)])
    run = table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert run.files_deleted
    last = table.timeline.commits
    if archived:
        archive_before(table, last[-2].time)
    with pytest.raises(TimeTravelError, match="ask for"):
        table.read_incremental(times[0], times[1])
    for bounds in ((None, times[0]), (times[0], times[2])):
        with pytest.raises(TimeTravelError, match=r"removed .* which was current then") as refused:
            table.read_incremental(*bounds)
        first = re.search(r"ask for (\d+)", str(refused.value))[1]
        assert table.read(as_of=first).num_rows == 5
        assert all(instant.time >= first for instant in last[-1:])
        assert first in {instant.time for instant in last}
        earlier = [instant.time for instant in last if instant.time < first]
        for time in earlier[-1:]:
            with pytest.raises(TimeTravelError):
                table.read(as_of=time)
    assert found(table, times[0]) == {"a": 6, "b": 3, "c": 6, "d": 3, "e": 5}


def test_a_past_that_was_archived_can_be_read(table):
    history(table)
    commits = table.timeline.commits
    states = [content(table, as_of=instant.time) for instant in commits]
    assert len({str(sorted(state.items())) for state in states}) == 5
    archive_before(table, commits[3].time)
    assert [content(table, as_of=instant.time) for instant in commits] == states
    assert table.read(as_of=commits[1].time, columns=["id"]).num_rows == 3
    with pytest.raises(TimeTravelError, match=f"its first commit is {commits[0].time}"):
        table.read(as_of="20200101")


def test_an_archived_replacement_is_not_forgotten(table):
    """A group that is gone was current until an archived replacecommit: its rows must not be missing silently."""
    history(table)
    state = table.state()
    first = table.file_slices(as_of=state.timeline.commits[0].time)
    replacing = table.write(batch([("z", "r", 1, 1)]), "insert", SMALL_BLOOM).instant
    later = table.write(batch([("y", "r", 1, 1)]), "insert", SMALL_BLOOM).instant
    state = table.state()
    groups = {}
    for file_slice in first:
        groups.setdefault(file_slice.partition, []).append(file_slice.file_id)
    make_replacecommit(table, state, replacing, groups)
    deleted = {}
    for partition, file_ids in groups.items():
        for file in table.storage.list(partition).files:
            if file.name.lstrip(".").startswith(tuple(file_ids)):
                deleted.setdefault(partition, []).append(file.name)
                table.storage.delete(file.path)
    put_clean(table, deleted)
    archive_before(table, later.time)
    assert sorted(content(table)) == ["y", "z"]
    with pytest.raises(TimeTravelError, match=f"ask for {replacing.time}"):
        table.read(as_of=state.timeline.commits[-3].time)
    assert sorted(content(table, as_of=replacing.time)) == ["z"]


def make_replacecommit(table, state, instant, groups):
    """As if `instant` had replaced `groups`."""
    metadata = replace(state.commit_metadata(instant), replaced={part: tuple(ids) for part, ids in groups.items()})
    for file in table.storage.list(state.layout.folder).files:
        if file.name.startswith((f"{instant.time}.", f"{instant.time}_")):
            table.storage.delete(file.path)
    changed = replace(instant, action=Action.REPLACE_COMMIT)
    name = state.layout.completed_name(changed, instant.completion_time)
    table.storage.create(f"{state.layout.folder}/{name}", state.layout.encode_commit(metadata, replace=True))


def put_clean(table, deleted):
    """A clean of just now that removed files of these names."""
    layout = table.state().layout
    time = format_time(table.clock.now(), UTC)
    result = CleanResult(time, 1, "KEEP_LATEST_COMMITS", time, time, {part: tuple(n) for part, n in deleted.items()})
    name = layout.completed_name(Instant(time, Action.CLEAN, State.INFLIGHT), format_time(table.clock.now(), UTC))
    table.storage.create(f"{layout.folder}/{name}", encode_clean_result(result))


def test_nonsense_is_refused(table):
    write(table, [("a", "p", 1, 1)], "insert")
    with pytest.raises(TimeTravelError, match="yesterday"):
        table.read_incremental("yesterday")


@pytest.mark.parametrize("commits_too", [False, True])
def test_an_archived_clean_is_not_forgotten(table, commits_too):
    """Cleans are archived on their own count: what they removed is known of them only."""
    history(table)
    commits = table.timeline.commits
    for number in (6, 7):
        if table.properties.is_merge_on_read:
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
        write(table, [(key, "pq"[key in "ce"], number, number) for key in "abce"])
        run = table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
        assert run.files_deleted
    first_clean, _ = table.timeline.completed(Action.CLEAN)
    if commits_too:
        archive_before(table, table.timeline.commits[-1].time)
    else:
        archive(table, [first_clean])
    with pytest.raises(TimeTravelError, match=r"removed .* which was current then") as refused:
        table.read(as_of=commits[1].time)
    first = re.search(r"ask for (\d+)", str(refused.value))[1]
    assert table.read(as_of=first).num_rows
