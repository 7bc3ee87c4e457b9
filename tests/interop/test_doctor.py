"""The same damaged tables: Hudi's repair procedures say of them what our doctor says, and Hudi reads what our doctor mended."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.timeline import Action
from tests.interop.rows import rows

pytestmark = pytest.mark.interop


def call(hudi, table, procedure, **arguments):
    name = table.base_path.replace("/", "_").replace("-", "_").strip("_")
    hudi.sql(f"create table if not exists {name} using hudi location '{table.base_path}'")
    given = "".join(f", {key} => {value}" for key, value in arguments.items())
    return hudi.sql(f"call {procedure}(table => '{name}'{given})")


def filled(path, levels=("part",)):
    table = HoodieTable.create(
        str(path),
        {
            "hoodie.table.name": "trips",
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.partition.fields": ",".join(levels),
            "hoodie.table.ordering.fields": "ts",
            "hoodie.datasource.write.hive_style_partitioning": "true",
        },
    )
    for step in range(3):
        parts = {name: ["p", "q"] for name in levels}
        table.write(pa.table({"id": ["a", "b"], **parts, "ts": [step, step]}), "upsert")
    return table


def base(table, partition="part=p"):
    return next(each.base_file.path for each in table.file_slices() if each.partition == partition)


def found(table, check, *, deep=False):
    return {each.path for each in table.diagnose(deep=deep).of(check)}


def test_base_files_that_cannot_be_read(hudi12, tmp_path):
    """show_invalid_parquet."""
    table = filled(tmp_path)
    file = Path(table.base_path, base(table))
    file.write_bytes(file.read_bytes()[:-20])
    told = hudi12.sql(f"call show_invalid_parquet(path => '{table.base_path}')")
    assert (
        {row["path"].rpartition(f"{tmp_path}/")[2] for row in told}
        == found(table, "torn-file", deep=True)
        == {base(table)}
    )


def test_partitions_without_their_mark(hudi12, tmp_path):
    """repair_add_partition_meta looks at folders three levels down, and only looks with dry_run."""
    table = filled(tmp_path, levels=("part", "month", "day"))
    before, lost = rows(table.read()), "part=p/month=p/day=p/.hoodie_partition_metadata"
    (tmp_path / lost).unlink()
    told = call(hudi12, table, "repair_add_partition_meta", dry_run="true")
    without = {row["partition_path"] for row in told if row["metadata_is_present"] == "No"}
    assert {f"{path}/.hoodie_partition_metadata" for path in without} == found(table, "partition-metafile") == {lost}
    table.mend(table.diagnose())
    told = call(hudi12, table, "repair_add_partition_meta", dry_run="true")
    assert {row["metadata_is_present"] for row in told} == {"Yes"}
    assert rows(hudi12.read(table.base_path)) == rows(table.read()) == before


@pytest.mark.parametrize("body", [b"", b"torn"])
def test_cleans_whose_plans_are_torn(hudi12, tmp_path, body):
    """repair_corrupted_clean_files deletes them; ours keeps them aside."""
    mine, theirs = filled(tmp_path / "mine"), filled(tmp_path / "theirs")
    for table in (mine, theirs):
        table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
        (clean,) = table.timeline.completed(Action.CLEAN)
        folder = Path(table.base_path, ".hoodie/timeline")
        for each in folder.glob(f"{clean.time}*.clean*"):
            each.unlink()
        (folder / f"{clean.time}.clean.requested").write_bytes(body)
        assert len(found(table, "torn-plan")) == 1
    call(hudi12, theirs, "repair_corrupted_clean_files")
    mine.mend(mine.diagnose())
    for table in (mine, theirs):
        assert not list(Path(table.base_path, ".hoodie/timeline").glob("*clean*"))
        assert table.diagnose().findings == ()
        assert rows(hudi12.read(table.base_path)) == rows(table.read())


def test_a_mended_table_is_one_that_hudi_reads_and_writes(hudi12, tmp_path):
    """Orphans, files of lost attempts, and properties from their backup."""
    table = filled(tmp_path)
    before, last = rows(table.read()), table.timeline.commits[-1].time
    (tmp_path / f"part=p/aaaa-0_0-1-2_{int(last) + 1}.parquet").write_bytes((tmp_path / base(table)).read_bytes())
    (tmp_path / f"part=q/bbbb-0_0-1-2_{last}.parquet").write_bytes((tmp_path / base(table, "part=q")).read_bytes())
    assert len(rows(hudi12.read(table.base_path))) == len(before) + 1  # it takes the lost attempt for the table's
    main = tmp_path / ".hoodie/hoodie.properties"
    (tmp_path / ".hoodie/hoodie.properties.backup").write_bytes(main.read_bytes())
    main.write_bytes(b"torn")
    assert {each.check for each in table.diagnose().findings} == {"orphan-file", "uncommitted-file", "properties"}
    table.mend(table.diagnose())
    assert rows(hudi12.read(table.base_path)) == rows(table.read()) == before
    row = pa.table({"id": ["c"], "part": ["p"], "ts": [9]})
    hudi12.write(
        table.base_path,
        row,
        {
            "hoodie.table.name": "trips",
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.partitionpath.field": "part",
            "hoodie.datasource.write.hive_style_partitioning": "true",
        },
    )
    assert len(rows(table.read())) == len(before) + 1
    assert not {each.check for each in table.diagnose(deep=True).findings if each.severity != "note"}


def test_keys_that_stand_twice(hudi12, tmp_path):
    """As repair_deduplicate finds them: by key, in a partition."""
    table = filled(tmp_path)
    for _ in range(2):
        table.write(pa.table({"id": ["a", "n"], "part": ["p", "p"], "ts": [7, 7]}), "bulk_insert")
    call(hudi12, table, "show_commits")
    name = table.base_path.replace("/", "_").replace("-", "_").strip("_")
    twice = hudi12.sql(
        f"select _hoodie_partition_path p, _hoodie_record_key k from {name} group by 1, 2 having count(*) > 1 order by 2"
    )
    (told,) = table.diagnose(deep=True).of("duplicate-keys")
    assert told.path == "part=p"
    assert told.found == f"{len(twice)} keys: {', '.join(repr(row['k']) for row in twice)}"


def test_files_against_the_metadata_table(hudi12, tmp_path):
    """validate_metadata_table_files, of a table of Hudi's."""
    path = str(tmp_path / "theirs")
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.metadata.enable": "true",
    }
    for step in range(2):
        hudi12.write(path, pa.table({"id": ["a", "b"], "part": ["p", "q"], "ts": [step, step]}), options)
    table = HoodieTable.open(path)
    assert [each for each in table.diagnose(deep=True).findings if each.severity != "note"] == []
    lost = base(table, "p")
    Path(path, lost).unlink()
    told = call(hudi12, table, "validate_metadata_table_files", verbose="true")
    assert lost in {f"{row['partition']}/{row['file_name']}" for row in told}
    assert {row["is_present_in_fs"] for row in told} == {True}  # Hudi 1.2.0 says so of the file that is gone, too
    assert found(table, "missing-file") == {lost}
