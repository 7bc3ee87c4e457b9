"""Log compaction: when it is due, what it makes of blocks and deletions, and what it leaves to a compaction."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION, LOG_COMPACTION
from hoodie.errors import LockHeldError, PendingInstantError, UnsupportedTableError
from hoodie.formats.log import BlockType, Header, scan_blocks
from hoodie.markers import DirectMarkers
from hoodie.transaction.locks import service_lock
from hoodie.view.log_blocks import blocks_of, valid_blocks
from tests.support.clock import FakeClock
from tests.support.locks import NO_WAIT
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
TWO = {"hoodie.log.compaction.blocks.threshold": 2, **SMALL_BLOOM}


@pytest.fixture(params=["9", "6"])
def version(request, monkeypatch):
    """We plan none in version 6, but carry out what Hudi planned: as if it had."""
    monkeypatch.setattr("hoodie.services.log_compaction.plan.check_supported", lambda _state: None)
    return request.param


@pytest.fixture
def table(version, tmp_path):
    """One file group of three rows in partition p, one of one row in q."""
    return made(tmp_path, version)


def made(tmp_path, version, **options):
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version, **options}
    table = create(tmp_path / "t", FakeClock(), **options)
    rows = [("a", "p", 1, 1), ("b", "p", 1, 1), ("d", "p", 1, 1), ("c", "q", 1, 1)]
    table.write(batch(rows), "insert", NO_SMALL_FILES)
    return table


def write(table, *rows, operation="upsert"):
    table.write(batch([(key, "q" if key == "c" else "p", ts, ts) for key, ts in rows]), operation, NO_SMALL_FILES)


def logs(table, partition="part=p"):
    (file_slice,) = [s for s in table.file_slices() if s.partition == partition]
    return file_slice


def counted(table):
    state = table.state()
    return valid_blocks(state.storage, state.timeline, logs(table))


def test_due_by_blocks(table):
    wanted = {"hoodie.log.compaction.blocks.threshold": 3}
    for ts in (2, 3):
        write(table, ("a", ts), ("c", ts))
    assert table.schedule(LOG_COMPACTION, wanted) is None
    assert "0 file groups have 3 log blocks" in table.explain(LOG_COMPACTION, wanted).reason
    write(table, ("a", 4))
    explained = table.explain(LOG_COMPACTION, wanted)
    assert [(op.partition, len(op.log_files)) for op in explained.plan.operations] == [("part=p", 3)]
    size = sum(log.info.size for log in logs(table).log_files)
    assert [(item.bytes, item.facts["bytes_written"]) for item in explained.items] == [(size, size)]
    assert explained.items.bytes == size
    time = table.schedule(LOG_COMPACTION, wanted)
    assert table.schedule(LOG_COMPACTION, wanted) is None
    (result,) = table.run(LOG_COMPACTION, time=time)
    assert (result.instant.action, result.metadata.operation) == ("deltacommit", "LOG_COMPACT")
    assert table.schedule(LOG_COMPACTION, wanted) is None, "merged once"
    assert table.timeline.pending == ()


@pytest.mark.format("6.5e")
@pytest.mark.parametrize(
    ("version", "mode"),
    # Not commit time in version 6: there the payload class decides, which tests/interop has.
    [("9", "EVENT_TIME_ORDERING"), ("9", "COMMIT_TIME_ORDERING"), ("6", "EVENT_TIME_ORDERING")],
    indirect=["version"],
)
def test_what_the_merged_block_holds(tmp_path, version, mode):
    table = made(tmp_path, version, **{"hoodie.record.merge.mode": mode})
    write(table, ("a", 3), ("b", 2))
    write(table, ("a", 2))  # late
    write(table, ("b", 0), ("d", 0), operation="delete")
    write(table, ("d", 0))  # back, and older than the base row
    expected = content(table)
    written = table.read(columns=["id", "_hoodie_commit_time", "_hoodie_commit_seqno"]).sort_by("id")
    time = table.schedule(LOG_COMPACTION, TWO)
    write(table, ("a", 5), ("b", 5))  # written between plan and execution: wins over what the plan took
    between = content(table)
    assert between == {**expected, "a": ("p", 5, 5), "b": ("p", 5, 5)}
    (result,) = table.run(LOG_COMPACTION, time=time)
    assert content(table) == between
    now = table.read(columns=written.column_names).sort_by("id")
    assert now.filter([row["id"] in "cd" for row in now.to_pylist()]).equals(
        written.filter([row["id"] in "cd" for row in written.to_pylist()])
    ), "rows keep their commit"
    assert content(table, as_of=max(i.time for i in table.timeline.commits if i.time < time)) == expected
    (stat,) = result.metadata.stats
    blocks = list(scan_blocks(table.storage, stat.path))
    assert {block.kind for block in blocks} == {BlockType.PARQUET_DATA, BlockType.DELETE}
    assert {block.instant for block in blocks} == {time}
    assert len(blocks[0].headers[Header.COMPACTED_BLOCK_TIMES].split(",")) == 4
    assert (stat.num_writes, stat.num_deletes) == (2, 1)
    assert [block.instant for block in counted(table)][:2] == [time, time]
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table) == between


@pytest.mark.format("6.5e")
def test_headers_that_were_read_before_the_lock_are_not_read_again_under_it(table, monkeypatch):
    for ts in (2, 3):
        write(table, ("a", ts), ("c", ts))
    read = []

    def counted(storage, log):
        read.append(log.path)
        return blocks_of(storage, log)

    monkeypatch.setattr("hoodie.services.log_compaction.plan.blocks_of", counted)
    assert table.schedule(LOG_COMPACTION, TWO)
    assert sorted(read) == sorted({log.path for s in table.file_slices() for log in s.log_files})


def test_merged_blocks_are_merged_again(table):
    for ts in (2, 3):
        write(table, ("a", ts))
    first = table.schedule(LOG_COMPACTION, TWO)
    table.run(LOG_COMPACTION, time=first)
    write(table, ("b", 4), operation="delete")
    assert len(counted(table)) == 2
    second = table.schedule(LOG_COMPACTION, TWO)
    table.run(LOG_COMPACTION, time=second)
    assert {block.instant for block in counted(table)} == {second}
    assert content(table) == {"a": ("p", 3, 3), "d": ("p", 1, 1), "c": ("q", 1, 1)}


def test_a_deletion_keeps_its_ordering_value(tmp_path, monkeypatch):
    """Hudi deletes with ordering values: such a deletion loses against a greater row."""
    table = made(tmp_path, "9")
    import hoodie.write.worker.log_file as module

    original = module.encode_deletes
    import pyarrow as pa

    monkeypatch.setattr(
        module, "encode_deletes", lambda keys, part, *_: original(keys, part, [pa.chunked_array([[4] * len(keys)])])
    )
    write(table, ("a", 4), ("b", 4), operation="delete")
    monkeypatch.undo()
    write(table, ("a", 3), ("b", 6))
    expected = content(table)
    assert set(expected) == {"b", "c", "d"}
    table.run(LOG_COMPACTION, time=table.schedule(LOG_COMPACTION, TWO))
    assert content(table) == expected
    write(table, ("a", 3))
    assert content(table) == expected, "still later than that row"
    write(table, ("a", 5))
    assert content(table)["a"] == ("p", 5, 5)


def test_what_a_compaction_took_meanwhile_is_passed_over(table):
    """Before it is executed, and after: a merged block whose blocks are in an older slice is not read."""
    for ts in (2, 3):
        write(table, ("a", ts), ("c", ts))
    time = table.schedule(LOG_COMPACTION, TWO)
    write(table, ("a", 4))
    full = table.schedule(COMPACTION, force=True)
    (result,) = table.run(LOG_COMPACTION, time=time)
    assert result.metadata.stats == ()
    table.run(COMPACTION, time=full)
    assert content(table)["a"] == ("p", 4, 4)
    assert table.timeline.pending == ()


def test_a_merged_block_that_comes_after_a_compaction_began(tmp_path, monkeypatch):
    """The compaction is scheduled while the log compaction works; in commit time ordering its rows must not come back."""
    table = made(tmp_path, "9", **{"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"})
    for ts in (2, 3):
        write(table, ("a", ts))
    time = table.schedule(LOG_COMPACTION, TWO)
    original = DirectMarkers.create

    def meanwhile(*arguments):
        monkeypatch.undo()
        write(table, ("a", 9))
        table.schedule(COMPACTION, force=True)
        original(*arguments)

    monkeypatch.setattr(DirectMarkers, "create", meanwhile)
    table.run(LOG_COMPACTION, time=time)
    assert content(table)["a"] == ("p", 9, 9)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table)["a"] == ("p", 9, 9)
    write(table, ("b", 9))
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table) == {"a": ("p", 9, 9), "b": ("p", 9, 9), "d": ("p", 1, 1), "c": ("q", 1, 1)}


def test_incremental_reads_pass_over_it(table):
    write(table, ("a", 2))
    start = table.timeline.last_commit
    write(table, ("b", 2))
    table.run(LOG_COMPACTION, time=table.schedule(LOG_COMPACTION, TWO))
    since = start.completion_time if start.completion_time and table.version != 6 else start.time
    assert table.read_incremental(since)["id"].to_pylist() == ["b"]
    last = table.timeline.last_commit
    assert table.read_incremental(last.time).num_rows == 0


def test_only_one_process_executes_it_and_only_once(table):
    for ts in (2, 3):
        write(table, ("a", ts))
    time = table.schedule(LOG_COMPACTION, TWO)
    with service_lock(table.storage, table.clock, f"compaction-{time}", NO_WAIT), pytest.raises(LockHeldError):
        table.run(LOG_COMPACTION, {"hoodie.write.lock.wait_time_ms": 0}, time=time)
    table.run(LOG_COMPACTION, time=time)
    with pytest.raises(PendingInstantError):
        table.run(LOG_COMPACTION, time=time)


def test_a_log_compaction_that_was_taken_back_while_it_worked(table, monkeypatch):
    """Hudi rolls a log compaction back that it finds inflight: it must not complete after that."""
    for ts in (2, 3):
        write(table, ("a", ts))
    time = table.schedule(LOG_COMPACTION, TWO)
    original = DirectMarkers.create

    def taken_back(*arguments):
        original(*arguments)
        for file in table.storage.list(table.state().layout.folder).files:
            if file.name.startswith(f"{time}.logcompaction"):
                table.storage.delete(file.path)

    monkeypatch.setattr(DirectMarkers, "create", taken_back)
    with pytest.raises(PendingInstantError, match=time):
        table.run(LOG_COMPACTION, time=time)
    assert len(logs(table).log_files) == 2, "what it wrote is deleted"
    assert content(table)["a"] == ("p", 3, 3)


def test_where_it_is_refused(tmp_path):
    table = made(tmp_path, "6")
    with pytest.raises(UnsupportedTableError, match=r"version 6.*compact the table fully"):
        table.schedule(LOG_COMPACTION)
    with pytest.raises(UnsupportedTableError, match="COPY_ON_WRITE"):
        create(tmp_path / "cow", FakeClock()).schedule(LOG_COMPACTION)
    partial = made(tmp_path / "p", "9", **{"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"})
    with pytest.raises(UnsupportedTableError, match="partial"):
        partial.schedule(LOG_COMPACTION)


@pytest.mark.format("11c")
def test_the_cleaner_keeps_what_a_plan_names(table):
    for ts in (2, 3):
        write(table, ("a", ts))
    time = table.schedule(LOG_COMPACTION, TWO)
    full = table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, time=full)
    for ts in (4, 5):
        write(table, ("a", ts))
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert table.run(LOG_COMPACTION, time=time)[0].metadata.stats == ()
    assert content(table)["a"] == ("p", 5, 5)
