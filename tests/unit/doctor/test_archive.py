"""Files of archived commits that these do not name: readers see their rows, and an archiver other than this one let that be."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.model.names import BaseFileName, LogFileName
from tests.support.archive import archive_before
from tests.support.tables import SMALL_BLOOM, batch, content, create


def filled(path, version):
    """Five delta commits, four of them on one file group."""
    table = create(path, **{"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"})
    for step in range(4):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    table.write(batch([("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    return table


@pytest.mark.parametrize("version", ["6", "9"])
def test_a_file_that_an_archived_commit_does_not_name_is_found_and_moved_aside(tmp_path, version):
    path = str(tmp_path / "t")
    table = filled(path, version)
    whole, second = content(table), table.timeline.commits[1]
    p, q = sorted(table.file_slices(), key=lambda each: each.partition)
    strays = [f"part=q/{BaseFileName('00000000-1111-2222-3333-444444444444-0', '9-9-9', second.time)}"]
    table.storage.create(strays[0], table.storage.read(p.base_file.path))
    if version == "9":
        strays.append(f"part=p/{LogFileName(p.file_id, second.time, 1, '9-9-9')}")
        table.storage.create(strays[1], table.storage.read(p.log_files[0].path))
    archive_before(table, table.timeline.commits[3].time)
    table = HoodieTable.open(path)
    assert table.read().num_rows > len(whole)
    assert table.diagnose().findings == ()
    found = table.diagnose(deep=True)
    assert {(each.check, each.path) for each in found.of("uncommitted-file")} == {
        ("uncommitted-file", s) for s in strays
    }
    assert q.base_file.path not in strays
    table.mend(found)
    assert all(table.storage.info(each) is None for each in strays)
    assert content(table) == whole
    assert table.diagnose(deep=True).findings == ()


@pytest.mark.parametrize("version", ["6", "9"])
def test_a_log_of_an_archived_commit_that_was_cut_short_is_found(tmp_path, version):
    path = str(tmp_path / "t")
    table = filled(path, version)
    log = next(each for each in table.file_slices() if each.partition == "part=p").log_files[1]
    archive_before(table, table.timeline.commits[3].time)
    table = HoodieTable.open(path)
    assert table.diagnose(deep=True).findings == ()
    data = table.storage.read(log.path)
    table.storage.delete(log.path)
    table.storage.create(log.path, data[:-30])
    assert {(each.check, each.path) for each in table.diagnose(deep=True).findings} == {("file-size", log.path)}
