"""Every copy-on-write table of Hudi is read right, with any history."""

from __future__ import annotations

import json
import shutil
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.errors import MissingFileError, TimeTravelError, UnsupportedTableError
from hoodie.schema import arrow_to_avro, avro_to_arrow, data_columns, normalise, with_meta_columns

ARCHIVES = ["12v9", "15v6"]
COW = ["cow_np", "cow_hive", "cow_clust", "cow_clean", "cow_cdc_data_before", "boot_full", "fail_cow_tls"]


def snapshot(table, **read):
    return {row["id"]: [row["name"], row["price"], row["ts"]] for row in table.read(**read).to_pylist()}


@pytest.mark.format("11i", "11p", "14a", "14h", "14i", "14l", "14m", "14r")
@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("name", COW)
def test_snapshot(golden, expected, archive, name):
    table = HoodieTable.open(str(golden(archive) / name))
    assert snapshot(table) == expected(archive, name)


@pytest.mark.format("11l", "14m")
@pytest.mark.parametrize(
    ("archive", "name"), [each for each in product(ARCHIVES, COW) if each != ("15v6", "cow_cdc_data_before")]
)
def test_write_on(golden, expected, archive, name, tmp_path):
    """Our upsert, delete and clean on a table of Hudi: its failed writes are rolled back, its metadata table goes."""
    shutil.copytree(golden(archive) / name, tmp_path / name)
    table = HoodieTable.open(str(tmp_path / name))
    rows = table.read()
    keys = sorted(expected(archive, name))
    one = rows.filter(pc.equal(rows["id"], keys[0]))
    newer = one.set_column(one.schema.get_field_index("price"), "price", pc.add(one["price"], 100.0))
    result = table.write(newer, "upsert")
    assert (result.rows_updated, result.rows_inserted) == (1, 0)
    table.write(rows.filter(pc.equal(rows["id"], keys[1])), "delete")
    wanted = dict(expected(archive, name))
    wanted[keys[0]] = [wanted[keys[0]][0], wanted[keys[0]][1] + 100.0, wanted[keys[0]][2]]
    del wanted[keys[1]]
    assert snapshot(table) == wanted
    assert not table.properties.has_metadata_table
    assert not table.storage.list(".hoodie/metadata").folders
    assert table.timeline.pending == ()
    run = table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert run.files_deleted
    assert snapshot(table) == wanted


@pytest.mark.parametrize("archive", ARCHIVES)
def test_every_state_of_the_past(golden, archive):
    table = HoodieTable.open(str(golden(archive) / "cow_hive"))
    states = [snapshot(table, as_of=instant.time) for instant in table.timeline.commits]
    assert states[-1] == snapshot(table)
    assert len({json.dumps(state, sort_keys=True) for state in states}) == 3
    assert sorted(len(state) for state in states) == [4, 4, 5]


@pytest.mark.parametrize("archive", ARCHIVES)
def test_a_cleaned_past_is_refused(golden, archive):
    table = HoodieTable.open(str(golden(archive) / "cow_clean"))
    with pytest.raises(TimeTravelError):
        table.read(as_of=table.timeline.commits[0].time)
    with pytest.raises(TimeTravelError, match="its first commit is"):
        table.read(as_of="2020-01-01")


def test_cdc_tables_of_version_6_are_read_and_not_written(golden):
    table = HoodieTable.open(str(golden("15v6") / "cow_cdc_data_before"))
    with pytest.raises(UnsupportedTableError, match="change data capture with table version 6"):
        table.write(table.read(), "upsert")


@pytest.mark.format("6.5d", "14b", "14c", "14e", "14f", "14j")
@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("name", ["mor_avro", "mor_event", "mor_parquet", "mor_pendcomp", "mor_rollback"])
def test_logs_are_merged(golden, expected, archive, name):
    """Avro and Parquet blocks, delete blocks, late rows and ties, a pending compaction, a rollback's command block."""
    table = HoodieTable.open(str(golden(archive) / name))
    assert snapshot(table) == expected(archive, name)
    wanted = {key: row for key, row in expected(archive, name).items() if row[1] > 2}
    assert snapshot(table, filter=pc.field("price") > 2) == wanted
    assert table.read(columns=["name"]).num_rows == len(expected(archive, name))


@pytest.mark.format("6.2a", "14n", "14o")
@pytest.mark.parametrize("archive", ARCHIVES)
def test_logs_of_every_type(golden, archive):
    """One Avro record with each type that Hudi knows beats the row of the base file."""
    table = HoodieTable.open(str(golden(archive) / "cow_types"))
    stored, merged = table.read(read_optimized=True), table.read()
    assert merged.num_rows == 1
    assert merged.equals(stored), "the record of the log has the values of the base file's"
    times = [table.read(columns=["_hoodie_commit_time"], read_optimized=only)[0][0].as_py() for only in (True, False)]
    assert times == [instant.time for instant in table.timeline.commits], "and it is the log's that was read"


@pytest.mark.format("6.5b")
@pytest.mark.parametrize("archive", ARCHIVES)
def test_logs_as_of_every_instant(golden, archive):
    table = HoodieTable.open(str(golden(archive) / "mor_avro"))
    states = [snapshot(table, as_of=instant.time) for instant in table.timeline.commits]
    assert states[-1] == snapshot(table)
    assert [len(state) for state in states] == [4, 5, 4]
    assert snapshot(table, read_optimized=True) not in (states[0], states[-1])


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("name", ["mor_avro", "mor_parquet", "mor_event", "mor_pendcomp", "mor_rollback"])
def test_write_on_logs(golden, expected, archive, name, tmp_path):
    """Updates and a deletion are appended beside Hudi's logs, new rows are written to base files."""
    shutil.copytree(golden(archive) / name, tmp_path / name)
    table = HoodieTable.open(str(tmp_path / name))
    rows = table.read()
    keys = sorted(expected(archive, name))
    one = rows.filter(pc.equal(rows["id"], keys[0]))
    newer = one.set_column(one.schema.get_field_index("price"), "price", pc.add(one["price"], 100.0))
    new = one.set_column(one.schema.get_field_index("id"), "id", pa.array(["zz"]))
    result = table.write(pa.concat_tables([newer, new]), "upsert")
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    table.write(rows.filter(pc.equal(rows["id"], keys[1])), "delete")
    wanted = dict(expected(archive, name))
    old = wanted[keys[0]]
    wanted |= {keys[0]: [old[0], old[1] + 100.0, old[2]], "zz": old}
    del wanted[keys[1]]
    assert snapshot(table) == wanted
    assert {stat.log is not None for stat in table.state().commit_metadata(table.timeline.commits[-1]).stats} == {True}
    assert not table.properties.has_metadata_table


@pytest.mark.parametrize("archive", ARCHIVES)
def test_a_missing_base_file_is_named(golden, archive, tmp_path):
    shutil.copytree(golden(archive) / "cow_np", tmp_path / "t")
    table = HoodieTable.open(str(tmp_path / "t"))
    plan = table.plan_read()
    victim = plan.slices[0].base_file.path
    (tmp_path / "t" / victim).unlink()
    from hoodie.read.execute import execute_read

    with pytest.raises(MissingFileError, match=victim):
        execute_read(plan, table.storage, table.engine)


@pytest.mark.parametrize("archive", ARCHIVES)
def test_schemas_are_spelled_as_hudi_spells_them(golden, archive):
    def without_doc(node):
        if isinstance(node, dict):
            return {key: without_doc(value) for key, value in node.items() if key != "doc"}
        return [without_doc(item) for item in node] if isinstance(node, list) else node

    seen = 0
    for folder in sorted(golden(archive).glob("cow_*")):
        for path in folder.rglob("*_*_2*.parquet"):
            if ".hoodie" in path.parts:
                continue
            footer = pq.ParquetFile(path)
            if b"parquet.avro.schema" not in footer.metadata.metadata:  # Spark's row writer leaves it out
                continue
            theirs = json.loads(footer.metadata.metadata[b"parquet.avro.schema"])
            columns = with_meta_columns(normalise(data_columns(footer.schema_arrow)))
            assert json.loads(arrow_to_avro(columns, folder.name)) == without_doc(theirs)
            assert avro_to_arrow(json.dumps(theirs)) == columns
            seen += 1
    assert seen > 10
