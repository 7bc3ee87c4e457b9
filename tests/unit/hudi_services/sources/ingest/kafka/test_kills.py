"""A load that is killed at any call to the table's storage: the next one ends with every message once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import hoodie.table
from hoodie.errors import PendingInstantError
from hudi_services.sources.ingest import run as run_module
from hudi_services.sources.ingest.kafka import source as source_module
from hudi_services.sources.ingest.kafka.consumer import RangeReader
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import sample
from tests.support.orders import delete, insert, update

pytestmark = pytest.mark.process


@pytest.fixture
def replayed(monkeypatch):
    """Replays the answers of the broker: asked a hundred times more it would give the same."""
    states, reads = {}, {}
    state, read = source_module.topic_state, RangeReader.read

    def topic_state(*arguments):
        return states.setdefault("now", state(*arguments) if "now" not in states else None)

    def read_once(self, ranges):
        key = tuple(ranges)
        if key not in reads:
            reads[key] = read(self, ranges)
        return reads[key]

    def replay():
        monkeypatch.setattr(source_module, "topic_state", topic_state)
        monkeypatch.setattr(RangeReader, "read", read_once)

    return replay


def load(feed, storage, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(hoodie.table, "storage_of", lambda _: storage)
        patch.setattr("hudi_services.sources.ingest.target.open_storage", lambda _: storage)
        feed.load(max_messages=4, max_bad_share=0.5)


@pytest.mark.parametrize("first", sample([True, False], 1))
def test_every_message_counts_once_wherever_a_load_is_killed(feed, monkeypatch, replayed, first):
    if not first:
        feed.send([insert(1), insert(2)])
        feed.load()
    feed.send([insert(3), update(3, "a"), (b"k", b"{poison"), delete(1), update(2, "b")])
    expected = {3: "a", 2: "b"}
    replayed()
    origin, table = feed.table.with_name("origin"), feed.table
    if not first:
        table.rename(origin)
    fail_at = 0
    while True:
        fail_at += 5 if first else 4  # a load makes more than a hundred calls
        feed.table = table.with_name(f"table{fail_at}")
        if not first:
            shutil.copytree(origin, feed.table)
        try:
            load(feed, FaultyStorage(feed.table, fail_at), monkeypatch)
        except Killed:
            load(feed, FaultyStorage(feed.table), monkeypatch)
            assert feed.rows == expected, fail_at
            assert [bad["row"]["value"] for bad in feed.quarantined] == ["{poison"], fail_at
            assert feed.load(max_bad_share=0.5).message.startswith("nothing to do")
        else:
            break
        shutil.rmtree(feed.table)
        shutil.rmtree(Path(f"{feed.table}.quarantine"))
    assert fail_at > 60


def test_of_two_loads_at_once_one_takes_the_messages_in(feed, monkeypatch):
    feed.send([insert(1)])
    feed.load()
    feed.send([insert(2)])
    prepare = run_module.prepare

    def overtaken(*arguments):
        prepared = prepare(*arguments)
        monkeypatch.undo()
        feed.load()
        return prepared

    monkeypatch.setattr(run_module, "prepare", overtaken)
    with pytest.raises(PendingInstantError, match="Another ingestion committed"):
        feed.load()
    assert feed.load().message.startswith("nothing to do")
    assert feed.commits == 2
