"""A write gives up before it writes a file group of which another living writer, that began earlier, has markers."""

from __future__ import annotations

import os
import threading

import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError, EarlyConflictError, WriteConflictError
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.model.names import is_data_file
from hoodie.model.time import Time
from hoodie.storage import walk_files
from hoodie.transaction.heartbeat import FOLDER
from tests.support.counting import CountingStorage
from tests.support.engines import OtherProcesses
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import batch, content, create

APART = {**OCC, "hoodie.parquet.small.file.limit": 0, "hoodie.markers.timeline_server_based.batch.interval_ms": 1}
EARLY = {**APART, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}
TYPES = ("direct", "timeline_server_based")
OLD = Time.of("20200101000000000")


def markers(kind):
    return {"hoodie.write.markers.type": kind}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    made = create(tmp_path / "t", **{"hoodie.table.type": request.param})
    made.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", OCC)
    return made


def data_files(table):
    return {file.path for file in walk_files(table.storage, "") if is_data_file(file.name)}


def upsert(keys, options):
    return lambda table: table.write(batch(keys), "upsert", options)


@pytest.mark.parametrize("theirs", TYPES)
@pytest.mark.parametrize("ours", [*TYPES, "server"])
def test_the_later_writer_gives_up_before_it_has_written(table, theirs, ours):
    """The types of their markers do not matter; the other, and a write of other groups, go on."""
    first = Rival(table.base_path, upsert([("a", "p", 2, 2)], {**EARLY, **markers(theirs)}), written=True).begin()
    before = data_files(table)
    engine = OtherProcesses(2) if ours == "server" else None
    later = HoodieTable.open(table.base_path, clock=QuickClock(), engine=engine)
    options = {**EARLY, **markers("direct" if ours == "direct" else "timeline_server_based")}
    with pytest.raises(EarlyConflictError, match="gave up early") as gave_up:
        later.write(batch([("a", "p", 3, 3)]), "upsert", options)
    assert "of partition 'part=p'" in str(gave_up.value)
    assert data_files(table) == before
    later.write(batch([("b", "q", 3, 3), ("c", "r", 3, 3)]), "upsert", options)
    assert first.finish() is None
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 3, 3), "c": ("r", 3, 3)}


@pytest.mark.parametrize("kind", TYPES)
def test_the_earlier_writer_does_not_give_up(table, kind):
    """So never both do; at its commit the one that comes second loses as ever."""
    options = {**EARLY, **markers(kind)}
    first = Rival(table.base_path, upsert([("a", "p", 2, 2)], options)).begin()
    second = Rival(table.base_path, upsert([("a", "p", 3, 3)], options), written=True).begin()
    assert first.finish() is None
    lost = second.finish()
    assert isinstance(lost, WriteConflictError)
    assert not isinstance(lost, EarlyConflictError)
    assert content(table) == {"a": ("p", 2, 2), "b": ("q", 1, 1)}


@pytest.mark.parametrize("kind", TYPES)
def test_it_is_off_unless_it_is_asked_for(table, kind):
    first = Rival(table.base_path, upsert([("a", "p", 2, 2)], APART), written=True).begin()
    shared(table.base_path).write(batch([("a", "p", 3, 3)]), "upsert", {**APART, **markers(kind)})
    assert isinstance(first.finish(), WriteConflictError)
    assert content(table)["a"] == ("p", 3, 3)


@pytest.mark.parametrize("kind", TYPES)
def test_tried_again_when_the_other_is_done(table, kind):
    first = Rival(table.base_path, upsert([("a", "p", 2, 2)], EARLY), written=True).begin()
    free = threading.Timer(1, first.storage.go_on.set)
    free.start()
    options = {**EARLY, **markers(kind), "hoodie.write.num.retries.on.conflict.failures": 1}
    shared(table.base_path).write(
        batch([("a", "p", 3, 3)]), "upsert", {**options, "hoodie.write.lock.wait_time_ms_between_retry": 10}
    )
    assert first.finish() is None
    assert content(table)["a"] == ("p", 3, 3)


@pytest.mark.parametrize("kind", TYPES)
def test_markers_of_the_dead_are_passed_over(table, kind):
    """A Hudi writer that was killed, for instance: its heartbeat has expired, or it has no heartbeat."""
    (path,) = (file.path for file in walk_files(table.storage, "part=p") if is_data_file(file.name))
    DirectMarkers(table.storage, OLD).create(path, MarkerType.MERGE)
    shared(table.base_path).write(batch([("a", "p", 2, 2)]), "upsert", {**EARLY, **markers(kind)})
    DirectMarkers(table.storage, OLD).create(path, MarkerType.MERGE)
    table.storage.touch(f"{FOLDER}/{OLD}")
    os.utime(f"{table.base_path}/{FOLDER}/{OLD}", (1, 1))
    shared(table.base_path).write(batch([("a", "p", 3, 3)]), "upsert", {**EARLY, **markers(kind)})
    assert content(table)["a"] == ("p", 3, 3)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("commits", [True, False])
def test_commits_since_then_count_where_it_is_asked_for(table, kind, commits):
    options = {**EARLY, **markers(kind), "hoodie.write.concurrency.early.conflict.check.commit.conflict": commits}
    second = Rival(table.base_path, upsert([("a", "p", 3, 3)], options)).begin()
    shared(table.base_path).write(batch([("a", "p", 2, 2)]), "upsert", APART)
    lost = second.finish()
    assert isinstance(lost, WriteConflictError)
    assert isinstance(lost, EarlyConflictError) is commits
    assert content(table)["a"] == ("p", 2, 2)


def test_what_it_costs_where_nobody_else_writes(table):
    counted = CountingStorage(table.base_path)
    shared(table.base_path, counted).write(batch([("a", "p", 2, 2), ("n", "n", 2, 2)]), "upsert", EARLY)
    assert counted.listed.count(".hoodie/.temp") == 2, "at its begin, and for the group that was there"
    counted.listed.clear()
    shared(table.base_path, counted).write(batch([("a", "p", 3, 3), ("n", "n", 3, 3)]), "upsert", APART)
    assert counted.listed.count(".hoodie/.temp") == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"hoodie.write.concurrency.mode": "single_writer"}, "is for several writers at once"),
        (
            {"hoodie.write.concurrency.early.conflict.detection.strategy": "AsyncTimelineServerBasedDetectionStrategy"},
            "does not fit",
        ),
        (
            {
                "hoodie.write.concurrency.early.conflict.detection.strategy": "org.apache.hudi.client.transaction."
                "SimpleTransactionDirectMarkerBasedDetectionStrategy"
            },
            "a value it cannot have",
        ),
    ],
)
def test_what_has_no_effect_is_refused(table, options, told):
    with pytest.raises(ConfigError, match=told):
        table.write(batch([("a", "p", 2, 2)]), "upsert", {**EARLY, **options})


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        ("direct", "org.apache.hudi.client.transaction.SimpleDirectMarkerBasedDetectionStrategy"),
        (
            "timeline_server_based",
            "org.apache.hudi.timeline.service.handlers.marker.AsyncTimelineServerBasedDetectionStrategy",
        ),
    ],
)
def test_hudis_names_of_classes(table, kind, strategy):
    named = {**markers(kind), "hoodie.write.concurrency.early.conflict.detection.strategy": strategy}
    table.write(batch([("a", "p", 2, 2)]), "upsert", {**EARLY, **named})
    assert content(table)["a"] == ("p", 2, 2)
