"""Blocks of some columns, as Hudi's MERGE INTO writes them: we read and compact what Hudi reads, and both write on."""

from __future__ import annotations

import shutil

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.formats.log import scan_blocks
from tests.interop.merge_into import COMMIT, EVENT, MergeTable
from tests.interop.peer import PeerError
from tests.interop.recording import RecordedPeer
from tests.interop.rows import rows
from tests.interop.test_compaction import call as hudi_compaction
from tests.support.matrix import sample

pytestmark = pytest.mark.interop
NO_METADATA = {"hoodie.metadata.enable": "false"}


def blocks(table: HoodieTable) -> list[bool]:
    """Says for each log block whether it holds only some columns."""
    logs = [log.path for file_slice in table.file_slices() for log in file_slice.log_files]
    return [block.is_partial for log in logs for block in scan_blocks(table.storage, log)]


def made(hudis: RecordedPeer, path, version, mode, kind) -> MergeTable:
    merged = MergeTable(hudis, f"merged_{path.name}_{version}_{mode}".lower(), str(path), version, mode, kind)
    merged.create()
    return merged


@pytest.mark.format("7.1j", "7.2g", "7.2h")
@pytest.mark.parametrize(
    ("version", "mode", "kind"),
    sample([("9", EVENT, "parquet"), ("9", COMMIT, "avro"), ("8", EVENT, "avro"), ("8", COMMIT, "parquet")], 1, 2),
)
def test_hand_to_hand(tmp_path, hudi12, recorded, version, mode, kind):
    path, copy, hudis = tmp_path / "t", tmp_path / "copy", recorded("hudi12")
    merged = made(hudis, path, version, mode, kind)
    for step in merged.history():
        ours = HoodieTable.open(hudis.table(path))
        expected = rows(hudis.read(path, **NO_METADATA))
        assert rows(ours.read()) == expected, step
        assert {row["id"] for row in ours.read(columns=["id"]).to_pylist()} == {row[0] for row in expected}, step
    assert any(blocks(ours))
    assert not all(blocks(ours))

    shutil.copytree(path, copy)
    ours = HoodieTable.open(str(copy))
    ours.schedule(COMPACTION, force=True)
    ours.run(COMPACTION)
    assert not any(file_slice.log_files for file_slice in ours.file_slices())
    assert rows(ours.read()) == expected == rows(hudi12.read(copy, **NO_METADATA)), "compacted by us"

    ours = HoodieTable.open(str(path))
    merged = merged.enter(hudi12)
    ours.write(ours.read().slice(0, 3), "upsert")
    merged.update({"k2": {"price": 3.5, "ts": 60}, "k3": {"price": 3.5, "ts": 1}})
    expected = rows(hudi12.read(path, **NO_METADATA))
    assert rows(ours.read()) == expected, "our rows between theirs"
    hudi_compaction(hudi12, ours, "scheduleAndExecute")
    assert rows(ours.read()) == expected == rows(hudi12.read(path, **NO_METADATA)), "compacted by Hudi"
    merged.update({"k2": {"name": "last", "ts": 70}})
    assert rows(ours.read()) == rows(hudi12.read(path, **NO_METADATA)), "written on"


@pytest.mark.format("7.2h")
def test_a_row_behind_a_deletion(tmp_path, hudi12, recorded):
    """In COMMIT_TIME_ORDERING Hudi 1.2.0 fails on it; once we compacted the table, it reads it."""
    path, hudis = tmp_path / "deleted", recorded("hudi12")
    merged = made(hudis, path, "9", COMMIT, "avro")
    next(merged.history())
    merged.merge({"k1": {"ts": 20}, "k2": {"ts": 20}}, "when matched then delete")
    merged.update({"k1": {"name": "back", "price": 2.0, "ts": 30}}, insert=True)
    merged.update({"k3": {"price": 2.0, "ts": 30}})
    with pytest.raises(PeerError, match="scanInternal"):
        hudis.read(path, **NO_METADATA)
    ours = HoodieTable.open(hudis.table(path))
    found = {row["id"]: (row["name"], row["price"], row["ts"]) for row in ours.read().to_pylist()}
    assert found["k1"] == ("back", 2.0, 30)
    assert "k2" not in found
    ours.schedule(COMPACTION, force=True)
    ours.run(COMPACTION)
    assert rows(hudi12.read(path, **NO_METADATA)) == rows(ours.read())
