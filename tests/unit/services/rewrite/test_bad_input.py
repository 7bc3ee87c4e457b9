"""Broken input of a compaction: each is named, nothing is lost, and there is a way out."""

from __future__ import annotations

import multiprocessing
import re
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import COMPACTION, LOG_COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import (
    CorruptFileError,
    CorruptTableError,
    HoodieError,
    LockHeldError,
    MissingFileError,
    PendingInstantError,
    SchemaConflictError,
    UnsupportedTableError,
)
from hoodie.formats.log import BlockType, Header, encode_block, read_content, scan_blocks
from hoodie.timeline import Action
from hoodie.transaction import instants
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
TWO = {"hoodie.log.compaction.blocks.threshold": 2, **SMALL_BLOOM}
EXPECTED = {"a": ("p", 3, 3), "b": ("p", 2, 2), "c": ("q", 1, 1)}
BOTH = pytest.mark.parametrize("kind", ["full", "logs"])


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path, monkeypatch, templates):
    """A group with two logs in partition p, one without logs in q. In version 6 log compactions are planned by Hudi only."""
    monkeypatch.setattr("hoodie.services.log_compaction.plan.check_supported", lambda _state: None)
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    return templates.filled(create(tmp_path / "t", FakeClock(), **options), _fill)


def _fill(made):
    made.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]), "insert", NO_SMALL_FILES)
    made.write(batch([("a", "p", 2, 2), ("b", "p", 2, 2)]), "upsert", NO_SMALL_FILES)
    made.write(batch([("a", "p", 3, 3)]), "upsert", NO_SMALL_FILES)
    assert content(made) == EXPECTED


def schedule(table, kind):
    return table.schedule(COMPACTION, force=True) if kind == "full" else table.schedule(LOG_COMPACTION, TWO)


def execute(table, time, options=None):
    """Carry out a plan of either kind."""
    of_logs = any(i.time == time and i.action is Action.LOG_COMPACTION for i in table.timeline.pending)
    return table.run(LOG_COMPACTION if of_logs else COMPACTION, options, time=time)


def logs(table):
    return [log for s in table.file_slices() for log in s.log_files]


def plan_file(table, time):
    (file,) = [f for f in table.storage.list(table.state().layout.folder).files if f.name.startswith(f"{time}.")]
    return file.path


def _compact(path, time, barrier, outcomes):
    table = HoodieTable.open(path, engine=LocalEngine(1))
    barrier.wait()
    try:
        execute(table, time, {**SMALL_BLOOM, "hoodie.write.lock.wait_time_ms": 0})
        outcomes.put("done")
    except (LockHeldError, PendingInstantError) as error:
        outcomes.put(type(error).__name__)


@BOTH
def test_two_processes_execute_one_plan_at_once(table, kind):
    time = schedule(table, kind)
    context = multiprocessing.get_context("fork")
    barrier, outcomes = context.Barrier(2), context.Queue()
    workers = [context.Process(target=_compact, args=(table.base_path, time, barrier, outcomes)) for _ in range(2)]
    for worker in workers:
        worker.start()
    found = sorted(outcomes.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
    assert found[1] == "done"
    assert found[0] in ("LockHeldError", "PendingInstantError")
    assert content(table) == EXPECTED
    assert table.timeline.pending == ()


def test_two_plans_that_name_one_group(table):
    time = schedule(table, "full")
    body = table.storage.read(plan_file(table, time))
    state = table.state()
    later = instants.request(state, str(int(time) + 1000), Action.COMPACTION, body)
    for each in (time, later.time):
        with pytest.raises(CorruptTableError, match=rf"{each}.*planned twice.*part=p.*unschedule"):
            execute(table, each)
    assert content(table) == EXPECTED
    table.storage.delete(plan_file(table, later.time))
    execute(table, time, SMALL_BLOOM)
    instants.request(table.state(), later.time, Action.COMPACTION, body)
    with pytest.raises(CorruptTableError, match=rf"{later.time}.*out of date.*{time}\.parquet"):
        execute(table, later.time)
    assert content(table) == EXPECTED


@BOTH
@pytest.mark.parametrize("gone", ["base", "log"])
def test_a_file_of_the_plan_is_missing(table, kind, gone):
    time = schedule(table, kind)
    (file_slice,) = [s for s in table.file_slices() if s.log_files]
    path = file_slice.base_file.path if gone == "base" else file_slice.log_files[0].path
    kept = table.storage.read(path)
    table.storage.delete(path)
    with pytest.raises(MissingFileError, match=re.escape(path)):
        execute(table, time)
    table.storage.create(path, kept)
    execute(table, time, SMALL_BLOOM)
    assert content(table) == EXPECTED


def test_a_log_without_its_base_is_named(table):
    """By plans, reads and writes: the rows of the base file would silently be missing, or be inserted once more."""
    (file_slice,) = [s for s in table.file_slices() if s.log_files]
    path = file_slice.base_file.path
    kept = table.storage.read(path)
    table.storage.delete(path)
    for use in (
        lambda: schedule(table, "full"),
        lambda: schedule(table, "logs"),
        table.read,
        lambda: table.read(as_of=table.timeline.commits[-2].time),
        lambda: table.read_incremental(None),
        lambda: table.write(batch([("b", "p", 9, 9)]), "upsert", NO_SMALL_FILES),
    ):
        with pytest.raises(MissingFileError, match=rf"base file of table.*{file_slice.file_id}"):
            use()
    assert table.timeline.pending == ()
    table.storage.create(path, kept)
    assert content(table) == EXPECTED


@BOTH
@pytest.mark.parametrize("damage", ["torn", "empty"])
def test_a_corrupt_plan(table, kind, damage):
    time = schedule(table, kind)
    path = plan_file(table, time)
    whole = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, whole[:-40] if damage == "torn" else b"")
    with pytest.raises(CorruptTableError, match=rf"{time}.*compaction\.requested"):
        execute(table, time)
    assert content(table) == EXPECTED
    table.storage.delete(path)
    table.storage.create(path, whole)
    execute(table, time, SMALL_BLOOM)
    assert content(table) == EXPECTED


def spoil(table, log, data):
    table.storage.delete(log.path)
    table.storage.create(log.path, data)


@pytest.mark.format("6.5a")
@BOTH
def test_torn_logs_are_passed_over_as_readers_do_and_told(table, kind, caplog):
    """Half a block at the end of a log and rubbish before it: what is whole counts, and is not lost.

    From version 8 on a log has blocks of one commit only, so there it is damage.
    """
    first, second = logs(table)
    good = table.storage.read(first.path)
    spoil(table, first, b"rubbish" + good + good[: len(good) // 2])
    if table.state().properties.version >= 8:
        with pytest.raises(CorruptFileError, match="is damaged"):
            content(table)
        with pytest.raises(CorruptFileError, match="is damaged"):
            execute(table, schedule(table, kind), SMALL_BLOOM)
        return
    assert content(table) == EXPECTED
    for place, size in ((0, len(b"rubbish")), (len(b"rubbish") + len(good), len(good) // 2)):
        assert f"{first.path}: {size} bytes from byte {place} on are not a log block" in caplog.text
    execute(table, schedule(table, kind), SMALL_BLOOM)
    assert content(table) == EXPECTED
    assert second.path in [file.path for file in table.storage.list("part=p").files]


def block(table, kind, content):
    instant = table.timeline.commits[-1].time
    schema = next(iter(scan_blocks(table.storage, logs(table)[-1].path))).headers[Header.SCHEMA]
    return encode_block(kind, {Header.INSTANT_TIME: instant, Header.SCHEMA: schema}, content)


@pytest.mark.format("6.2c")
@BOTH
@pytest.mark.parametrize(
    ("block_kind", "body", "message"),
    [
        (
            BlockType.DELETE,
            struct.pack(">ii", 1, 4) + b"java",
            r"version 1.*before 0\.14.*compact the table with the Hudi",
        ),
        (BlockType.DELETE, struct.pack(">ii", 2, 4) + b"kryo", r"version 2.*before 0\.14"),
        (BlockType.DELETE, struct.pack(">ii", 9, 4) + b"next", "version 9"),
        (BlockType.AVRO_DATA, struct.pack(">ii", 9, 0), "data of version 9"),
        (BlockType.HFILE_DATA, b"DATABLK*", "HFile"),
        (BlockType.PARQUET_DATA, b"PAR1", "PARQUET_DATA block at byte"),
    ],
)
def test_blocks_of_another_version_are_named(table, kind, block_kind, body, message):
    time = schedule(table, kind)
    last = logs(table)[-1]
    whole = table.storage.read(last.path)
    spoil(table, last, whole + block(table, block_kind, body))
    with pytest.raises(HoodieError, match=message) as error:
        execute(table, time, SMALL_BLOOM)
    assert last.path in str(error.value)
    spoil(table, last, whole)
    execute(table, time, SMALL_BLOOM)
    assert content(table) == EXPECTED


def test_an_unknown_delete_version_is_not_called_old(table):
    last = logs(table)[-1]
    spoil(table, last, table.storage.read(last.path) + block(table, BlockType.DELETE, struct.pack(">ii", 9, 0)))
    with pytest.raises(UnsupportedTableError, match="newer"):
        content(table)


def rewrite(table, log, change):
    """The same log with the rows of its Parquet block changed."""
    (found,) = scan_blocks(table.storage, log.path)
    sink = pa.BufferOutputStream()
    pq.write_table(change(pq.read_table(pa.BufferReader(read_content(table.storage, found)))), sink)
    spoil(table, log, encode_block(found.kind, found.headers, sink.getvalue().to_pybytes()))


def recast(name, kind):
    return lambda rows: rows.set_column(rows.schema.get_field_index(name), name, rows[name].cast(kind))


@BOTH
def test_mixed_schemas(table, kind):
    """An added column, numbers of narrower types, another order of columns."""
    wide = batch([("b", "p", 7, 7)]).append_column("more", pa.array(["x"]))
    table.write(wide, "upsert", NO_SMALL_FILES)
    first, second, last = logs(table)
    rewrite(table, first, recast("ts", pa.int32()))
    rewrite(table, second, recast("value", pa.int32()))
    rewrite(table, last, lambda rows: rows.select(rows.column_names[::-1]))
    before = table.read().sort_by("id")
    assert before["more"].to_pylist() == [None, "x", None]
    execute(table, schedule(table, kind), SMALL_BLOOM)
    assert table.read().sort_by("id").equals(before)
    assert content(table) == {**EXPECTED, "b": ("p", 7, 7)}


@BOTH
def test_a_null_ordering_value(table, kind):
    """It is lower than any other: such a row loses in any order."""
    rewrite(
        table,
        logs(table)[-1],
        lambda rows: recast("ts", pa.int64())(rows.drop(["ts"]).append_column("ts", pa.nulls(1))),
    )
    expected = {**EXPECTED, "a": ("p", 2, 2)}
    assert content(table) == expected
    execute(table, schedule(table, kind), SMALL_BLOOM)
    assert content(table) == expected


@BOTH
def test_an_ordering_value_of_another_type(table, kind):
    time = schedule(table, kind)
    last = logs(table)[-1]
    whole = table.storage.read(last.path)
    rewrite(table, last, lambda rows: rows.drop(["ts"]).append_column("ts", pa.array(["three"])))
    with pytest.raises(SchemaConflictError, match="ts"):
        execute(table, time, SMALL_BLOOM)
    spoil(table, last, whole)
    execute(table, time, SMALL_BLOOM)
    assert content(table) == EXPECTED
