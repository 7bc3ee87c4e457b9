"""Tables with `hoodie.populate.meta.fields=false`: meta columns are null, keys are made of the key columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hoodie import CLEAN, COMPACTION, LOG_COMPACTION, HoodieTable
from hoodie.errors import ConfigError, SchemaConflictError, UnsupportedTableError
from hoodie.formats.log import BlockType, read_rows, scan_blocks
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.services.bootstrap import BootstrapRequest, preflight
from hoodie.storage import walk_files
from hoodie.sync.run import run_sync
from hoodie.table import WriteHooks
from tests.support.catalog import MemoryCatalog
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

META = "hoodie.populate.meta.fields"
OFF = {META: "false"}
NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
FIRST = batch([("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "q", 1, 3)])
TIMES = {
    "hoodie.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
    "hoodie.keygen.timebased.output.dateformat": "yyyy",
}
GENERATORS = {
    "SIMPLE": {},
    "COMPLEX": {"hoodie.table.recordkey.fields": "id,ts", "hoodie.table.ordering.fields": ""},
    "CUSTOM": {"hoodie.table.partition.fields": "part:SIMPLE"},
    "TIMESTAMP": {"hoodie.table.partition.fields": "ts", **TIMES},
    "NON_PARTITION": {"hoodie.table.partition.fields": ""},
}


def made(path, kind="COPY_ON_WRITE", keygen="SIMPLE", **options):
    chosen = {
        "hoodie.table.type": kind,
        "hoodie.table.keygenerator.type": keygen,
        **GENERATORS[keygen],
        **OFF,
        **options,
    }
    return create(path, FakeClock(), **chosen)


def write(table, entries, operation="upsert", **options):
    return table.write(batch(entries), operation, {**NO_SMALL_FILES, **options})


def base_files(table):
    return [pq.ParquetFile(f"{table.base_path}/{s.base_file.path}") for s in table.file_slices() if s.base_file]


def data_files(table):
    return {file.path for file in walk_files(table.storage, "") if not file.path.startswith(".hoodie")}


def log_rows(table):
    for file_slice in table.file_slices():
        for log in file_slice.log_files:
            for block in scan_blocks(table.storage, log.path):
                if block.kind is not BlockType.DELETE:
                    yield from read_rows(table.storage, block)


def filled(rows):
    """The meta columns that have values."""
    return {name for name in META_COLUMNS if rows[name].null_count < rows.num_rows}


@pytest.mark.parametrize("keygen", GENERATORS)
@pytest.mark.parametrize("operation", ["upsert", "bulk_insert"])
def test_rows_are_found_by_keys_that_are_nowhere_stored(tmp_path, keygen, operation):
    table = made(tmp_path, keygen=keygen)
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "q", 1, 3)], operation)
    result = write(table, [("b", "p", 1, 20), ("d", "q", 1, 4)])
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    assert write(table, [("a", "p", 1, 0)], "delete").rows_deleted == 1
    assert content(table) == {"b": ("p", 1, 20), "c": ("q", 1, 3), "d": ("q", 1, 4)}
    for file in base_files(table):
        rows = file.read()
        assert rows.schema.names[:5] == list(META_COLUMNS)
        assert not filled(rows)
        assert not [key for key in file.metadata.metadata if b"bloom" in key or b"record_key" in key]


@pytest.mark.parametrize("version", ["6", "9"])
def test_logs_are_merged_and_compacted_without_stored_keys(tmp_path, version):
    table = made(tmp_path, "MERGE_ON_READ", **{"hoodie.write.table.version": version})
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "q", 1, 3), ("d", "q", 1, 4)])
    write(table, [("a", "p", 2, 10), ("b", "p", 2, 20), ("c", "q", 0, 0), ("d", "q", 3, 40)])
    write(table, [("b", "p", 0, 0)], "delete")
    logged = list(log_rows(table))
    assert logged
    assert not any(filled(rows) for rows in logged)
    expected = {"a": ("p", 2, 10), "c": ("q", 1, 3), "d": ("q", 3, 40)}
    assert content(table) == expected
    assert table.read(columns=["value"])["value"].to_pylist() == [10, 3, 40]  # no key column is asked for
    assert content(table, options={"hoodie.memory.merge.max.size": 1}) == expected  # merged in parts
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert not any(file_slice.log_files for file_slice in table.file_slices())
    assert content(table) == expected
    assert not any(filled(file.read()) for file in base_files(table))
    write(table, [("a", "p", 9, 100)])
    assert content(table)["a"] == ("p", 9, 100)


def test_meta_columns_are_null_in_avro_blocks_too(tmp_path):
    table = made(tmp_path, "MERGE_ON_READ", **{"hoodie.table.ordering.fields": "part"})  # text: Avro blocks
    write(table, [("a", "p", 1, 1)])
    write(table, [("a", "p", 2, 2)])
    (rows,) = log_rows(table)
    assert not filled(rows)
    assert content(table) == {"a": ("p", 2, 2)}


def test_merged_logs_keep_deletions_apart_from_rows_that_are_marked(tmp_path):
    table = made(tmp_path, "MERGE_ON_READ")
    rows = batch([("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "p", 1, 3)])
    unmarked = rows.append_column("_hoodie_is_deleted", pa.array([False] * 3))
    table.write(unmarked, options=NO_SMALL_FILES)
    table.write(unmarked.slice(0, 1).set_column(4, "_hoodie_is_deleted", pa.array([True])), options=NO_SMALL_FILES)
    table.write(unmarked.slice(1, 1), "delete", NO_SMALL_FILES)
    assert table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
    table.run(LOG_COMPACTION, SMALL_BLOOM)
    assert table.read(columns=["id"])["id"].to_pylist() == ["c"]
    (file_slice,) = table.file_slices()
    newest = [block.kind for block in scan_blocks(table.storage, file_slice.log_files[-1].path)]
    assert newest == [BlockType.PARQUET_DATA, BlockType.DELETE]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_once_switched_on_files_of_both_kinds_live_side_by_side(tmp_path, kind):
    table = made(tmp_path, kind, **{META: "true"})
    write(table, [("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "q", 1, 3)])
    write(table, [("b", "p", 2, 20)])
    write(table, [("b", "p", 3, 200), ("d", "r", 1, 4)], **OFF)
    assert table.properties.raw[META] == "false"
    assert write(table, [("a", "p", 2, 10)]).rows_updated == 1  # the option needs not be given again
    assert write(table, [("d", "r", 1, 4)], "delete").rows_deleted == 1
    expected = {"a": ("p", 2, 10), "b": ("p", 3, 200), "c": ("q", 1, 3)}
    assert content(table) == expected
    assert sorted(bool(filled(file.read())) for file in base_files(table))[-1]  # that of q has never been touched
    if kind == "MERGE_ON_READ":
        assert len({bool(filled(rows)) for rows in log_rows(table)}) == 2
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)
        assert content(table) == expected
    write(table, [("c", "q", 2, 30), ("a", "p", 3, 100)])
    assert content(table) == expected | {"a": ("p", 3, 100), "c": ("q", 2, 30)}


def test_meta_columns_read_as_null_even_where_old_files_have_them(tmp_path):
    table = made(tmp_path, "MERGE_ON_READ", **{META: "true"})
    write(table, [("a", "p", 1, 1), ("b", "q", 1, 2)])
    write(table, [("b", "q", 2, 3)], **OFF)
    rows = table.read(columns=[*META_COLUMNS, "id"])
    assert not filled(rows)
    assert rows["id"].to_pylist() == ["a", "b"]
    assert table.read(columns=["_hoodie_record_key"]).num_rows == 2
    with pytest.raises(ConfigError, match="meta columns are null"):
        table.read(filter=pc.field("_hoodie_record_key") == "a")
    with pytest.raises(UnsupportedTableError, match="which commit wrote them"):
        table.read_incremental(None)


TYPE = "hoodie.table.keygenerator.type"
REFUSED = [
    ("COPY_ON_WRITE", {TYPE: "GLOBAL_DELETE", "hoodie.table.partition.fields": ""}, "GLOBAL_DELETE"),
    ("COPY_ON_WRITE", {"hoodie.table.recordkey.fields": ""}, "generated record keys"),
    *(
        ("MERGE_ON_READ", {**GENERATORS[keygen], TYPE: keygen}, f"the {keygen} key generator")
        for keygen in list(GENERATORS)[1:]
    ),
]


@pytest.mark.parametrize(("kind", "options", "message"), REFUSED)
def test_what_virtual_keys_do_not_go_with_is_refused_when_the_table_is_made_and_later(tmp_path, kind, options, message):
    given = {"hoodie.table.type": kind, **options}
    with pytest.raises(ConfigError, match=message):
        create(tmp_path / "never", **given, **OFF)
    assert not (tmp_path / "never").exists()
    table = create(tmp_path / "t", FakeClock(), **given)
    table.write(FIRST, "insert", SMALL_BLOOM)
    before = list(table.timeline)
    with pytest.raises(UnsupportedTableError, match=message):
        table.write(FIRST, "insert", {**SMALL_BLOOM, **OFF})
    assert (table.properties.raw[META], list(table.timeline)) == ("true", before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({META: "true"}, "no writer fills them again"),
        ({"hoodie.index.type": "BLOOM"}, "hoodie.index.type"),
        ({"hoodie.index.type": "GLOBAL_BLOOM"}, "hoodie.index.type"),
        ({"hoodie.datasource.write.keygenerator.type": "COMPLEX"}, "key generator never changes"),
    ],
)
def test_a_write_that_does_not_fit_is_refused(tmp_path, options, message):
    table = made(tmp_path)
    write(table, [("a", "p", 1, 1)])
    before = list(table.timeline)
    with pytest.raises(ConfigError, match=message):
        write(table, [("a", "p", 1, 1)], **options)
    assert list(table.timeline) == before


def test_the_type_of_a_key_column_stays(tmp_path):
    table = made(tmp_path)
    numbered = batch([("1", "p", 1, 1)])
    whole = numbered.set_column(0, "id", pa.array([1], pa.int32()))
    table.write(whole, options=SMALL_BLOOM)
    table.write(whole.set_column(0, "id", pa.array([1], pa.int64())), options=SMALL_BLOOM)
    assert table.read().num_rows == 1
    with pytest.raises(SchemaConflictError, match="cannot change its type"):
        table.write(whole.set_column(0, "id", pa.array([1.0])), options=SMALL_BLOOM)


def test_no_bootstrap_makes_or_becomes_such_a_table(tmp_path):
    (tmp_path / "source").mkdir()
    pq.write_table(FIRST, tmp_path / "source" / "a.parquet")
    options = {"hoodie.bootstrap.base.path": str(tmp_path / "source")}
    keys = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), keys)
    plan = preflight(BootstrapRequest(str(tmp_path / "new"), {**keys, **OFF}, options), table.engine)
    assert "without meta columns cannot be bootstrapped" in plan.problems[0]


def test_a_write_that_fails_after_the_switch_leaves_a_table_that_reads(tmp_path):
    table = made(tmp_path, **{META: "true"})
    write(table, [("a", "p", 1, 1)])
    with pytest.raises(ZeroDivisionError):
        table.write(
            batch([("a", "p", 2, 2)]), options={**SMALL_BLOOM, **OFF}, hooks=WriteHooks(before_commit=lambda: 1 / 0)
        )
    assert content(table) == {"a": ("p", 1, 1)}
    assert write(table, [("a", "p", 2, 2)]).rows_updated == 1


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_cleaning_time_travel_and_sync_work_as_ever(tmp_path, kind):
    table = made(tmp_path / "t", kind)
    for step in range(4):
        write(table, [("a", "p", step, step), ("b", "q", 0, 0)])
        if kind == "MERGE_ON_READ":
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION, SMALL_BLOOM)
    earlier = [instant.time for instant in table.timeline.commits][-2]
    files = data_files(table)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 2})
    assert data_files(table) < files
    assert content(table)["a"] == ("p", 3, 3)
    assert content(table, as_of=earlier)["a"][1] in (2, 3)
    catalog = MemoryCatalog()
    run_sync(table.state(), {}, catalog)
    synced = [column for found in catalog.tables.values() for column in found.columns]
    assert {"_hoodie_record_key", "id", "value"} <= {column.name for column in synced}
