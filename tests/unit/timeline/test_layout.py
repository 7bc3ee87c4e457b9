"""Names of instants in both timeline layouts, and the timeline that they make."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptTableError
from hoodie.storage import FileInfo, LocalStorage
from hoodie.timeline import (
    Action,
    Instant,
    LayoutV1,
    LayoutV2,
    State,
    Timeline,
    format_time,
    load_timeline,
    pad,
    parse_time,
)

T, LATER = "20240102030405678", "20240102030406001"
CHANGED = datetime(2024, 1, 2, 3, 4, 7, 8000, UTC)
BOTH = pytest.mark.parametrize("layout", [LayoutV1(UTC), LayoutV2(UTC)], ids=["1", "2"])
PENDING = [
    (f"{T}.commit.requested", Action.COMMIT, State.REQUESTED),
    (f"{T}.inflight", Action.COMMIT, State.INFLIGHT),
    (f"{T}.deltacommit.inflight", Action.DELTA_COMMIT, State.INFLIGHT),
    (f"{T}.replacecommit.requested", Action.REPLACE_COMMIT, State.REQUESTED),
    (f"{T}.clustering.inflight", Action.CLUSTERING, State.INFLIGHT),
    (f"{T}.compaction.requested", Action.COMPACTION, State.REQUESTED),
    (f"{T}.logcompaction.inflight", Action.LOG_COMPACTION, State.INFLIGHT),
    (f"{T}.clean.requested", Action.CLEAN, State.REQUESTED),
    (f"{T}.rollback.inflight", Action.ROLLBACK, State.INFLIGHT),
    (f"{T}.savepoint.inflight", Action.SAVEPOINT, State.INFLIGHT),
    (f"{T}.restore.requested", Action.RESTORE, State.REQUESTED),
    (f"{T}.indexing.inflight", Action.INDEXING, State.INFLIGHT),
]
COMPLETED = ["commit", "deltacommit", "replacecommit", "clean", "rollback", "savepoint", "restore", "indexing"]
FOREIGN = [
    "hoodie.properties",
    "hoodie.properties.backup",
    "lock",
    f".{T}.commit.crc",
    f".tmp-{T}.commit",
    f"{T}.commit.7b2c.tmp",
    f"{T}.commit.requested.bak",
    f"{T}.requested",
    f"{T}.completed",
    f"{T}.unheardof",
    f"{T}.Commit",
    f"{T}",
    "x.commit",
    f"{T}_.commit",
    f"_{T}.commit",
    ".commits_.archive.1_1-0-1",
]


def file(name, size=1):
    return FileInfo(f".hoodie/{name}", size, int(CHANGED.timestamp() * 1000))


@BOTH
@pytest.mark.parametrize(("name", "action", "state"), PENDING)
def test_pending_instants(layout, name, action, state):
    instant = layout.parse(file(name))
    assert instant == Instant(T, action, state, None, name)
    assert layout.pending_name(instant) == name


@pytest.mark.parametrize("action", COMPLETED)
def test_completed_instants_of_layout_1_complete_when_their_file_changed(action):
    name = f"{T}.{action}"
    assert LayoutV1(UTC).parse(file(name)) == Instant(T, Action(action), State.COMPLETED, "20240102030407008", name)
    assert LayoutV1(UTC).completed_name(Instant(T, Action(action), State.INFLIGHT), LATER) == name
    assert LayoutV1(timezone(timedelta(hours=2))).parse(file(name)).completion_time == "20240102050407008"


@pytest.mark.parametrize("action", COMPLETED)
def test_completed_instants_of_layout_2_carry_their_completion(action):
    name = f"{T}_{LATER}.{action}"
    assert LayoutV2(UTC).parse(file(name)) == Instant(T, Action(action), State.COMPLETED, LATER, name)
    assert LayoutV2(UTC).completed_name(Instant(T, Action(action), State.INFLIGHT), LATER) == name


def test_layout_2_reads_what_an_upgrade_left_of_layout_1():
    assert LayoutV2(UTC).parse(file(f"{T}.commit")).completion_time == "20240102030407008"


@BOTH
@pytest.mark.parametrize(
    ("pending", "completed"),
    [
        (Action.COMPACTION, Action.COMMIT),
        (Action.LOG_COMPACTION, Action.DELTA_COMMIT),
        (Action.CLUSTERING, Action.REPLACE_COMMIT),
        (Action.CLEAN, Action.CLEAN),
    ],
)
def test_services_complete_under_another_word_and_stay_one_instant(layout, pending, completed):
    requested = layout.parse(file(f"{T}.{pending}.requested"))
    done = layout.parse(file(layout.completed_name(requested, LATER)))
    assert done.action is completed
    assert Timeline.of([done, requested]).instants == (done,)


@BOTH
@pytest.mark.parametrize("name", FOREIGN)
def test_other_files_are_no_instants(layout, name):
    assert layout.parse(file(name)) is None


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
        return Instant(f"202401{day:02}000000000", action, state, None, "x")

    timeline = Timeline.of([instant(2, State.INFLIGHT), instant(5), instant(7, State.REQUESTED), instant(9)])
    committed = [day for day in range(1, 11) if timeline.is_committed(instant(day).time)]
    assert committed == [1, 3, 4, 5, 9]
    assert timeline.start == pad(instant(2).time)
    cleans = Timeline.of([instant(3, action=Action.CLEAN), instant(5)])
    assert cleans.start == instant(5).time
    assert cleans.commit_times == {instant(5).time}


def test_the_latest_time_counts_completions_in_names_and_not_clocks_of_files():
    two, one = LayoutV2(UTC), LayoutV1(UTC)
    assert Timeline.of([two.parse(file(f"{T}_{LATER}.commit"))]).latest_time == LATER
    assert Timeline.of([one.parse(file(f"{T}.commit"))]).latest_time == T
    assert Timeline.of([one.parse(file("20240102030405.commit"))]).latest_time == "20240102030405999"


@pytest.mark.parametrize(
    ("time", "padded"),
    [
        (T, T),
        ("20240102030405", "20240102030405999"),
        ("00000000000001", "00000000000001"),
        ("00000000000000001", "00000000000000001"),
    ],
)
def test_old_instants_of_seconds_are_the_end_of_their_second(time, padded):
    assert pad(time) == padded


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(9998, 1, 1), timezones=st.just(UTC)),
    st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours))),
)
def test_times_keep_their_milliseconds_in_any_zone(moment, zone):
    text = format_time(moment, zone)
    assert len(text) == 17
    assert parse_time(text, zone) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@pytest.mark.parametrize("text", ["", "2024", "2024010203040567x", T + "9", "20241302030405678", "latest"])
def test_text_that_is_no_time_is_refused(text):
    with pytest.raises(ValueError):
        parse_time(text, UTC)


def test_instants_travel_and_can_be_shown():
    instant = LayoutV2(UTC).parse(file(f"{T}_{LATER}.commit"))
    assert str(instant) == f"{T} commit COMPLETED"
    assert replace(instant, state=State.INFLIGHT).key == instant.key


def test_the_folders_of_layout_2_follow_the_properties():
    layout = LayoutV2(UTC, "when", "past")
    assert (layout.folder, layout.archive_folder) == (".hoodie/when", ".hoodie/when/past")


@pytest.mark.parametrize(("name", "folder"), [("history", ".hoodie/history"), ("", ".hoodie")])
def test_the_archive_of_layout_1_follows_the_properties(name, folder):
    """Hudi 1.x keeps it in `history`, very old tables beside the instants."""
    assert LayoutV1(UTC, name).archive_folder == folder
