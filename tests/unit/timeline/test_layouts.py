"""The differences of the timeline layouts: names, paths, logs, archives."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from hoodie.config.properties.table import TableProperties
from hoodie.model.files import FileSlice, LogFile
from hoodie.model.names import LogFileName
from hoodie.storage import FileInfo
from hoodie.timeline import Action, Instant, LayoutV1, LayoutV2, State, Timeline, layout_of

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


@pytest.mark.parametrize(("version", "kind"), [("6", LayoutV1), ("8", LayoutV2), ("9", LayoutV2)])
def test_the_table_version_chooses_the_layout(version, kind):
    layout = layout_of(TableProperties({"hoodie.table.name": "t", "hoodie.table.version": version}))
    assert type(layout) is kind
    assert layout.clustering is (Action.CLUSTERING if version != "6" else Action.REPLACE_COMMIT)


@BOTH
@pytest.mark.parametrize("action", [Action.COMMIT, Action.CLEAN, Action.LOG_COMPACTION])
def test_paths_of_a_pending_instant_are_those_of_its_files(layout, action):
    requested = layout.parse(file(f"{T}.{action}.requested"))
    inflight = layout.parse(file(layout.pending_name(replace(requested, state=State.INFLIGHT))))
    for instant in (requested, inflight):
        assert layout.requested_path(instant.time, instant.action) == layout.path(requested)
        assert layout.inflight_path(instant.time, instant.action) == layout.path(inflight)
    assert layout.path(requested) == f"{layout.folder}/{T}.{action}.requested"


def slice_with(*logs):
    files = (LogFile("p", "f-0", time, version, False, file("x")) for time, version in logs)
    return FileSlice("p", "f-0", T, None, tuple(files))


def test_the_next_log_of_layout_1_is_numbered_in_its_slice_or_in_the_one_that_a_compaction_makes():
    layout, logs = LayoutV1(UTC), slice_with((T, 1), (T, 3), (LATER, 7))
    assert layout.next_log(slice_with(), "20240103000000000", None) == LogFileName("f-0", T, 1, "")
    assert layout.next_log(logs, "20240103000000000", None) == LogFileName("f-0", T, 4, "")
    assert layout.next_log(logs, "20240103000000000", LATER) == LogFileName("f-0", LATER, 8, "")


def test_the_next_log_of_layout_2_is_named_by_the_write():
    for compaction in (None, LATER):
        found = LayoutV2(UTC).next_log(slice_with((T, 1)), "20240103000000000", compaction)
        assert found == LogFileName("f-0", "20240103000000000", 1, "")
