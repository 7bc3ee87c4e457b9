"""Record positions in log blocks: Hudi merges by ours, we by Hudi's, and the rows are those of a merge by key."""

from __future__ import annotations

import pytest

import hoodie.write.worker.log_file as log_file
from hoodie import HoodieTable
from hoodie.formats.log import Header, encode_positions, scan_blocks
from hoodie.model.internal_columns import POSITION
from tests.interop.rows import rows
from tests.interop.test_cow import hudi_options, make_table
from tests.interop.test_mor import mor_history
from tests.support.matrix import diagonal

pytestmark = pytest.mark.interop

KEY = "hoodie.merge.use.record.positions"
MERGE_ON_READ = {"hoodie.datasource.write.table.type": "MERGE_ON_READ", "hoodie.compact.inline": "false"}


def positioned(table):
    """Count the log blocks of the table that hold the positions of their rows, and those that do not."""
    logs = [log.path for file_slice in table.file_slices() for log in file_slice.log_files]
    told = [Header.RECORD_POSITIONS in block.headers for log in logs for block in scan_blocks(table.storage, log)]
    return told.count(True), told.count(False)


@pytest.mark.format("6.1b")
@pytest.mark.parametrize("ordering", [True, False])
def test_hudi_merges_by_our_positions(tmp_path, hudi12, hudi_rs_read, ordering):
    ours, _ = mor_history(tmp_path / "t", "9", ordering)
    told, untold = positioned(ours)
    assert told > untold == 0
    expected = rows(ours.read())
    assert rows(ours.read(options={KEY: "false"})) == expected
    assert rows(hudi12.read(ours.base_path)) == rows(hudi12.read(ours.base_path, **{KEY: "false"})) == expected
    assert rows(hudi_rs_read(ours.base_path)) == expected


def test_hudi_takes_them_at_their_word(tmp_path, monkeypatch, hudi12):
    """Positions that are one too high: so Hudi does look at them, and what it makes of them is what we make of them."""
    original = encode_positions

    def shifted(found, base):
        higher = found[POSITION].to_numpy() + 1
        return original(found.set_column(found.schema.get_field_index(POSITION), POSITION, [higher]), base)

    table = HoodieTable.create(
        str(tmp_path / "t"),
        {
            "hoodie.table.name": "trips",
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.ordering.fields": "ts",
        },
    )
    table.write(make_table([f"k{i}" for i in range(8)], [10] * 8, [1.0] * 8), "insert")
    monkeypatch.setattr(log_file, "encode_positions", shifted)
    table.write(make_table(["k2", "k5"], [20, 20], [2.0, 2.0]), "upsert")
    by_position, by_key = (rows(table.read(options={KEY: each}), ["id", "price"]) for each in ("true", "false"))
    assert by_key == [(f"k{i}", 2.0 if i in (2, 5) else 1.0) for i in range(8)]
    assert by_position != by_key
    assert rows(hudi12.read(table.base_path), ["id", "price"]) == by_position
    assert rows(hudi12.read(table.base_path, **{KEY: "false"}), ["id", "price"]) == by_key


@pytest.mark.format("6.1b", "14b")
@pytest.mark.parametrize(("twice", "index"), diagonal([False, True], ["SIMPLE", "BLOOM"]))
def test_we_merge_by_hudis(tmp_path, hudi12, recorded, index, twice):
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "part",
        "hoodie.table.ordering.fields": "ts",
    }
    like = HoodieTable.create(str(tmp_path / "like"), options)
    options = {**hudi_options(like, True), **MERGE_ON_READ, "hoodie.index.type": index}
    path, hudis = tmp_path / "t", recorded("hudi12")

    def write(operation, *columns, mode="append"):
        hudis.write(path, make_table(*columns), {**options, "hoodie.datasource.write.operation": operation}, mode)

    count = 200
    keys = [f"k{i}" for i in range(count)] + (["k4", "k5", "k6"] if twice else [])
    write("bulk_insert", keys, [10] * len(keys), [float(i) for i in range(len(keys))], mode="overwrite")
    write("upsert", [f"k{i}" for i in range(0, count, 3)], [5 + i % 10 for i in range(0, count, 3)], [-1.0] * 67)
    write("upsert", [f"k{i}" for i in range(4, count, 9)], [30] * 22, [-2.0] * 22)
    write("delete", [f"k{i}" for i in range(0, count, 31)], [40] * 7, [0.0] * 7)
    ours = HoodieTable.open(hudis.table(path))
    positions, _ = positioned(ours)
    assert positions
    expected = rows(hudis.read(path))
    assert rows(ours.read(options={KEY: "false"})) == expected
    assert rows(ours.read()) == expected
    # By key Hudi finds only the first of the rows that share one.
    assert (rows(hudis.read(path, **{KEY: "false"})) == expected) != twice
    # Both go on: a log of ours among those of Hudi.
    ours.write(make_table([f"k{i}" for i in range(2, count, 8)], [50] * 25, [-3.0] * 25), "upsert")
    for merged in ("true", "false"):
        assert rows(ours.read(options={KEY: merged})) == rows(hudi12.read(ours.base_path))
