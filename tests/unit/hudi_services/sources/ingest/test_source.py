"""The pipeline through a source that has no files: what it does is no property of files."""

from __future__ import annotations

import json
import shutil

import pytest

import hoodie.table
from hoodie.engine import LocalEngine
from hoodie.errors import CorruptTableError, PendingInstantError, SourceError
from hudi_services.sources.ingest import run as run_module
from hudi_services.sources.ingest.files.checkpoint import KEY as CHECKPOINT
from hudi_services.sources.ingest.prepare import prepare
from hudi_services.sources.ingest.quarantine import QuarantineWriter
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from hudi_services.sources.ingest.task import IngestTask
from tests.support.faulty import FaultyStorage, Killed
from tests.support.memory_source import KEY, MemorySource
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch

FIRST = batch([("a", "p", 1, 1), ("b", "p", 1, 1)])
SECOND = batch([("c", "p", 1, 1), ("d", "q", 1, 1)])
BAD = batch([(None, "p", 1, 1), ("e", "p", 1, 1)])


class Topic:
    """A log that grows, and the table that it is loaded into. Bulk inserts do not look at keys: what is loaded twice shows."""

    def __init__(self, feed):
        self.feed = feed
        self.log = ()

    def send(self, *messages):
        self.log += messages

    def request(self, **more):
        merged = {**OPTIONS, **SMALL_BLOOM}
        return IngestRequest(str(self.feed.table), MemorySource(self.log), "bulk_insert", options=merged, **more)

    def run(self, **more):
        return run_ingest(self.request(**more), LocalEngine(2))

    @property
    def ids(self):
        return sorted(self.feed.open().read(columns=["id"])["id"].to_pylist())

    @property
    def extra(self):
        table = self.feed.open()
        return table.state().commit_metadata(table.timeline.last_commit).extra


@pytest.fixture
def topic(feed):
    return Topic(feed)


def run_on(storage, topic, monkeypatch, **more):
    """A run whose table is on `storage`."""
    with monkeypatch.context() as patch:
        patch.setattr(hoodie.table, "storage_of", lambda _: storage)
        topic.run(**more)


def test_a_later_run_loads_what_came_after_the_position_of_the_last_commit(topic):
    topic.send(FIRST)
    result = topic.run()
    assert (result.rows_read, result.rows_inserted, result.rows_quarantined) == (2, 2, 0)
    assert (result.files_read, result.bytes_read) == (0, FIRST.nbytes)
    assert topic.extra[KEY] == "offset:1"
    assert CHECKPOINT not in topic.extra
    idle = topic.run()
    assert (idle.instant, idle.message) == (None, "nothing to do: 0 messages from offset 1 on")
    topic.send(SECOND)
    assert topic.run().message == "2 rows inserted, 0 updated, 0 deleted; 1 message from offset 1 on"
    assert topic.ids == ["a", "b", "c", "d"]


LAST_STEPS = [
    pytest.param("close_output", ".parquet", False, False, id="files written"),
    pytest.param("create", ".commit", False, False, id="before the commit"),
    pytest.param("create", ".commit", True, True, id="after the commit"),
    pytest.param("delete_folder", ".temp", False, True, id="before the markers are gone"),
    pytest.param("delete", "lock", False, True, id="before the lock is free"),
]


@pytest.mark.parametrize(("call", "path", "done", "committed"), LAST_STEPS)
def test_a_run_that_is_killed_neither_loses_nor_doubles_a_message(topic, monkeypatch, call, path, done, committed):
    topic.send(FIRST)
    topic.run()
    topic.send(SECOND)
    table = topic.feed.table
    origin = table.with_name("origin")
    shutil.copytree(table, origin)
    probe = FaultyStorage(table)
    run_on(probe, topic, monkeypatch)
    shutil.rmtree(table)
    origin.rename(table)

    number = max(n for n, (name, at) in enumerate(probe.log, 1) if name == call and path in at)
    with pytest.raises(Killed):
        run_on(FaultyStorage(table, number, half=done), topic, monkeypatch)
    assert topic.ids == (["a", "b", "c", "d"] if committed else ["a", "b"])
    topic.send(batch([("e", "p", 1, 1)]))
    topic.run()
    assert topic.ids == ["a", "b", "c", "d", "e"]
    assert topic.extra[KEY] == "offset:3"


@pytest.mark.parametrize("start_fresh", [False, True])
def test_of_two_runs_that_found_the_same_messages_one_loads_them(topic, monkeypatch, start_fresh):
    """Also where the other one came to the very position that was there before."""
    topic.send(FIRST)
    topic.run()
    topic.send(*() if start_fresh else [SECOND])

    def overtaken(*arguments):
        prepared = prepare(*arguments)
        monkeypatch.undo()
        topic.run(start_fresh=start_fresh)
        return prepared

    monkeypatch.setattr(run_module, "prepare", overtaken)
    with pytest.raises(PendingInstantError, match="Another ingestion committed"):
        topic.run(start_fresh=start_fresh)
    assert topic.ids == (["a", "a", "b", "b"] if start_fresh else ["a", "b", "c", "d"])


def test_the_plan_is_told_in_the_source_s_own_words(topic):
    topic.send(FIRST, SECOND)
    explained = IngestTask(topic.request()).explain(LocalEngine(2))
    plan = explained.as_dict("ingest")
    assert not topic.feed.table.exists()
    assert (plan["reason"], plan["from_offset"], plan["bytes"]) == (
        "2 messages from offset 0 on",
        0,
        FIRST.nbytes + SECOND.nbytes,
    )
    assert [each["path"] for each in plan["files"]] == ["offset 0", "offset 1"]
    assert json.loads(json.dumps(plan)) == plan
    said = explained.as_text("ingest")
    assert said.splitlines()[:2] == ["ingest: 2 messages from offset 0 on", "would create table trips"]
    assert said.endswith(f"would load 2 messages, {FIRST.nbytes + SECOND.nbytes:,} bytes; nothing was changed")


def test_what_cannot_be_read_or_loaded_goes_to_the_quarantine(topic):
    topic.send(FIRST, "garbage", BAD)
    with pytest.raises(SourceError, match=r"^2 of 5 rows from memory:trips"):
        topic.run()
    assert topic.feed.open().timeline.commits == ()
    result = topic.run(max_bad_share=0.4)
    assert (result.rows_read, result.rows_inserted, result.rows_quarantined) == (5, 3, 2)
    rows = [(origin, reason) for origin, reason, _ in topic.feed.quarantined]
    told = [("offset 1", "no rows"), ("offset 2", "row 1: column id is null or empty")]
    assert sorted(rows) == sorted(told * 2), "of the refused run, too"
    assert topic.run(max_bad_share=0.4).instant is None


def test_a_start_from_fresh_reads_all_again_also_from_a_position_that_is_none(topic):
    topic.send(FIRST)
    topic.run()
    assert topic.run(start_fresh=True).rows_inserted == 2
    topic.feed.open().write(SECOND, "bulk_insert", SMALL_BLOOM, extra_metadata={KEY: "broken"})
    with pytest.raises(CorruptTableError, match="cannot be read"):
        topic.run()
    topic.run(start_fresh=True)
    assert topic.extra[KEY] == "offset:1"
    assert topic.run().instant is None


def test_a_table_has_a_position_of_each_kind_of_source(topic):
    topic.send(FIRST)
    topic.feed.land("1.parquet", SECOND)
    for _ in range(2):
        topic.run()
        topic.feed.run(operation="bulk_insert")
    assert topic.ids == ["a", "b", "c", "d"]


def test_bad_rows_of_a_run_that_died_after_its_commit_survive_runs_of_other_sources(topic, monkeypatch):
    topic.send(BAD)
    topic.run(max_bad_share=0.5)
    topic.send(BAD)
    with monkeypatch.context() as patch:
        patch.setattr(QuarantineWriter, "finish", _die)
        with pytest.raises(Killed):
            topic.run(max_bad_share=0.5)
    running = [path for path in topic.feed.quarantine.iterdir() if path.name.startswith(".running")]
    assert len(running) == 1
    topic.feed.land("1.parquet", SECOND)
    topic.feed.run(operation="bulk_insert")
    assert len(topic.feed.quarantined) == 2
    assert not running[0].exists()


def _die(*_arguments, **_more):
    raise Killed
