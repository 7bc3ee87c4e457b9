"""Services that a write's options ask for: they follow the commit, which stays even if they fail."""

from __future__ import annotations

import logging
from importlib import import_module

import pytest

from hoodie import COMPACTION
from hoodie.errors import ConfigError, PendingInstantError
from hoodie.services import inline
from hoodie.services.sync import Sync
from hoodie.storage import LocalStorage
from hoodie.timeline import Action
from hoodie.transaction.locks.files import LOCK
from tests.support.catalog import MemoryCatalog
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

MERGE_ON_READ = {"hoodie.table.type": "MERGE_ON_READ"}
ASYNC_COMPACTION = "hoodie.datasource.compaction.async.enable"


def write(table, step, **options):
    given = {**SMALL_BLOOM, **{name.replace("__", "."): value for name, value in options.items()}}
    return table.write(batch([("a", "p", step, step)]), "upsert", given)


def actions(table):
    return [f"{instant.action}{'' if instant.is_completed else ' pending'}" for instant in table.timeline]


@pytest.mark.parametrize(
    ("options", "cleans"),
    [
        ({"hoodie.clean.automatic": "true"}, 1),
        ({"hoodie.clean.automatic": "true", "hoodie.clean.async": "true"}, 1),
        ({"hoodie.clean.async": "true"}, 1),
        ({"hoodie.clean.automatic": "false", "hoodie.clean.async": "true"}, 0),
        ({"hoodie.clean.automatic": "true", "hoodie.table.services.enabled": "false"}, 0),
        ({}, 0),
    ],
)
def test_a_clean_after_the_commit(tmp_path, options, cleans):
    table = create(tmp_path / "t")
    for step in (1, 2):
        write(table, step)
    result = write(table, 3, **{"hoodie.clean.commits.retained": 1, **options})
    assert actions(table) == ["commit"] * 3 + ["clean"] * cleans
    assert [(each.service, each.failed) for each in result.services] == [("clean", False)] * cleans
    assert content(table) == {"a": ("p", 3, 3)}


CLUSTERINGS = [
    ({"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": 3}, ["replacecommit"]),
    (
        {"hoodie.datasource.clustering.inline.enable": "true", "hoodie.clustering.inline.max.commits": 3},
        ["replacecommit"],
    ),
    ({"hoodie.clustering.inline": "true", "hoodie.clustering.async.max.commits": 3}, []),
    (
        {
            "hoodie.clustering.inline": "true",
            "hoodie.clustering.async.max.commits": 3,
            "hoodie.clustering.inline.max.commits": 9,
        },
        [],
    ),
    ({"hoodie.clustering.schedule.inline": "true", "hoodie.clustering.async.max.commits": 3}, ["clustering pending"]),
    ({"hoodie.clustering.async.enabled": "true", "hoodie.clustering.async.max.commits": 3}, ["clustering pending"]),
    ({"hoodie.clustering.async.max.commits": 3}, []),
    (
        {
            "hoodie.clustering.inline": "true",
            "hoodie.clustering.inline.max.commits": 3,
            "hoodie.table.services.enabled": "false",
        },
        [],
    ),
]


@pytest.mark.parametrize(("options", "clustered"), CLUSTERINGS)
def test_a_clustering_after_the_commit(tmp_path, options, clustered):
    table = create(tmp_path / "t")
    apart = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0, **options}
    for step in (1, 2, 3):
        result = table.write(batch([(f"k{step}", "p", step, step)]), "insert", apart)
        assert not [each for each in result.services if each.failed]
    assert actions(table) == ["commit"] * 3 + clustered
    assert content(table) == {f"k{step}": ("p", step, step) for step in (1, 2, 3)}
    assert len(table.file_slices()) == (1 if clustered == ["replacecommit"] else 3)


def test_a_clean_waits_for_as_many_commits_as_asked_for(tmp_path):
    table = create(tmp_path / "t")
    options = {"hoodie.clean.automatic": True, "hoodie.clean.commits.retained": 1, "hoodie.clean.max.commits": 3}
    done = []
    for step in range(1, 9):
        result = write(table, step, **options)
        done.append(result.services[0].instant is not None)
    assert done == [False, True, False, False, True, False, False, True]
    assert "commit (of 3, hoodie.clean.trigger.max.commits) since" in write(table, 9, **options).services[0].message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"hoodie.compact.inline": "true"}, "commit"),
        ({"hoodie.compact.inline": "true", ASYNC_COMPACTION: "true"}, "commit"),
        ({"hoodie.compact.schedule.inline": "true"}, "compaction pending"),
        ({ASYNC_COMPACTION: "true"}, "compaction pending"),
    ],
)
def test_a_compaction_when_one_is_due(tmp_path, options, expected):
    table = create(tmp_path / "t", **MERGE_ON_READ)
    options = {"hoodie.compact.inline.max.delta.commits": 3, **options}
    assert all(write(table, step, **options).services[0].instant is None for step in (1, 2))
    result = write(table, 3, **options)
    assert actions(table) == ["deltacommit"] * 3 + [expected]
    assert result.services[0].instant == list(table.timeline)[-1].time
    assert content(table) == {"a": ("p", 3, 3)}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("compaction", {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": 3}),
        ("log_compaction", {"hoodie.log.compaction.inline": "true", "hoodie.log.compaction.blocks.threshold": 2}),
    ],
)
def test_one_that_another_process_carries_out_meanwhile_has_not_failed(tmp_path, monkeypatch, kind, options):
    table = create(tmp_path / "t", **MERGE_ON_READ)

    def late(kind):
        place = import_module(f"hoodie.services.{kind}.service")
        execute = getattr(place, f"execute_{kind}")

        def twice(*arguments):
            execute(*arguments)  # the other's
            return execute(*arguments)

        monkeypatch.setattr(place, f"execute_{kind}", twice)

    late(kind)
    results = [write(table, step, **options) for step in (1, 2, 3)]
    assert [(each.failed, each.instant) for result in results for each in result.services] == [(False, None)] * 3
    assert not table.timeline.pending
    assert len(table.timeline) == 4
    assert content(table) == {"a": ("p", 3, 3)}

    write(table, 4)
    time = table.schedule(COMPACTION, force=True)
    if kind != "compaction":
        late("compaction")
    assert table.run(COMPACTION) == []
    with pytest.raises(PendingInstantError, match=time):
        table.run(COMPACTION, time=time)


def test_a_log_compaction(tmp_path):
    table = create(tmp_path / "t", **MERGE_ON_READ)
    options = {"hoodie.log.compaction.inline": "true", "hoodie.log.compaction.blocks.threshold": 3}
    results = [write(table, step, **options) for step in range(1, 5)]
    assert [result.services[0].instant is not None for result in results] == [False, False, False, True]
    assert list(table.timeline)[-1].action.completed_as is Action.DELTA_COMMIT
    assert content(table) == {"a": ("p", 4, 4)}


def test_a_table_without_logs_has_nothing_to_compact(tmp_path):
    result = write(
        create(tmp_path / "t"), 1, **{"hoodie.compact.inline": "true", "hoodie.log.compaction.inline": "true"}
    )
    assert {each.message for each in result.services} == {"nothing to do: a COPY_ON_WRITE table has no logs"}


@pytest.mark.parametrize("key", ["hoodie.datasource.hive_sync.enable", "hoodie.datasource.meta.sync.enable"])
def test_a_sync_after_the_commit(tmp_path, monkeypatch, key):
    catalog = MemoryCatalog()
    monkeypatch.setattr(inline, "SYNC", Sync(catalog))
    table = create(tmp_path / "t")
    result = write(table, 1, **{key: "true"})
    assert list(catalog.tables) == ["default.trips"]
    assert result.services[0].instant == result.instant.time
    assert write(table, 2, **{key: "false"}).services == ()


def test_one_that_fails_is_told_and_the_rest_goes_on(tmp_path, monkeypatch, caplog):
    def broken(*_arguments, **_agreed):
        raise RuntimeError("out of order")

    monkeypatch.setattr("hoodie.services.clean.service.run_clean", broken)
    monkeypatch.setattr(inline, "SYNC", Sync(MemoryCatalog()))
    table = create(tmp_path / "t")
    with caplog.at_level(logging.ERROR):
        result = write(table, 1, **{"hoodie.clean.automatic": "true", "hoodie.datasource.meta.sync.enable": "true"})
    clean, sync = result.services
    assert (clean.service, clean.failed, clean.counts) == ("clean", True, True)
    assert clean.message == "RuntimeError: out of order"
    assert "The commit stays; clean after it failed: RuntimeError" in caplog.text
    assert not sync.failed
    assert content(table) == {"a": ("p", 1, 1)}


class TakenAtOnce(LocalStorage):
    """Another machine takes the lock as soon as a write has given it back."""

    taken = False

    def delete(self, path):
        done = super().delete(path)
        if path == LOCK and self.taken:
            self.create(LOCK, b"another machine")
        return done


@pytest.mark.parametrize(("given", "waited"), [({}, 5), ({"hoodie.write.lock.wait_time_ms": 1000}, 1)])
def test_what_the_next_write_can_do_waits_for_the_lock_for_a_moment_only(tmp_path, caplog, given, waited):
    clock, storage = FakeClock(), TakenAtOnce(str(tmp_path / "t"))
    table = create(storage, clock)
    few = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
    services = {"hoodie.clean.automatic": "true", "hoodie.archive.automatic": "true", **few}
    for step in (1, 2, 3):
        write(table, step, **{**services, "hoodie.table.services.enabled": "false"})
    storage.taken = True
    begun = clock.time
    with caplog.at_level(logging.WARNING):
        result = write(table, 4, **services, **given)
    assert [(each.service, each.failed, each.instant) for each in result.services] == [
        ("clean", False, None),
        ("archive", False, None),
    ]
    for each in result.services:
        assert each.message.startswith("left to the next write: Table ")
        assert f"waited {waited} s" in each.message
        assert "another machine" in each.message
    assert "clean after it is left to the next write" in caplog.text
    assert (clock.time - begun).total_seconds() < 2 * waited + 1
    assert set(actions(table)) == {"commit"}
    storage.taken = False
    super(TakenAtOnce, storage).delete(LOCK)
    assert [each.service for each in write(table, 5, **services).services] == ["clean", "archive"]


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ({"hoodie.clean.automatic": "true"}, [True]),
        ({"hoodie.clean.automatic": "true", "hoodie.clean.async": "true"}, [False]),
        ({"hoodie.clean.automatic": "true", "hoodie.fail.writes.on.inline.table.service.exception": "false"}, [False]),
        ({"hoodie.datasource.meta.sync.enable": "true"}, [True]),
        (
            {
                "hoodie.datasource.hive_sync.enable": "true",
                "hoodie.datasource.hive_sync.ignore_exceptions": "true",
                "hoodie.datasource.hive_sync.jdbcurl": "jdbc:hive2://localhost:1",
            },
            [False],
        ),
    ],
)
def test_whose_failure_counts(options, counts):
    steps = inline.InlineServices.of(options).steps
    assert [step.counts for step in steps if step.name != "archive"] == counts


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hoodie.compact.inline": "true", "hoodie.compact.schedule.inline": "true"}, "exclude each other"),
        ({"hoodie.clustering.inline": "true", "hoodie.clustering.schedule.inline": "true"}, "exclude each other"),
        ({"hoodie.clean.automatic": "true", "hoodie.clean.policy": "KEEP_ALL"}, "one of KEEP_LATEST_COMMITS"),
        (
            {"hoodie.clean.automatic": "true", "hoodie.clean.partition.filter.regex": "p.*"},
            "other files would be deleted",
        ),
        ({"hoodie.datasource.meta.sync.enable": "true", "hoodie.meta.sync.client.tool.class": "x.Glue"}, "only Hive"),
        ({"hoodie.index.type": "RECORD_INDEX"}, "metadata table, which is not kept here"),
        ({"hoodie.write.concurrency.mode": "non_blocking_concurrency_control"}, "which is copy-on-write"),
        (
            {
                "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
                "hoodie.cleaner.policy.failed.writes": "EAGER",
            },
            "excludes hoodie.clean.failed.writes.policy",
        ),
        ({"hoodie.table.name": "other"}, "the table has 'trips'"),
        ({"hoodie.datasource.write.precombine.field": "value"}, "the table has 'ts'"),
        ({"hoodie.datasource.write.operation": "insert"}, "insert and upsert"),
        (
            {"hoodie.datasource.write.operation": "overwrite"},
            "one of insert, bulk_insert, upsert, delete, insert_overwrite",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_the_write(tmp_path, options, said):
    table = create(tmp_path / "t")
    with pytest.raises(ConfigError, match=said):
        write(table, 1, **options)
    assert actions(table) == []


def test_the_options_of_a_hudi_quickstart(tmp_path, caplog):
    """Options that people give to the data source, as in Hudi's documentation."""
    table = create(tmp_path / "t")
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.table.name": "trips",
        "hoodie.datasource.write.operation": "insert",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.upsert.shuffle.parallelism": 2,
        "hoodie.insert.shuffle.parallelism": 2,
        "hoodie.embed.timeline.server": "false",
        "hoodie.bloom.index.use.caching": "true",
    }
    result = table.write(batch([("a", "p", 1, 1)]), options=options)
    assert result.metadata.operation == "INSERT"
    told = [message for message in caplog.messages if "No effect here" in message]
    assert len(told) == 1
    assert "hoodie.bloom.index.use.caching" in told[0]
