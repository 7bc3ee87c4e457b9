"""The same damaged tables: Hudi's repair procedures agree with our doctor, and Hudi reads the tables that our doctor repaired."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.clock import SystemClock
from hoodie.timeline import Action
from hoodie.view.metadata_table import read_metadata_table
from tests.interop.peer import PeerError
from tests.interop.recording import RecordedPeer
from tests.interop.rows import rows
from tests.support.matrix import sample
from tests.support.metadata_tables import ALL, tell
from tests.support.tables import SMALL_BLOOM, batch, create

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
    """repair_deduplicate writes the files of a partition that hold such keys again, each key once."""
    table, out = filled(tmp_path / "table"), tmp_path / "repaired"
    for _ in range(2):
        table.write(pa.table({"id": ["a", "n"], "part": ["p", "p"], "ts": [7, 7]}), "bulk_insert")
    where = {"duplicated_partition_path": "'part=p'", "repaired_output_path": f"'{out}'"}
    call(hudi12, table, "repair_deduplicate", **where, dedupe_type="'upsert_type'", dry_run="true")
    kept = sorted(key for file in out.glob("*.parquet") for key in pq.read_table(file)["id"].to_pylist())
    (told,) = table.diagnose(deep=True).of("duplicate-keys")
    keys, _, groups = told.found.partition(f"; {kept[0]!r} in file groups ")
    assert told.path == "part=p"
    assert keys == f"{len(kept)} keys: {', '.join(map(repr, kept))}"
    assert set(groups.split(", ")) < {file.name.partition("_")[0] for file in out.glob("*.parquet")}


MINE = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.metadata.enable": "true",
}


def with_metadata_table(hudis: RecordedPeer, path, version):
    for step in range(3):
        batch = pa.table({"id": ["a", "b"], "part": ["p", "q"], "ts": [step, step]})
        hudis.write(path, batch, {**MINE, "hoodie.write.table.version": version})
    for each in Path(hudis.table(path)).rglob("*.crc"):  # Hadoop's own checksums
        each.unlink()
    return HoodieTable.open(path)


def as_hudi_reads(hudi, table, *, metadata):
    """id -> ts; None where its read fails."""
    try:
        found = hudi.read(table.base_path, **{"hoodie.metadata.enable": str(metadata).lower()})
    except PeerError:
        return None
    return {row["id"]: row["ts"] for row in found.to_pylist()}


def nothing(table):
    pass


def lost_base(table):
    Path(table.base_path, base(table, "p")).unlink()


def short_base(table):
    file = Path(table.base_path, base(table, "p"))
    file.write_bytes(file.read_bytes()[:-100])


def an_orphan(table):
    later = int(table.timeline.commits[-1].time) + 1
    Path(table.base_path, f"p/aaaa-0_0-1-2_{later}.parquet").write_bytes(
        Path(table.base_path, base(table, "p")).read_bytes()
    )


def forgotten_log(table):
    log = next(each for each in table.file_slices() if each.partition == "p").log_files[-1]
    tell(table.base_path, {"p": {log.info.name: (0, True)}})


def forgotten_partition(table):
    names = [
        path.name for path in Path(table.base_path, "p").iterdir() if path.suffix == ".parquet" or ".log." in path.name
    ]
    tell(table.base_path, {"p": dict.fromkeys(names, (0, True)), ALL: {"p": (0, True)}})


def lost_last_commit(table):
    timeline = Path(table.base_path, ".hoodie/metadata", table.state().layout.folder)
    max(timeline.glob("*.deltacommit")).unlink()


def torn_hfile(table):
    file = next(Path(table.base_path, ".hoodie/metadata/files").glob("*.hfile"))
    file.write_bytes(file.read_bytes()[:-50])


def no_metadata_table(table):
    shutil.rmtree(Path(table.base_path, ".hoodie/metadata"))


DAMAGES = [  # what is done, what is found, and how Hudi reads with its metadata table: right, otherwise, or not at all
    (nothing, set(), "right"),
    (lost_base, {"missing-file"}, "fails"),
    (short_base, {"file-size"}, "fails"),
    (an_orphan, {"orphan-file"}, "right"),
    (forgotten_log, {"metadata-missing-file"}, "otherwise"),
    (forgotten_partition, {"metadata-partition"}, "otherwise"),
    (lost_last_commit, {"metadata-behind", "metadata-missing-file"}, "otherwise"),
    (torn_hfile, {"metadata-unreadable"}, "fails"),
    (no_metadata_table, {"metadata-gone"}, "right"),
]


@pytest.mark.parametrize("version", sample(["6", "8", "9"], 2))
def test_the_metadata_table(hudi12, recorded, tmp_path, version):
    """show_metadata_table_partitions, show_metadata_table_files, and what Hudi reads with its metadata table and without."""
    with_metadata_table(recorded("hudi12"), str(tmp_path / "whole"), version)
    for damage, checks, reads in DAMAGES:
        name = damage.__name__
        shutil.copytree(tmp_path / "whole", tmp_path / name)
        table = HoodieTable.open(tmp_path / name)
        damage(table)
        assert {each.check for each in table.diagnose().findings if each.severity != "note"} == checks, name
        told = as_hudi_reads(hudi12, table, metadata=True)
        assert told == {"right": {"a": 2, "b": 2}, "fails": None}.get(reads, told), name
        if reads == "otherwise":
            assert told != as_hudi_reads(hudi12, table, metadata=False) == {"a": 2, "b": 2}, name
        if not checks & {"metadata-unreadable", "metadata-gone"}:
            assert named(hudi12, table) == held(table), name


@pytest.mark.deep("Hudi alone computes it")
@pytest.mark.parametrize("bundle", ["hudi12", "hudi15"])
def test_hudi_reads_log_blocks_of_lost_attempts_in_version_6(request, tmp_path, bundle):
    """No commit names their log. Moved aside, they are gone for Hudi, too."""
    hudi = request.getfixturevalue(bundle)
    table = create(tmp_path / "t", **{"hoodie.write.table.version": "6", "hoodie.table.type": "MERGE_ON_READ"})
    for step in range(2):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    log, last = table.file_slices()[0].log_files[-1], table.timeline.last_commit.time
    other = create(tmp_path / "u", **{"hoodie.write.table.version": "6", "hoodie.table.type": "MERGE_ON_READ"})
    for step in (0, 9):
        other.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    data = other.storage.read(other.file_slices()[0].log_files[-1].path)
    stray = log.path.rpartition("_")[0] + "_9-9-9"
    table.storage.create(stray, data.replace(other.timeline.last_commit.time.encode(), last.encode()))

    def values():
        return [[row["value"] for row in rows.to_pylist()] for rows in (table.read(), hudi.read(table.base_path))]

    assert values() == [[1], [9]]
    table.mend(table.diagnose())
    assert values() == [[1], [1]]


def held(table):
    listing = read_metadata_table(table.storage, SystemClock(), ())
    return listing.partitions, set(zip(*(listing.files[c].to_pylist() for c in ("partition", "name")), strict=True))


def named(hudi, table):
    partitions = {row["partition"] for row in call(hudi, table, "show_metadata_table_partitions")}
    of = {each: call(hudi, table, "show_metadata_table_files", partition=f"'{each}'") for each in sorted(partitions)}
    return partitions, {(each, row["file_path"]) for each, files in of.items() for row in files}


@pytest.mark.parametrize("version", sample(["6", "8", "9"], 0))
def test_a_metadata_table_that_was_switched_off_is_made_anew_by_hudi(hudi12, recorded, tmp_path, version):
    table = with_metadata_table(recorded("hudi12"), str(tmp_path / "table"), version)
    lost_last_commit(table)
    assert as_hudi_reads(hudi12, table, metadata=True) == {"a": 1, "b": 1}
    table.mend(table.diagnose())
    assert as_hudi_reads(hudi12, table, metadata=True) == {"a": 2, "b": 2}
    row = pa.table({"id": ["c"], "part": ["p"], "ts": [3]})
    hudi12.write(table.base_path, row, {**MINE, "hoodie.write.table.version": version})
    table = HoodieTable.open(table.base_path)
    assert "files" in table.state().properties.metadata_partitions
    assert [each for each in table.diagnose().findings if each.severity != "note"] == []
    assert as_hudi_reads(hudi12, table, metadata=True) == {"a": 2, "b": 2, "c": 3}


@pytest.mark.deep("Hudi alone computes it")
def test_validate_metadata_table_files_sees_no_damage(hudi12, recorded, tmp_path):
    """That of 1.2.0 lists the storage through the metadata table: so it is no reference."""
    table = with_metadata_table(recorded("hudi12"), str(tmp_path / "table"), "9")
    lost = base(table, "p")
    lost_base(table)
    told = call(hudi12, table, "validate_metadata_table_files", verbose="true")
    assert lost in {f"{row['partition']}/{row['file_name']}" for row in told}
    assert {row["is_present_in_fs"] for row in told} == {True}
    assert call(hudi12, table, "validate_metadata_table_files") == []
    assert found(table, "missing-file") == {lost}
