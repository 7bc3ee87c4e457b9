"""Rollbacks in version 6, where a command block hides the blocks of one instant: begun by Hudi, finished by us."""

from __future__ import annotations

import shutil

import pytest

from hoodie import HoodieTable
from hoodie.formats.log import BlockType, scan_blocks
from tests.interop.rows import rows
from tests.interop.test_clean import batch
from tests.interop.test_savepoints import made_by_hudi, options, same

pytestmark = pytest.mark.interop
PEERS = ["hudi12", "hudi15"]
BY_LISTING = options("6", "MERGE_ON_READ") | {"hoodie.rollback.using.markers": "false"}


@pytest.fixture
def hudi(request):
    return request.getfixturevalue(request.param)


def commands(table):
    """Logs with command blocks."""
    partitions = {file_slice.partition for file_slice in table.file_slices()}
    files = [file.path for partition in partitions for file in table.storage.list(partition).files]
    blocks = [block for path in files if ".log." in path for block in scan_blocks(table.storage, path)]
    return sorted(block.path for block in blocks if block.kind is BlockType.COMMAND)


def named(logs):
    """Without their write tokens: 1.2.0 takes that of a task."""
    return [path.rpartition("_")[0] for path in logs]


def undone(hudi, path):
    """A table with two commits of Hudi's, and a third that is not complete. Returns the rows, and the instant of that."""
    table = made_by_hudi(hudi, path, "6", "MERGE_ON_READ")
    expected = rows(table.read())
    hudi.write(path, batch(3, "a"), options("6", "MERGE_ON_READ"))
    last = table.timeline.commits[-1]
    (path / ".hoodie" / last.file_name).unlink()
    assert rows(table.read()) == expected
    return expected, last.time


@pytest.mark.parametrize("hudi", PEERS, indirect=True)
def test_what_hudi_began_we_finish(tmp_path, hudi):
    path = tmp_path / "t"
    expected, _ = undone(hudi, path)
    shutil.copytree(path, tmp_path / "kept")
    hudi.write(path, batch(9, "z"), BY_LISTING)
    begun = {each.name: each.read_bytes() for each in (path / ".hoodie").glob("*.rollback.*")}
    theirs = commands(HoodieTable.open(str(path)))
    assert theirs, "Hudi has hidden blocks"
    shutil.rmtree(path)
    shutil.move(tmp_path / "kept", path)
    for name, content in begun.items():
        (path / ".hoodie" / name).write_bytes(content)
    table = HoodieTable.open(str(path))
    assert rows(table.read()) == expected
    table.write(batch(9, "g"), "upsert")
    assert named(commands(table)) == named(theirs)
    assert sorted(rows(table.read())) == sorted([*expected, *rows(batch(9, "g"))])
    same(hudi, table, rows(table.read()))
