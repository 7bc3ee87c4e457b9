"""Tables of version 6 that Hudi 0.15.0 wrote, upgraded: they read as before."""

from __future__ import annotations

import shutil

import pyarrow.parquet as pq
import pytest

from hoodie import COMPACTION, HoodieTable, Upgrade
from hoodie.engine import LocalEngine
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.upgrades import all_reads, compact

NAMES = ["cow_clean", "cow_clust", "cow_np", "mor_avro", "mor_parquet", "mor_event", "mor_pendcomp", "cow_types"]
CHOICE = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}


@pytest.fixture
def copied(golden, tmp_path):
    def copy(name):
        shutil.copytree(golden("15v6") / name, tmp_path / name)
        clock = FakeClock(FakeClock().time.replace(month=12))
        return HoodieTable(HoodieTable.open(str(tmp_path / name)).storage, LocalEngine(1), clock)

    return copy


@pytest.mark.parametrize("name", NAMES)
def test_every_read_is_the_same(copied, name):
    table = copied(name)
    if table.properties.is_merge_on_read:
        table.run(COMPACTION)  # of a plan that Hudi has left
        compact(table)
    before = all_reads(table)
    table.run(Upgrade(9), {} if name == "mor_event" else CHOICE)
    assert table.version == 9
    assert all_reads(table) == before
    assert not table.diagnose().findings


def test_archived_instants_keep_bodies_and_plans(copied):
    table = copied("cow_clean")
    old = {instant.key: instant for instant in table.state().archive.instants()}
    table.run(Upgrade(9), CHOICE)
    state = table.state()
    assert {instant.key for instant in state.archive.instants()} == old.keys()
    (file,) = (each for each in table.storage.list(state.layout.archive_folder).files if each.name.endswith("parquet"))
    for row in pq.read_table(f"{table.base_path}/{file.path}").to_pylist():
        assert row["completionTime"] == row["instantTime"]
        assert row["metadata"].startswith(b"Obj\x01")
        assert (row["plan"] is not None) == (row["action"] == Action.CLEAN)
    first = file.name.split("_")
    assert (first[0], first[1]) == (min(old)[0], max(old)[0])
