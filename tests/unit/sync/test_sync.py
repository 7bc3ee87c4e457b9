"""A sync makes the catalog equal to the table, from any earlier state, and refuses what it must not change."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from hoodie.config.keys.sync import SYNC_KEYS
from hoodie.errors import CatalogError, ConfigError, SchemaConflictError, TableExistsError
from hoodie.sync.model import AddPartitions, CatalogPartition, Column
from hoodie.sync.plan import same_place
from hoodie.sync.run import explain_sync, run_sync
from tests.support.catalog import MemoryCatalog
from tests.support.tables import batch, create

PREFIX = "hoodie.datasource.hive_sync."


def run(table, catalog, **options):
    return run_sync(table.state(), {PREFIX + key: value for key, value in options.items()}, catalog)


def kinds(plan):
    return [type(action).__name__ for action in plan.actions]


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "x", 1, 1), ("b", "y", 1, 1)]))
    return table


def test_first_sync_then_nothing_then_only_what_is_new(table):
    catalog = MemoryCatalog()
    plan = run(table, catalog, database="lake")
    assert kinds(plan) == ["CreateDatabase", "CreateTable", "AddPartitions", "SetProperties"]
    made = catalog.tables["lake.trips"]
    assert made.partition_columns == (Column("part", "string"),)
    assert made.columns[-1] == Column("value", "bigint")
    assert made.location == table.base_path
    assert made.properties["last_commit_time_sync"] == plan.instant == table.timeline.last_commit.time
    assert catalog.values("lake.trips") == [("x",), ("y",)]

    again = run(table, catalog, database="lake")
    assert again.actions == ()
    assert "nothing to change" in again.reason

    table.write(batch([("a", "x", 2, 2), ("c", "z", 2, 2)]))
    third = run(table, catalog, database="lake")
    assert kinds(third) == ["AddPartitions", "SetProperties"]
    assert catalog.values("lake.trips") == [("x",), ("y",), ("z",)]
    assert sorted(catalog.asked[-1]) == [("x",), ("z",)], "only the partitions of the new commit are looked at"


def test_explain_writes_nothing(table):
    catalog = MemoryCatalog()
    plan = explain_sync(table.state(), {}, catalog)
    assert kinds(plan) == ["CreateTable", "AddPartitions", "SetProperties"]
    assert catalog.applied == 0
    assert run(table, catalog).actions == plan.actions


def test_a_sync_that_dies_anywhere_is_caught_up(table, tmp_path):
    whole = MemoryCatalog()
    steps = len(run(table, whole, database="lake").actions)
    for step in range(steps):
        catalog = MemoryCatalog()
        catalog.fail_at = step
        with pytest.raises(CatalogError):
            run(table, catalog, database="lake")
        catalog.fail_at = None
        run(table, catalog, database="lake")
        assert (catalog.tables, catalog.parts) == (whole.tables, whole.parts)
        assert run(table, catalog, database="lake").actions == ()


def test_merge_on_read_tables(tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "x", 1, 1)]))
    formats = {
        "trips_ro": "org.apache.hudi.hadoop.HoodieParquetInputFormat",
        "trips_rt": "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat",
        "trips": "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat",
    }

    def made(**options):
        catalog = MemoryCatalog()
        run(table, catalog, **options)
        return {name.partition(".")[2]: entry for name, entry in catalog.tables.items()}

    assert {name: entry.input_format for name, entry in made().items()} == formats
    assert made()["trips_ro"].serde_properties["hoodie.query.as.ro.table"] == "true"
    assert made()["trips"].serde_properties["hoodie.query.as.ro.table"] == "false"
    assert set(made(skip_ro_suffix=True)) == {"trips", "trips_rt"}
    assert made(skip_ro_suffix=True)["trips"].input_format == formats["trips_ro"]
    assert made(**{"table.strategy": "RO"})["trips"].input_format == formats["trips_ro"]
    assert made(**{"table.strategy": "RT"})["trips"].input_format == formats["trips_rt"]
    plain = "hoodie.meta.sync.sync_snapshot_with_table_name"
    catalog = MemoryCatalog()
    run_sync(table.state(), {plain: False}, catalog)
    assert set(catalog.tables) == {"default.trips_ro", "default.trips_rt"}
    with pytest.raises(ConfigError, match="give one name to two tables"):
        run_sync(table.state(), {plain: True, PREFIX + "skip_ro_suffix": True}, catalog)


def test_every_partition_is_compared_when_commits_are_unknown(table):
    catalog = MemoryCatalog()
    run(table, catalog)
    entry = catalog.tables["default.trips"]
    catalog.tables["default.trips"] = replace(entry, properties={**entry.properties, "last_commit_time_sync": "2000"})
    parts = catalog.parts["default.trips"]
    del parts[("x",)]
    parts[("y",)] = CatalogPartition(("y",), f"{table.base_path}/elsewhere")
    parts[("gone",)] = CatalogPartition(("gone",), f"{table.base_path}/part=gone")
    parts[("foreign",)] = CatalogPartition(("foreign",), "/other/place")
    plan = run(table, catalog)
    assert kinds(plan) == ["AddPartitions", "MovePartitions", "DropPartitions", "SetProperties"]
    assert "archived" in plan.reason
    assert catalog.values("default.trips") == [("foreign",), ("x",), ("y",)]
    assert parts[("y",)].location == f"{table.base_path}/part=y"


def test_what_the_catalog_has_no_words_for_is_refused_before_anything_is_written(table):
    catalog = MemoryCatalog()
    catalog.refuses = AddPartitions
    for attempt in (explain_sync, run_sync):
        with pytest.raises(SchemaConflictError):
            attempt(table.state(), {}, catalog)
    assert (catalog.applied, catalog.tables) == (0, {})


def test_columns_evolve(table):
    catalog = MemoryCatalog()
    run(table, catalog)
    wider = batch([("d", "x", 3, 3)]).append_column("new", pa.array([1], pa.int32()))
    table.write(wider)
    plan = run(table, catalog)
    assert kinds(plan) == ["AddColumns", "SetProperties", "SetProperties"], "columns, Spark's schema, the last commit"
    assert catalog.tables["default.trips"].columns[-1] == Column("new", "int")
    assert '"name":"new"' in catalog.tables["default.trips"].properties["spark.sql.sources.schema.part.0"]


def test_columns_widen_and_go_in_spite_of_hives_check_by_position(table):
    catalog = MemoryCatalog()
    run(table, catalog)
    entry = catalog.tables["default.trips"]
    mixed = [replace(column, type="int") if column.name == "ts" else column for column in entry.columns]
    mixed.insert(6, Column("old", "binary"))
    catalog.tables["default.trips"] = replace(entry, columns=tuple(mixed))
    plan = run(table, catalog)
    assert kinds(plan) == ["ReplaceColumns", "ReplaceColumns"]
    assert "ts int -> bigint; drop old" in str(plan.actions[0])
    assert catalog.tables["default.trips"].columns == entry.columns


@pytest.mark.parametrize(
    ("change", "error", "found"),
    [
        ({"location": "/other"}, TableExistsError, "/other"),
        ({"input_format": "TextInputFormat", "properties": {}}, TableExistsError, "not a Hudi table"),
        ({"partition_columns": (Column("day", "string"),)}, TableExistsError, "other partition columns"),
        ({"partition_columns": (Column("part", "int"),)}, SchemaConflictError, "'part'"),
        ({"columns": (Column("value", "string"),)}, SchemaConflictError, "string in the catalog, bigint in the table"),
        (
            {"input_format": "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"},
            TableExistsError,
            "another kind",
        ),
    ],
)
def test_what_is_not_ours_or_cannot_change_is_refused_before_anything_is_written(table, change, error, found):
    catalog = MemoryCatalog()
    run(table, catalog)
    catalog.tables["default.trips"] = before = replace(catalog.tables["default.trips"], **change)
    table.write(batch([("e", "new", 1, 1)]))
    applied = catalog.applied
    with pytest.raises(error, match=found):
        run(table, catalog)
    assert catalog.applied == applied
    assert catalog.tables["default.trips"] is before


def test_an_extractor_that_does_not_fit_writes_nothing(table):
    catalog = MemoryCatalog()
    for name in ("SlashEncodedDayPartitionValueExtractor", "NonPartitionedExtractor", "com.example.Own"):
        with pytest.raises(ConfigError, match=name.rpartition(".")[2]):
            run(table, catalog, partition_extractor_class=name)
    assert catalog.applied == 0
    assert catalog.tables == {}


def test_an_inferred_extractor_is_remembered(tmp_path):
    table = create(tmp_path / "t", **{"hoodie.datasource.write.hive_style_partitioning": "false"})
    for day in ("2020/01/01", "2020/01/02"):  # a slash in a value: folders below each other
        table.write(batch([("a" + day, day, 1, 1)]))
    catalog = MemoryCatalog()
    assert run(table, catalog).extractor.endswith("SlashEncodedDayPartitionValueExtractor")
    assert catalog.values("default.trips") == [("2020-01-01",), ("2020-01-02",)]
    table.write(batch([("b", "someday", 1, 1)]))
    with pytest.raises(ConfigError, match=r"'someday'.*yyyy/MM/dd"):
        run(table, catalog)


def test_options_are_obeyed(tmp_path):
    table = create(tmp_path / "t")
    rows = batch([("a", "x", 1, 1)]).append_column("at", pa.array([1], pa.timestamp("us", "UTC")))
    table.write(rows)
    catalog = MemoryCatalog()
    options = {
        "table": "Journeys",
        "omit_metadata_fields": True,
        "support_timestamp": True,
        "table_properties": "owner=me\nteam = data",
        "serde_properties": "a=b",
        "schema_string_length_thresh": 100,
        "create_managed_table": True,
    }
    given = {PREFIX + key: value for key, value in options.items()}
    given["hoodie.datasource.meta.sync.base.path"] = "s3a://lake/t"
    given["hoodie.meta_sync.spark.version"] = "3.5.1"
    run_sync(table.state(), given, catalog)
    made = catalog.tables["default.journeys"]
    assert made.columns[0].name == "id"
    assert Column("at", "timestamp") in made.columns
    assert made.managed
    assert made.properties["team"] == "data"
    assert made.serde_properties["a"] == "b"
    assert made.serde_properties["path"] == made.location == "s3a://lake/t"
    assert int(made.properties["spark.sql.sources.schema.numParts"]) > 1
    assert len(made.properties["spark.sql.sources.schema.part.0"]) == 100
    assert made.properties["spark.sql.create.version"] == "3.5.1"
    assert catalog.parts["default.journeys"][("x",)].location == "s3a://lake/t/part=x"
    plain = MemoryCatalog()
    run(table, plain, sync_as_datasource=False)
    assert not any(key.startswith("spark.") for key in plain.tables["default.trips"].properties)
    assert run(table, plain, enable=False).actions == ()
    with pytest.raises(CatalogError, match="no database nowhere"):
        run(table, plain, database="nowhere", auto_create_database=False)


def test_unchanged_tables_keep_their_last_commit_with_conditional_sync(table):
    catalog = MemoryCatalog()
    run(table, catalog)
    table.write(batch([("a", "x", 2, 2)]))
    condition = {"hoodie.datasource.meta_sync.condition.sync": True}
    assert run_sync(table.state(), condition, catalog).actions == ()
    assert kinds(run(table, catalog)) == ["SetProperties"]


def test_sparks_thrift_server_gets_no_spark_properties(table):
    catalog = MemoryCatalog(takes_spark_properties=False)
    run(table, catalog)
    assert not any(key.startswith("spark.") for key in catalog.tables["default.trips"].properties)
    with pytest.raises(ConfigError, match="sync_as_datasource"):
        run(table, MemoryCatalog(takes_spark_properties=False), sync_as_datasource=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (PREFIX + "mode", "hiveql"),
        (PREFIX + "table_properties", "no pair"),
        (PREFIX + "bucket_sync", "true"),
        (PREFIX + "databse", "x"),
    ],
)
def test_what_would_have_no_effect_is_refused_by_name(table, name, value):
    with pytest.raises(ConfigError, match=name):
        run_sync(table.state(), {name: value}, MemoryCatalog())


def test_tables_without_rows_or_partitions(tmp_path):
    catalog = MemoryCatalog()
    empty = create(tmp_path / "empty")
    assert "no schema yet" in run(empty, catalog).reason
    flat = create(tmp_path / "flat", **{"hoodie.table.partition.fields": "", "hoodie.table.name": "flat"})
    flat.write(batch([("a", "x", 1, 1)]))
    assert kinds(run(flat, catalog)) == ["CreateTable", "SetProperties"]
    assert catalog.tables["default.flat"].partition_columns == ()
    assert len({name for key in SYNC_KEYS for name in key.names}) == len(SYNC_KEYS)


def test_spellings_of_one_place():
    assert same_place("local:/lake/t/") == same_place("local:///lake/t") != same_place("/lake/t")
    assert same_place("file:/lake/t") == same_place("file:///lake/t") == same_place("/lake/t")
    assert same_place("s3a://lake/t") == same_place("s3://lake/t") != same_place("s3:/lake/t")
