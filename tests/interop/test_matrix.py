"""The compatibility matrix (format notes, section 14): tables that Hudi wrote, to hudi-rs and to both releases of Hudi."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.peer import PeerError
from tests.interop.rows import rows
from tests.support.clock import FakeClock
from tests.support.matrix import diagonal
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.interop

ARCHIVES = ["12v9", "15v6"]
PLAIN = ["cow_np", "cow_hive", "cow_clust", "cow_clean", "cow_cdc_data_before", "boot_full", "fail_cow_tls"]
LOGS = ["mor_avro", "mor_parquet", "mor_event", "mor_pendcomp", "mor_rollback"]


def snapshot(table: pa.Table) -> dict[str, list]:
    return {row["id"]: [row["name"], row["price"], row["ts"]] for row in table.to_pylist()}


def hudi_rs(path, **options) -> pa.Table:
    from hudi import HudiReadOptions, HudiTableBuilder

    return pa.Table.from_batches(
        HudiTableBuilder.from_base_uri(str(path)).build().read(HudiReadOptions(hudi_options=options))
    )


@pytest.mark.format("14a", "14b", "14c", "14e", "14f", "14h", "14i", "14j", "14l", "14m", "14r")
@pytest.mark.parametrize("name", PLAIN + LOGS)
@pytest.mark.parametrize("archive", ARCHIVES)
def test_hudi_rs(golden, expected, archive, name):
    """It loses what was written after a compaction was planned in version 6: we offer no such table to its readers."""
    found, wanted = snapshot(hudi_rs(golden(archive) / name)), expected(archive, name)
    assert (found == wanted) == ((archive, name) != ("15v6", "mor_pendcomp"))


@pytest.mark.format("14n", "14o")
@pytest.mark.parametrize("archive", ARCHIVES)
def test_hudi_rs_and_every_type(golden, archive):
    """Version 9 of the table has a timestamp without a zone."""
    path = golden(archive) / "cow_types"
    if archive == "15v6":
        assert hudi_rs(path).num_rows == 1
        return
    with pytest.raises(BaseException, match="not yet implemented"):  # a panic of Rust
        hudi_rs(path)


@pytest.mark.format("14q")
@pytest.mark.parametrize("archive", ARCHIVES)
def test_hudi_rs_does_not_stitch(golden, archive):
    found = hudi_rs(golden(archive) / "boot_mor")
    assert found["id"].null_count > 0


@pytest.mark.format("14s")
@pytest.mark.parametrize("name", ["cow_hive", "mor_avro"])
@pytest.mark.parametrize("archive", ARCHIVES)
def test_hudi_rs_incremental(golden, archive, name):
    """Rows that were written after the first commit; a deletion shows nowhere."""
    path = golden(archive) / name
    table = HoodieTable.open(str(path))
    first = table.timeline.commits[0]
    start = first.time if table.version == 6 else first.completion_time
    options = {"hoodie.read.query.type": "incremental", "hoodie.read.start.timestamp": start}
    ours = table.read_incremental(start)
    assert 0 < ours.num_rows < table.read().num_rows
    assert rows(hudi_rs(path, **options), ["id", "ts"]) == rows(ours, ["id", "ts"])


@pytest.mark.format("14a", "14b", "14c", "14e", "14f", "14h", "14i", "14j", "14l", "14m", "14n", "14o", "14r")
@pytest.mark.deep("Hudi alone reads what Hudi alone has written")
def test_hudi_12(golden, expected, hudi12):
    for archive in ARCHIVES:
        for name in PLAIN + LOGS:
            for metadata in ("true", "false"):
                found = hudi12.read(golden(archive) / name, **{"hoodie.metadata.enable": metadata})
                assert snapshot(found) == expected(archive, name), (archive, name)
        assert hudi12.read(golden(archive) / "cow_types").num_rows == 1


@pytest.mark.format("14a", "14b", "14c", "14e", "14f", "14h", "14i", "14j", "14l", "14m", "14n", "14r", "14u")
@pytest.mark.deep("Hudi alone reads what Hudi alone has written")
def test_hudi_15(golden, expected, hudi15):
    for name in PLAIN + LOGS:
        assert snapshot(hudi15.read(golden("15v6") / name)) == expected("15v6", name), name
    assert hudi15.read(golden("15v6") / "cow_types").num_rows == 1
    for name in ("cow_hive", "mor_avro"):
        with pytest.raises(PeerError):
            hudi15.read(golden("12v9") / name)


@pytest.mark.format("11m", "11n", "14k")
@pytest.mark.parametrize(("kind", "version"), diagonal(["COPY_ON_WRITE", "MERGE_ON_READ"], ["9", "6"]))
def test_a_table_that_hudi_restored(tmp_path, hudi12, hudi_rs_read, kind, version):
    """Savepoint and restore by Hudi, of commits of ours: what came after the savepoint is gone, and we go on."""
    options = {"hoodie.table.type": kind, "hoodie.write.table.version": version}
    table = create(tmp_path / "t", FakeClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    saved = table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM).instant.time
    wanted = content(table)
    name = f"restored_{kind}_{version}".lower()
    hudi12.sql(f"create table if not exists {name} using hudi location '{table.base_path}'")
    for key in ("hoodie.metadata.enable", "hoodie.write.auto.upgrade"):
        hudi12.sql(f"set {key}=false")
    hudi12.sql(f"set hoodie.write.table.version={version}")
    hudi12.sql(f"call create_savepoint(table => '{name}', commit_time => '{saved}')")
    table.write(batch([("a", "p", 3, 3), ("c", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    hudi12.sql(f"call rollback_to_savepoint(table => '{name}', instant_time => '{saved}')")
    ours = HoodieTable.open(table.base_path)
    assert content(ours) == wanted
    assert not ours.timeline.pending
    assert {str(instant.action) for instant in ours.timeline} >= {"savepoint", "restore"}
    assert "rollback" not in {str(instant.action) for instant in ours.timeline}
    ours.write(batch([("d", "q", 4, 4)]), "upsert", SMALL_BLOOM)
    expected = {**wanted, "d": ("q", 4, 4)}
    for read in (hudi12.read, hudi_rs_read):
        assert {r["id"]: (r["part"], r["ts"], r["value"]) for r in read(ours.base_path).to_pylist()} == expected
    assert content(ours) == expected
