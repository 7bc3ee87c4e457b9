"""Rollbacks in version 6, where a command block hides the blocks of one instant: begun by one, finished by the other."""

from __future__ import annotations

import shutil

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.formats.log import BlockType, scan_blocks
from hoodie.markers import DirectMarkers, MarkerType
from hoodie.timeline import Action
from tests.interop.rows import rows
from tests.interop.test_clean import batch
from tests.interop.test_savepoints import options, same
from tests.support.faulty import FaultyStorage, Killed

pytestmark = pytest.mark.interop
PEERS = ["hudi12", "hudi15"]
BY_LISTING = options("6", "MERGE_ON_READ") | {"hoodie.rollback.using.markers": "false"}


@pytest.fixture
def hudi(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def hudis(request, recorded):
    """The same release, for the table that it makes alone."""
    return recorded(request.node.callspec.params["hudi"])


def commands(table):
    """Logs with command blocks."""
    partitions = {file_slice.partition for file_slice in table.file_slices()}
    files = [file.path for partition in partitions for file in table.storage.list(partition).files]
    blocks = [block for path in files if ".log." in path for block in scan_blocks(table.storage, path)]
    return sorted(block.path for block in blocks if block.kind is BlockType.COMMAND)


def named(logs):
    """Without their write tokens: 1.2.0 takes that of a task."""
    return [path.rpartition("_")[0] for path in logs]


def undone(hudis, path):
    """A table with two commits of Hudi's, and a third that is not complete. Returns the rows, and the instant of that."""
    hudis.write(path, batch(1, "a", "b"), options("6", "MERGE_ON_READ"), "overwrite")
    hudis.write(path, batch(2, "a"), options("6", "MERGE_ON_READ"))
    expected = rows(HoodieTable.open(hudis.table(path)).read())
    hudis.write(path, batch(3, "a"), options("6", "MERGE_ON_READ"))
    table = HoodieTable.open(hudis.table(path))
    last = table.timeline.commits[-1]
    (path / ".hoodie" / last.file_name).unlink()
    assert rows(table.read()) == expected
    return expected, last.time


@pytest.mark.parametrize("hudi", PEERS, indirect=True)
def test_what_hudi_began_we_finish(tmp_path, hudi, hudis):
    path = tmp_path / "t"
    expected, _ = undone(hudis, path)
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


@pytest.mark.parametrize("hudi", PEERS, indirect=True)
def test_what_we_began_hudi_finishes(tmp_path, hudi, hudis):
    """Both delta commits of a slice are in one log, as on HDFS, where Hudi appends."""
    path = tmp_path / "t"
    expected, time = undone(hudis, path)
    table = HoodieTable.open(str(path))
    for each in table.file_slices():
        names = [f".{each.file_id}_{each.base_instant}.log.{version}_" for version in (1, 2)]
        logs = [f.path for name in names for f in table.storage.list(each.partition).files if f.name.startswith(name)]
        if len(logs) == 2:
            with (path / logs[0]).open("ab") as log:
                log.write((path / logs[1]).read_bytes())
            (path / logs[1]).unlink()
            first = path / logs[0]
            first.with_name(f".{first.name}.crc").unlink(missing_ok=True)  # Hadoop's checksums
            DirectMarkers(table.storage, time).create(logs[0], MarkerType.APPEND)
    assert rows(table.read()) == expected
    shutil.copytree(path, tmp_path / "whole")
    counted = FaultyStorage(tmp_path / "whole")
    HoodieTable(counted, LocalEngine(1)).write(batch(9, "g"), "upsert")
    whole = HoodieTable.open(str(tmp_path / "whole"))
    assert commands(whole)
    same(hudi, whole, sorted([*expected, *rows(batch(9, "g"))]))
    at = next(n for n, (name, path) in enumerate(counted.log, 1) if name == "create" and "_1-0-1" in path)
    with pytest.raises(Killed):
        HoodieTable(FaultyStorage(tmp_path / "t", at), LocalEngine(1)).write(batch(9, "g"), "upsert")
    (tmp_path / "t" / ".hoodie" / "lock").unlink()
    hudi.write(tmp_path / "t", batch(9, "h"), options("6", "MERGE_ON_READ"))
    table = HoodieTable.open(str(tmp_path / "t"))
    assert [i for i in table.timeline.pending if i.action is Action.ROLLBACK] == []
    assert commands(table)
    same(hudi, table, sorted([*expected, *rows(batch(9, "h"))]))
