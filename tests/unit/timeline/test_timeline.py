"""The timeline that the files of its folder make."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hoodie.errors import CorruptTableError
from hoodie.model.time import Time
from hoodie.storage import FileInfo, LocalStorage
from hoodie.timeline import Action, Instant, LayoutV1, LayoutV2, State, Timeline, load_timeline

T, LATER = "20240102030405678", "20240102030406001"
CHANGED = datetime(2024, 1, 2, 3, 4, 7, 8000, UTC)
BOTH = pytest.mark.parametrize("layout", [LayoutV1(UTC), LayoutV2(UTC)], ids=["1", "2"])
FOREIGN = ["hoodie.properties", "lock", f".{T}.commit.crc", f"{T}.commit.7b2c.tmp", f"{T}.requested", f"{T}"]


def file(name, size=1):
    return FileInfo(f".hoodie/{name}", size, int(CHANGED.timestamp() * 1000))


def put(storage, layout, *names):
    for name in names:
        storage.create(f"{layout.folder}/{name}", b"x")


@BOTH
def test_a_timeline_has_each_instant_at_its_highest_state_in_order(tmp_path, layout):
    storage = LocalStorage(str(tmp_path))
    done = layout.completed_name(Instant("20240101000000000", Action.COMMIT, State.INFLIGHT), "20240101000001000")
    put(storage, layout, "20240103000000000.clean.requested", "20240102000000000.commit.requested")
    put(storage, layout, done, "20240101000000000.inflight", "20240101000000000.commit.requested")
    put(storage, layout, "20240102000000000.inflight", *FOREIGN)
    storage.create(f"{layout.archive_folder}/20230101000000000_20230101000000001.commit", b"x")
    storage.create(f"{layout.archive_folder}/20230101000000000.commit", b"")
    timeline = load_timeline(storage, layout)
    assert [(each.time[:8], each.action, each.state) for each in timeline] == [
        ("20240101", Action.COMMIT, State.COMPLETED),
        ("20240102", Action.COMMIT, State.INFLIGHT),
        ("20240103", Action.CLEAN, State.REQUESTED),
    ]
    assert len(timeline) == 3
    assert [each.time for each in timeline.pending] == ["20240102000000000", "20240103000000000"]
    assert timeline.last_commit == timeline.commits[0] == timeline.completed(Action.COMMIT)[0]


@BOTH
def test_a_missing_folder_is_an_empty_timeline(tmp_path, layout):
    timeline = load_timeline(LocalStorage(str(tmp_path / "nowhere")), layout)
    assert (len(timeline), timeline.last_commit, timeline.latest_time, timeline.start) == (0, None, None, None)
    assert not timeline.is_committed(T)


@BOTH
def test_an_empty_completed_instant_is_refused_and_an_empty_pending_one_is_not(tmp_path, layout):
    storage = LocalStorage(str(tmp_path))
    storage.create(f"{layout.folder}/{T}.commit.requested", b"")
    storage.create(f"{layout.folder}/{T}.inflight", b"")
    [pending] = load_timeline(storage, layout)
    name = layout.completed_name(pending, LATER)
    storage.create(f"{layout.folder}/{name}", b"")
    with pytest.raises(CorruptTableError, match=f"{name} is empty"):
        load_timeline(storage, layout)
    storage.delete(f"{layout.folder}/{name}")
    storage.create(f"{layout.folder}/{name}/x", b"")
    with pytest.raises(CorruptTableError, match=f"{name} is a folder"):
        load_timeline(storage, layout)


def test_a_savepoint_and_its_commit_share_a_time_and_are_two():
    layout = LayoutV2(UTC)
    names = [f"{T}_{LATER}.commit", f"{T}_{LATER}.savepoint", f"{T}.savepoint.inflight"]
    timeline = Timeline.of(layout.parse(file(name)) for name in names)
    assert [(each.action, each.state) for each in timeline] == [
        (Action.COMMIT, State.COMPLETED),
        (Action.SAVEPOINT, State.COMPLETED),
    ]


def test_what_is_committed():
    """Files of pending and of later unknown instants are not visible; those older than the timeline were archived."""

    def instant(day, state=State.COMPLETED, action=Action.COMMIT):
        return Instant(Time.of(f"202401{day:02}000000000"), action, state, None, "x")

    timeline = Timeline.of([instant(2, State.INFLIGHT), instant(5), instant(7, State.REQUESTED), instant(9)])
    committed = [day for day in range(1, 11) if timeline.is_committed(instant(day).time)]
    assert committed == [1, 3, 4, 5, 9]
    assert timeline.start == instant(2).time
    cleans = Timeline.of([instant(3, action=Action.CLEAN), instant(5)])
    assert cleans.start == instant(5).time
    assert cleans.commit_times == {instant(5).time}


def test_the_latest_time_counts_completions_in_names_and_not_clocks_of_files():
    two, one = LayoutV2(UTC), LayoutV1(UTC)
    assert Timeline.of([two.parse(file(f"{T}_{LATER}.commit"))]).latest_time == LATER
    assert Timeline.of([one.parse(file(f"{T}.commit"))]).latest_time == T
    assert Timeline.of([one.parse(file("20240102030405.commit"))]).latest_time == "20240102030405"
