"""A first load that fails leaves a table that binds no later load to its options."""

from __future__ import annotations

import os

import pytest

import hoodie.table
from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import (
    ConfigError,
    HoodieError,
    PendingInstantError,
    SchemaConflictError,
    SourceError,
    TableNotFoundError,
)
from hudi_services.sources.ingest.prepare import prepare
from hudi_services.sources.ingest.run import run_ingest
from tests.support.faulty import FaultyStorage, Killed
from tests.support.resolved import resolved
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch

BAD = "id,part,ts,value\n,p,1,1\nb,p,2,2\n"
GOOD = "id,part,ts,value\na,p,1,1\nb,p,2,2\n"
OTHER = [
    pytest.param({"hoodie.table.recordkey.fields": "id,part"}, id="keys"),
    pytest.param(
        {"hoodie.table.partition.fields": "", "hoodie.datasource.write.hive_style_partitioning": ""}, id="paths"
    ),
    pytest.param({"hoodie.table.ordering.fields": "value"}, id="ordering"),
    pytest.param({"hoodie.write.table.version": "6"}, id="version"),
    pytest.param({"hoodie.table.type": "MERGE_ON_READ"}, id="type"),
]


def merged(options):
    return {name: value for name, value in {**OPTIONS, **options}.items() if value}


def request(feed, options, **more):
    made = feed.request("csv", **more)
    return type(made)(**{**made.__dict__, "options": {**SMALL_BLOOM, **merged(options)}})


def run(feed, options, **more):
    return run_ingest(request(feed, options, **more), LocalEngine(2))


def fail_first(feed):
    feed.land("1.csv", BAD)
    with pytest.raises(SourceError):
        feed.run("csv")
    assert feed.open().timeline.commits == ()
    feed.land("1.csv", GOOD)


@pytest.mark.parametrize("options", OTHER)
def test_the_next_try_may_have_other_options(feed, options):
    fail_first(feed)
    assert prepare(request(feed, options), LocalEngine(2)).table is None
    assert run(feed, options).rows_inserted == 2
    table = feed.open()
    fresh = HoodieTable.create(str(feed.table.with_name("fresh")), merged(options)).properties.raw
    assert {name: table.properties.raw[name] for name in fresh} == dict(fresh)
    assert table.read().sort_by("id")["id"].to_pylist() == ["a", "b"]
    assert len(table.file_slices()) == 1
    with pytest.raises(ConfigError):
        run(feed, {"hoodie.table.name": "other"})


def test_a_first_load_that_was_killed_holds_nobody_either(feed, monkeypatch):
    feed.land("1.csv", GOOD)
    log = FaultyStorage(feed.table)
    with monkeypatch.context() as patch:
        patch.setattr(hoodie.table, "storage_of", lambda _: log)
        patch.setattr("hudi_services.sources.ingest.target.open_storage", lambda _: log)
        feed.run("csv")
    calls = len(log.log)
    for step in range(1, calls, 7):
        at = feed.table.with_name(f"table{step}")
        storage = FaultyStorage(at, step)
        with monkeypatch.context() as patch:
            patch.setattr(hoodie.table, "storage_of", lambda _, storage=storage: storage)
            patch.setattr("hudi_services.sources.ingest.target.open_storage", lambda _, storage=storage: storage)
            feed.table = at
            with pytest.raises((Killed, HoodieError)):
                run(feed, {"hoodie.table.recordkey.fields": "id,part"})
        committed = (at / ".hoodie" / "hoodie.properties").exists() and feed.open().timeline.commits != ()
        result = run(feed, {"hoodie.table.recordkey.fields": "id,part"} if committed else {})
        assert result.rows_inserted == (0 if committed else 2)
        assert set(feed.content) == {"a", "b"}


def test_a_table_that_somebody_made_on_purpose_is_not_changed(feed):
    HoodieTable.create(str(feed.table), OPTIONS)
    feed.land("1.csv", GOOD)
    with pytest.raises(ConfigError, match=r"never had a commit.*if only you use the empty table, remove .*trips"):
        run(feed, {"hoodie.table.recordkey.fields": "id,part"})
    assert feed.open().properties.record_key_fields == ("id",)


def test_a_writer_that_came_between_keeps_its_table(feed, monkeypatch):
    """Both found the table that a failed load left; the other one was faster."""
    fail_first(feed)

    def overtaken(*arguments):
        prepared = prepare(*arguments)
        monkeypatch.undo()
        feed.run("csv")
        return prepared

    monkeypatch.setattr("hudi_services.sources.ingest.run.prepare", overtaken)
    with pytest.raises(PendingInstantError, match="already in use"):
        run(feed, {"hoodie.table.recordkey.fields": "id,part"})
    assert feed.open().properties.record_key_fields == ("id",)
    assert set(feed.content) == {"a", "b"}


def test_a_load_does_not_write_into_a_table_that_became_another(feed, monkeypatch):
    """Its table was new, and another load gave it other options before the first write began."""
    fail_first(feed)
    write = HoodieTable.write

    def overtaken(*arguments, **more):
        monkeypatch.undo()
        feed.land("1.csv", BAD)
        with pytest.raises(SourceError):
            run(feed, {"hoodie.write.table.version": "6"})
        feed.land("1.csv", GOOD)
        return write(*arguments, **more)

    monkeypatch.setattr(HoodieTable, "write", overtaken)
    with pytest.raises(PendingInstantError, match="table with other options"):
        feed.run("csv")
    assert feed.open().timeline.commits == ()


def test_files_of_others_are_left_alone(feed):
    fail_first(feed)
    (feed.table / "notes").mkdir()
    (feed.table / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(HoodieError, match=r"other files.*notes/mine.txt"):
        run(feed, {"hoodie.table.recordkey.fields": "id,part"})
    assert (feed.table / "notes" / "mine.txt").read_text() == "mine"


def test_columns_that_no_table_can_have_are_told_before_one_is_created(feed):
    feed.land("1.csv", GOOD.replace("value", "my value"))
    with pytest.raises(SchemaConflictError, match="'my value'"):
        feed.run("csv")
    assert not feed.table.exists()


def test_a_delete_finds_nothing_in_a_table_that_a_failed_load_left(feed):
    fail_first(feed)
    with pytest.raises(TableNotFoundError, match="nothing to delete from"):
        feed.run("csv", operation="delete")


def test_a_load_without_options_of_the_table_takes_it_as_it_is(feed):
    fail_first(feed)
    made = feed.request("csv")
    result = run_ingest(type(made)(**{**made.__dict__, "options": SMALL_BLOOM}), LocalEngine(2))
    assert result.rows_inserted == 2
    assert feed.open().properties.record_key_fields == ("id",)


def test_an_upsert_of_parquet_after_a_failed_load(feed):
    fail_first(feed)
    feed.land("2.parquet", batch([("c", "p", 1, 1)]))
    assert feed.run().rows_inserted == 1


SHARED = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.client.heartbeat.interval_in_ms": "1000",
    "hoodie.client.heartbeat.tolerable.misses": "3",
}


def test_a_killed_first_load_that_shared_the_table_counts_as_failed_after_its_time(feed, monkeypatch):
    feed.land("1.csv", GOOD)
    for step in range(20, 200):
        feed.table = feed.table.with_name(f"shared{step}")
        storage = FaultyStorage(feed.table, step)
        with monkeypatch.context() as patch:
            patch.setattr(hoodie.table, "storage_of", lambda _, storage=storage: storage)
            patch.setattr("hudi_services.sources.ingest.target.open_storage", lambda _, storage=storage: storage)
            with pytest.raises((Killed, HoodieError)):
                run(feed, SHARED)
        if (beats := list((feed.table / ".hoodie/.heartbeat").glob("*"))) and feed.open().timeline.pending:
            break
    with pytest.raises(PendingInstantError, match=r"already in use.* counts as failed 3 s after") as raised:
        run(feed, SHARED)
    assert "concurrency.mode" not in str(raised.value)
    os.utime(beats[0], (1, 1))
    assert run(feed, SHARED).rows_inserted == 2


def test_a_write_that_would_be_refused_creates_no_table(feed):
    feed.land("1.csv", GOOD)
    for options, message in (
        ({"hoodie.datasource.insert.dup.policy": "drop"}, "not for the operation upsert"),
        ({"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "no"}, "true or false"),
    ):
        with pytest.raises(ConfigError, match=message):
            run(feed, options)
        assert not feed.table.exists()
    assert run(feed, {}).rows_inserted == 2


def test_a_load_resolves_its_options_at_most_three_times(feed):
    for day, made in (("1", 2), ("2", 2)):
        feed.land(f"{day}.csv", GOOD)
        asked = request(feed, {})
        assert resolved(lambda asked=asked: run_ingest(asked, LocalEngine(2))) == made, (
            "also where it creates the table"
        )
