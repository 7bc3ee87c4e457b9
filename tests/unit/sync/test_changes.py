"""Partitions come and go in the catalog as the timeline says, whether it is asked for the last commits or for all of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie import ARCHIVE
from hoodie.errors import ConfigError
from hoodie.model.names import BaseFileName
from hoodie.model.time import Time
from hoodie.services.sync import Sync
from hoodie.sync.run import run_sync
from hoodie.timeline import Action
from hoodie.view import load_state
from tests.support.catalog import MemoryCatalog
from tests.support.counting import CountingStorage
from tests.support.rivals import OCC, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, create

FULL = {"hoodie.meta.sync.incremental": "false"}
SHORT = {"hoodie.keep.min.commits": 3, "hoodie.keep.max.commits": 4, "hoodie.clean.commits.retained": 1}


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "x", 1, 1), ("b", "y", 1, 1)]))
    return table


def write(table, *entries, operation=None, replaced=()):
    """Write rows; with an `operation`, as the replacecommit that Hudi's operation of that name leaves."""
    before = table.file_slices()
    instant = table.write(batch(list(entries)), "insert").instant
    if operation is None:
        return
    state = table.state()
    done = next(each for each in state.timeline if each.time == instant.time)
    groups = {path: tuple(each.file_id for each in before if each.partition == path) for path in replaced}
    metadata = replace(state.commit_metadata(done), operation=operation, replaced=groups)
    if operation == "DELETE_PARTITION":
        metadata = replace(metadata, stats=())
    for file in table.storage.list(state.layout.folder).files:
        if file.name.startswith(done.time):
            table.storage.delete(file.path)
    name = state.layout.completed_name(replace(done, action=Action.REPLACE_COMMIT), done.completion_time)
    table.storage.create(f"{state.layout.folder}/{name}", state.layout.encode_commit(metadata, replace=True))


@pytest.mark.parametrize(
    ("operation", "written", "replaced", "left"),
    [
        ("DELETE_PARTITION", "y", ["part=x"], ["y"]),
        ("INSERT_OVERWRITE_TABLE", "y", ["part=x", "part=y"], ["y"]),
        ("INSERT_OVERWRITE_TABLE", "z", ["part=x", "part=y"], ["z"]),
        ("INSERT_OVERWRITE", "x", ["part=x"], ["x", "y"]),
        ("CLUSTER", "x", ["part=x"], ["x", "y"]),
    ],
)
def test_partitions_that_an_operation_removes(table, operation, written, replaced, left):
    follows, late = MemoryCatalog(), MemoryCatalog()
    run_sync(table.state(), {}, follows)
    write(table, ("c", written, 2, 2), operation=operation, replaced=replaced)
    run_sync(table.state(), {}, follows)
    run_sync(table.state(), {}, late)
    assert follows.values("default.trips") == late.values("default.trips") == [(value,) for value in left]
    assert run_sync(table.state(), FULL, follows).actions == ()

    write(table, ("d", "x", 3, 3))  # what was removed comes back
    run_sync(table.state(), {}, follows)
    assert follows.values("default.trips") == sorted({("x",), *((value,) for value in left)})


def test_a_first_sync_lists_each_partition_once(table):
    """For what the catalog has not heard of, and for the extractor that fits all paths."""
    state = load_state(CountingStorage(table.base_path), table.clock)
    run_sync(state, {}, MemoryCatalog())
    assert sorted(folder for folder in state.storage.listed if not folder.startswith(".hoodie")) == [
        "",
        "part=x",
        "part=y",
    ]


def test_the_emptied_folder_of_a_removed_partition_is_not_listed_again(table):
    """When the commit that removed it is archived, only the folder is left to show it."""
    table.storage.create("part=old/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=1\n")
    catalog = MemoryCatalog()
    run_sync(table.state(), {}, catalog)
    assert catalog.values("default.trips") == [("x",), ("y",)]
    catalog = MemoryCatalog()
    table.write(batch([("o", "old", 1, 1)]))
    run_sync(table.state(), {}, catalog)
    assert catalog.values("default.trips") == [("old",), ("x",), ("y",)]


def test_what_goes_and_comes_back_between_two_syncs_stays(table):
    catalog = MemoryCatalog()
    run_sync(table.state(), {}, catalog)
    write(table, ("c", "y", 2, 2), operation="DELETE_PARTITION", replaced=["part=x"])
    write(table, ("d", "x", 3, 3))
    assert [type(action).__name__ for action in run_sync(table.state(), {}, catalog).actions] == ["SetProperties"]
    assert catalog.values("default.trips") == [("x",), ("y",)]


def test_the_difference_is_explained_and_nothing_done(table):
    catalog = MemoryCatalog()
    run_sync(table.state(), {}, catalog)
    wider = batch([("c", "z", 2, 2)])
    table.write(wider.append_column("more", wider["value"]))
    write(table, ("d", "y", 3, 3), operation="DELETE_PARTITION", replaced=["part=x"])
    applied = catalog.applied
    lines = [line.strip() for line in table.explain(Sync(catalog)).as_text("sync").splitlines()]
    assert catalog.applied == applied
    assert lines[0].startswith("sync: 2 commits since ")
    assert lines[2] == "add columns to default.trips: more bigint"
    assert lines[3].startswith("set properties of default.trips: spark.sql.sources.schema.part.0=")
    assert lines[4] == "add 1 partition to default.trips: z"
    assert lines[5] == "drop 1 partition of default.trips: x"
    assert lines[6].startswith("set properties of default.trips: last_commit_completion_time_sync=")
    assert lines[7] == "would make 5 changes to the catalog; nothing was changed"


@pytest.mark.parametrize("version", ["9", "6"])
def test_the_commit_that_was_synced_last_is_archived(tmp_path, version):
    """Then every partition is compared: those of the commits that were archived with it are not passed over."""
    table = create(tmp_path / "t", **{"hoodie.write.table.version": version})
    catalog = MemoryCatalog()
    table.write(batch([("a", "x", 1, 1)]))
    run_sync(table.state(), {}, catalog)
    for number in range(6):
        table.write(batch([(f"k{number}", f"y{number}", 1, 1)]))
    assert table.run(ARCHIVE, SHORT).instants == 4
    assert "were archived" in run_sync(table.state(), {}, catalog).reason
    assert catalog.values("default.trips") == [("x",), *((f"y{number}",) for number in range(6))]
    table.write(batch([("z", "z", 1, 1)]))
    assert run_sync(table.state(), {}, catalog).reason.startswith("1 commit since")
    assert ("z",) in catalog.values("default.trips")


@pytest.mark.parametrize("version", ["9", "6"])
def test_a_commit_that_completed_after_a_later_one_was_synced_is_archived(tmp_path, version):
    """The later one is still on the timeline, with all that began after it."""
    table = create(tmp_path / "t", **{"hoodie.write.table.version": version})
    catalog = MemoryCatalog()
    table.write(batch([("a", "x", 1, 1)]))
    slow = Rival(tmp_path / "t", lambda t: t.write(batch([("s", "slow", 1, 1)]), "upsert", OCC)).begin()
    table = shared(tmp_path / "t")
    synced = table.write(batch([("b", "x", 1, 1)]), "upsert", OCC).instant.time
    run_sync(table.state(), {}, catalog)
    assert slow.finish() is None
    for number in range(2):
        table.write(batch([(f"k{number}", "x", 1, 1)]), "upsert", SMALL_BLOOM)
    table.run(ARCHIVE, SHORT)
    assert table.timeline.commits[0].time == synced
    run_sync(table.state(), {}, catalog)
    assert catalog.values("default.trips") == [("slow",), ("x",)]


def test_values_that_are_none_of_their_columns_type_stop_the_sync_before_it_writes(tmp_path):
    """A timestamp's column is a number, its partitions are days: they need a column of their own."""
    options = {
        "hoodie.table.keygenerator.type": "TIMESTAMP",
        "hoodie.table.partition.fields": "ts",
        "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
        "hoodie.datasource.write.hive_style_partitioning": "false",
    }
    table = create(tmp_path / "days", **options)
    table.write(batch([("a", "x", 1_578_283_932_000, 1)]), "insert", options)
    catalog = MemoryCatalog()
    with pytest.raises(ConfigError, match=r"'2020/01/06'.*ts bigint.*not a valid bigint.*partition_fields"):
        run_sync(table.state(), {}, catalog)
    assert catalog.applied == 0
    plan = run_sync(table.state(), {"hoodie.datasource.hive_sync.partition_fields": "day"}, catalog)
    assert plan.extractor.endswith(".SlashEncodedDayPartitionValueExtractor")
    assert catalog.values("default.trips") == [("2020-01-06",)]
    assert [column.name for column in catalog.tables["default.trips"].partition_columns] == ["day"]


@pytest.mark.parametrize("version", ["9", "6"])
def test_a_partition_of_stray_files_alone_is_none(tmp_path, version):
    table = create(tmp_path / "t", **{"hoodie.write.table.version": version})
    table.write(batch([("a", "x", 1, 1)]))
    (base,) = (each.base_file for each in table.file_slices())
    lost = BaseFileName("00000000-1111-2222-3333-444444444444-0", "9-99-999", base.instant)
    for partition, name in (("part=y", lost), ("part=z", replace(lost, instant=Time.of("20990101000000000")))):
        table.storage.create(f"{partition}/.hoodie_partition_metadata", b"commitTime=1\npartitionDepth=1\n")
        table.storage.create(f"{partition}/{name}", table.storage.read(base.path))
    catalog = MemoryCatalog()
    run_sync(table.state(), {}, catalog)
    assert catalog.values("default.trips") == [("x",)]
