"""The blocks of a slice's logs that count, and their order."""

from __future__ import annotations

import itertools
import re

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.errors import CorruptFileError
from hoodie.formats.log import BlockType, Header, encode_block, scan_blocks
from hoodie.view.log_blocks import LogCheck, valid_blocks
from tests.support.archive import archive_before
from tests.support.clock import FakeClock
from tests.support.faulty import Killed
from tests.support.tables import SMALL_BLOOM, batch, content, create

OPTIONS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    """One file group with three logs: ts 2, 3, 4."""
    properties = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    made = create(tmp_path / "t", FakeClock(), **properties)
    for ts in range(1, 5):
        made.write(batch([("a", "p", ts, ts)]), "upsert", OPTIONS)
    return made


def instants(table, as_of=None):
    (file_slice,) = table.file_slices()
    return [block.instant for block in valid_blocks(table.storage, table.timeline, file_slice, as_of)]


def times(table):
    return [instant.time for instant in table.timeline.commits]


def append_log(table, *blocks):
    """One more log of the slice, as another writer would leave it; where commits name their logs, at the end of the last one."""
    (file_slice,) = table.file_slices()
    path = file_slice.log_files[-1].path
    if table.version > 6:
        data = table.storage.read(path)
        table.storage.delete(path)
        table.storage.create(path, data + b"".join(encode_block(*block) for block in blocks))
        return
    version, token = re.search(r"\.log\.(\d+)_(.*)$", path).groups()
    new = path.replace(f".log.{version}_{token}", f".log.{int(version) + 1}_9-9-9")
    table.storage.create(new, b"".join(encode_block(*block) for block in blocks))


@pytest.mark.format("6.5b")
def test_blocks_later_than_the_query_are_skipped(table):
    commits = times(table)
    for last in range(4):
        assert instants(table, commits[last]) == commits[1 : last + 1]
        assert content(table, as_of=commits[last]) == {"a": ("p", last + 1, last + 1)}


@pytest.mark.format("6.5c")
def test_blocks_of_an_instant_that_is_not_committed_are_skipped(table):
    def die():
        raise Killed

    from hoodie.table import WriteHooks

    with pytest.raises(Killed):
        table.write(batch([("a", "p", 9, 9)]), "upsert", OPTIONS, hooks=WriteHooks(before_commit=die))
    logs = [f.path for f in table.storage.list("part=p").files if ".log." in f.name]
    assert len(logs) == 4, "the log of the dead write is there"
    assert instants(table) == times(table)[1:]
    assert content(table) == {"a": ("p", 4, 4)}


@pytest.mark.format("6.2g", "6.5d")
def test_a_command_block_drops_the_blocks_of_its_target(table):
    """Hudi's rollback of version 6; the block may be in another file than its target."""
    commits = times(table)
    headers = {Header.INSTANT_TIME: "x", Header.TARGET_INSTANT_TIME: commits[2], Header.COMMAND_BLOCK_TYPE: "0"}
    append_log(table, (BlockType.COMMAND, headers, b""))
    assert instants(table) == [commits[1], commits[3]]


@pytest.mark.format("6.5f")
def test_the_last_occurrence_is_newer(tmp_path):
    """With equal ordering values nothing but the order of logs, and of blocks inside one, decides."""
    properties = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": "6"}
    table = create(tmp_path / "t", FakeClock(), **properties)
    for value in range(12):  # log 10 comes after log 9
        table.write(batch([("a", "p", 1, value)]), "upsert", OPTIONS)
    assert instants(table) == times(table)[1:]
    assert content(table) == {"a": ("p", 1, 11)}


@pytest.mark.format("6.1a", "6.1b", "6.5g")
def test_every_write_of_ours_is_a_log_of_its_own(table):
    (file_slice,) = table.file_slices()
    blocks = [list(scan_blocks(table.storage, log.path)) for log in file_slice.log_files]
    assert [[block.instant for block in log] for log in blocks] == [[time] for time in times(table)[1:]]
    for block in itertools.chain(*blocks):
        positions = {Header.RECORD_POSITIONS, Header.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS}
        assert set(block.headers) == {Header.INSTANT_TIME, Header.SCHEMA, *(positions if table.version > 6 else ())}
        assert '"_hoodie_record_key"' in block.headers[Header.SCHEMA]


@pytest.mark.format("11h")
def test_logs_after_a_scheduled_compaction_carry_its_instant_in_version_6(table):
    before = {log.path for log in table.file_slices()[0].log_files}
    time = table.schedule(COMPACTION, force=True)
    instant = table.write(batch([("a", "p", 5, 5)]), "upsert", OPTIONS).instant.time
    paths = {f.path for f in table.storage.list("part=p").files if ".log." in f.name}
    (new,) = paths - before
    assert f"_{time if table.version == 6 else instant}.log.1_" in new


def cut(table, keep):
    """Its second log, of a commit that is archived then, has `keep` bytes."""
    (file_slice,) = table.file_slices()
    log = file_slice.log_files[1]
    archive_before(table, times(table)[3])
    data = table.storage.read(log.path)
    table.storage.delete(log.path)
    table.storage.create(log.path, data[:keep])
    return HoodieTable.open(table.base_path)


@pytest.mark.parametrize("keep", [0, 4, -30])
@pytest.mark.parametrize("table", ["9"], indirect=True)
def test_a_log_of_an_archived_commit_that_was_cut_is_refused(table, keep):
    """Older rows would come back, and a compaction would make it final."""
    before = times(table)
    table = cut(table, keep)
    actions = [
        table.read,
        lambda: table.read_incremental(None),
        lambda: table.write(batch([("a", "p", 9, 9)]), "upsert", OPTIONS),
        lambda: (table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1}), table.run(COMPACTION)),
    ]
    for action in actions:
        with pytest.raises(CorruptFileError, match=r"log file .* is damaged.*no log block of commit"):
            action()
    assert times(table) == before[3:]
    assert content(table, as_of=before[3], options={"hoodie.read.check.files": False}) == {"a": ("p", 4, 4)}


@pytest.mark.parametrize("table", ["6"], indirect=True)
def test_a_torn_block_of_an_older_version_is_passed_over(table):
    """Several attempts write one log there, and a writer that died has left the block."""
    assert content(cut(table, -30)) == {"a": ("p", 4, 4)}


def damage(table, place):
    """Other bytes at this place of its second log, whose size stays as it is."""
    (file_slice,) = table.file_slices()
    path = file_slice.log_files[1].path
    data = table.storage.read(path)
    start = {"magic": 0, "length": 8, "instant": data.index(times(table)[2].encode()) + 5, "end": len(data) - 2}[place]
    table.storage.delete(path)
    table.storage.create(path, data[:start] + b"~~" + data[start + 2 :])
    return HoodieTable.open(table.base_path)


@pytest.mark.parametrize(
    ("table", "place"),
    [(version, place) for version in ("6", "9") for place in ("magic", "length", "end")] + [("9", "instant")],
    indirect=["table"],
)
def test_a_damaged_block_of_full_length_is_refused(table, place):
    """Its size is right. Older rows would come back, and a compaction would make it final."""
    before = times(table)
    table = damage(table, place)
    actions = [
        table.read,
        lambda: table.write(batch([("a", "p", 9, 9)]), "upsert", OPTIONS),
        lambda: (table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1}), table.run(COMPACTION)),
    ]
    for action in actions:
        with pytest.raises(CorruptFileError, match=rf"log file .* is damaged.*no log block of commit {before[2]}"):
            action()
    assert times(table) == before
    assert content(table, as_of=before[1]) == {"a": ("p", 2, 2)}
    assert content(table, options={"hoodie.read.check.files": False}) == {"a": ("p", 4, 4)}


@pytest.mark.parametrize("table", ["9"], indirect=True)
def test_a_torn_block_beside_those_of_several_writers_is_passed_over(table):
    """A log that was written before the table was upgraded to version 8, where one has left a torn block."""
    headers = {Header.INSTANT_TIME: times(table)[0]}
    append_log(table, (BlockType.DELETE, headers, b"x"))
    (file_slice,) = table.file_slices()
    path = file_slice.log_files[-1].path
    data = table.storage.read(path)
    table.storage.delete(path)
    torn = data[: data.rindex(b"#HUDI#")] + b"#HUDI#torn" + data[data.rindex(b"#HUDI#") :]
    table.storage.create(path, torn)
    (file_slice,) = HoodieTable.open(table.base_path).file_slices()
    found = valid_blocks(table.storage, table.timeline, file_slice, check=LogCheck.OWN)
    assert [block.instant for block in found] == [*times(table)[1:], times(table)[0]]
