"""`ingest --then-stream`: the history by a bulk insert, then each new file, batch by batch."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError
from hudi_services.entry.call import Call
from hudi_services.sources.ingest.entry import INGEST
from hudi_services.sources.ingest.rounds import Rounds
from tests.support.clock import FakeClock
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch

GIVEN = {name: str(value) for name, value in {**OPTIONS, **SMALL_BLOOM}.items()}


def task(feed, *flags, **options):
    call = Call(str(feed.table), {**GIVEN, **options})
    return INGEST.command.called(call, ("--source-path", str(feed.source), *flags))


def operations(table):
    return [table.state().commit_metadata(commit).operation for commit in table.timeline.commits]


def test_history_comes_first_and_files_follow(feed):
    feed.land("1.parquet", batch([("a", "p", 1, 1), ("a", "p", 2, 2), ("b", "p", 1, 1)]))

    class Landing(FakeClock):
        def sleep(self, seconds):
            super().sleep(seconds)
            if len(operations(feed.open())) == 1:
                feed.land("2.parquet", batch([("a", "p", 3, 3)]))

    found = task(feed, "--then-stream", "1")
    assert found.pace.lasting == timedelta(minutes=1)
    done = Rounds("ingest", found.request, found.pace, lambda _: None, clock=Landing()).run(LocalEngine(2))
    assert operations(feed.open()) == ["BULK_INSERT", "UPSERT"]
    assert feed.content == {"a": ("p", 3, 3), "b": ("p", 1, 1)}, "of a key that comes twice the newest row stays"
    assert (done.service, done.rows_inserted, done.rows_updated, done.rows_duplicate) == ("ingest", 2, 1, 1)
    assert done.message.startswith("2 commits, the last: ")
    again = Rounds("ingest", found.request, found.pace, lambda _: None, clock=FakeClock()).run(LocalEngine(2))
    assert again.instant is None


def test_a_table_with_commits_has_no_history(feed):
    feed.land("1.parquet", batch([("a", "p", 1, 1)]))
    feed.run()
    feed.land("2.parquet", batch([("a", "p", 2, 2)]))
    found = task(feed, "--then-stream", "0")
    found.run(LocalEngine(2))
    assert operations(feed.open()) == ["UPSERT", "UPSERT"]
    assert task(feed, "--then-stream").pace.lasting == timedelta.max


def test_what_it_cannot_be_with(feed):
    for flags, message in (
        (("--reload",), "contradicts --reload"),
        (("--operation", "delete"), "does not write by delete"),
        (("--operation", "insert_overwrite"), "does not write by insert_overwrite"),
    ):
        with pytest.raises(ConfigError, match=message):
            task(feed, "--then-stream", "1", *flags)
    own = task(feed, "--then-stream", "1", **{"hoodie.combine.before.insert": "false"})
    assert own.request.options["hoodie.combine.before.insert"] == "false"
