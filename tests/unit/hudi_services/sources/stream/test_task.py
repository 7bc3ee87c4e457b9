"""A stream into a table: batch by batch, each change once, also under kills, and only where it fits."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hoodie.table
import hudi_services.sources.ingest.target
from hoodie import CLEAN, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ChangeRangeError, ConfigError
from hoodie.schema.changes import AddColumn, DropColumn
from hoodie.storage import storage_of
from hudi_services.entry.call import Call
from hudi_services.sources.ingest import rounds
from hudi_services.sources.ingest.rounds import Pace, Rounds
from hudi_services.sources.stream.entry import STREAM
from tests.support.changes import counted
from tests.support.clock import FakeClock
from tests.support.crashes import failures
from tests.support.faulty import Killed
from tests.support.matrix import DEEP
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, content, create

PLAIN = {
    name: str(value)
    for name, value in {**OPTIONS, **SMALL_BLOOM, "hoodie.table.name": "copy"}.items()
    if "ordering" not in name
}


def stream(source, target, *flags, options=PLAIN, tell=lambda _: None):
    """Run the command's task with flags."""
    named = () if source is None else ("--source-table", str(source))
    return STREAM.command.called(Call(str(target), options, tell), (*named, *flags))


def run(source, target, *flags, **more):
    return stream(source, target, *flags, **more).run(LocalEngine(2))


@pytest.fixture
def pair(tmp_path):
    source = create(tmp_path / "trips")
    source.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), options=SMALL_BLOOM)
    return source, tmp_path / "copy"


def same(source, target):
    return counted(HoodieTable.open(target).read()) == counted(source.read())


def test_a_run_ends_with_the_commits_that_were_there(pair):
    source, target = pair
    lines = []
    run(source.base_path, target, tell=lines.append)
    for number in range(2, 5):
        source.write(batch([("a", "p", number, number)]), options=SMALL_BLOOM)
    source.write(batch([("b", "p", 9, 9)]), "delete", SMALL_BLOOM)
    done = run(source.base_path, target, "--max-commits", "2", tell=lines.append)
    assert done.message.startswith("2 commits, the last: ")
    assert (done.service, done.rows_updated, done.rows_deleted, done.lag_seconds) == ("stream", 2, 1, 0)
    assert [line.partition(":")[0] for line in lines] == ["batch 1", "batch 1", "batch 2"]
    assert same(source, target)
    idle = run(source.base_path, target)
    assert (idle.instant, idle.message[:13]) == (None, "nothing to do")


def test_one_batch_says_how_far_it_is_behind(pair):
    source, target = pair
    run(source.base_path, target)
    for number in range(2, 4):
        source.write(batch([("a", "p", number, number)]), options=SMALL_BLOOM)
    done = run(source.base_path, target, "--once", "--max-commits", "1")
    assert done.lag_seconds > 0
    assert "behind the source" in done.message


def test_a_stream_that_lasts_takes_in_what_comes(pair):
    source, target = pair
    written = []

    class Sleeper(FakeClock):
        def sleep(self, seconds):
            super().sleep(seconds)
            if len(written) < 2:
                written.append(source.write(batch([("late", "p", len(written), 1)]), options=SMALL_BLOOM))

    task = stream(source.base_path, target)
    _, request = task.target(LocalEngine(1))
    done = Rounds("stream", request, Pace(lasting=timedelta(minutes=1)), task.tell, clock=Sleeper()).run(LocalEngine(2))
    assert done.rows_inserted == 3
    assert same(source, target)


def test_the_source_keeps_what_the_stream_has_not_read(pair):
    source, target = pair
    run(source.base_path, target)
    position = source.consumer("stream-copy").position
    source.write(batch([("b", "p", 9, 9)]), "delete", SMALL_BLOOM)
    for number in range(2, 6):
        source.write(batch([("a", "p", number, number)]), options=SMALL_BLOOM)
    source.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    run(source.base_path, target)
    assert same(source, target)
    assert source.consumer("stream-copy").position > position


def test_the_position_is_noted_before_the_history_is_loaded(pair, monkeypatch):
    source, target = pair

    def load(*_):
        noted.append(source.consumer("stream-copy").position)
        raise Killed

    noted = []
    monkeypatch.setattr(rounds, "run_ingest", load)
    with pytest.raises(Killed):
        run(source.base_path, target)
    assert noted == [source.timeline.last_commit.completion_time]


def test_a_pause_ends_a_stream_between_batches(pair):
    source, target = pair
    run(source.base_path, target)
    for number in range(2, 5):
        source.write(batch([("a", "p", number, number)]), options=SMALL_BLOOM)
    (target / ".hoodie/.paused").mkdir()
    (target / ".hoodie/.paused/pause.json").write_text(
        json.dumps({"by": "ops", "reason": "move", "since": "2026-01-01T00:00:00+00:00", "until": None})
    )
    done = run(source.base_path, target, "--max-commits", "1")
    assert "paused by ops" in done.message
    assert done.rows_updated == 1


def test_explain_changes_nothing(pair):
    source, target = pair
    decision = stream(source.base_path, target).explain(LocalEngine(1))
    assert "all rows of table trips" in decision.reason
    assert not target.exists()
    assert source.consumer("stream-copy").position is None


def test_changes_do_not_go_where_they_would_be_lost(pair):
    source, target = pair
    with pytest.raises(ConfigError, match="ordering by ts"):
        run(source.base_path, target, options={**PLAIN, "hoodie.table.ordering.fields": "ts"})
    with pytest.raises(ConfigError, match="record key value, and id in the source"):
        run(source.base_path, target, options={**PLAIN, "hoodie.table.recordkey.fields": "value"})
    unpartitioned = {name: value for name, value in PLAIN.items() if "partition" not in name}
    with pytest.raises(ConfigError, match="part neither in the record key nor in the partitions"):
        run(source.base_path, target, options=unpartitioned)
    assert not target.exists()
    rows = {**PLAIN, "hoodie.table.ordering.fields": "ts"}
    assert run(source.base_path, target, "--read", "rows", options=rows).rows_inserted == 2


def test_a_table_with_other_partitions_takes_the_changes_of_unique_keys(pair):
    source, target = pair
    moves = {**SMALL_BLOOM, "hoodie.index.type": "GLOBAL_SIMPLE"}
    other = {**PLAIN, "hoodie.table.partition.fields": "value"}
    run(source.base_path, target, "--unique-keys", options=other)
    source.write(batch([("a", "q", 2, 2)]), options=moves)
    source.write(batch([("b", "p", 3, 3)]), options=moves)
    source.write(batch([("a", "q", 4, 1)]), options=moves)
    run(source.base_path, target, "--unique-keys", "--max-commits", "2", options=other)
    assert same(source, target)


def test_flags_that_contradict_each_other(tmp_path):
    for flags in (
        ("--once", "--for", "1"),
        ("--source-path", str(tmp_path)),
        ("--operation", "insert"),
    ):
        with pytest.raises(ConfigError):
            stream(tmp_path, tmp_path / "copy", *flags)
    with pytest.raises(ConfigError, match="no --source-table"):
        stream(None, tmp_path / "copy", "--source-path", str(tmp_path), "--max-commits", "1")


def test_files_come_in_once_history_by_a_bulk_insert_of_one_row_a_key(tmp_path):
    land, target = tmp_path / "land", tmp_path / "copy"
    land.mkdir()
    pq.write_table(
        pa.concat_tables([batch([("a", "p", 1, 1)]), batch([("a", "p", 2, 2), ("b", "p", 1, 1)])]), land / "1.parquet"
    )
    first = run(None, target, "--source-path", str(land))
    table = HoodieTable.open(target)
    assert table.state().commit_metadata(table.timeline.last_commit).operation == "BULK_INSERT"
    assert (first.rows_inserted, first.rows_duplicate) == (2, 1)
    pq.write_table(batch([("a", "p", 3, 3)]), land / "2.parquet")
    assert run(None, target, "--source-path", str(land)).rows_updated == 1
    assert run(None, target, "--source-path", str(land)).instant is None


@pytest.mark.deep("a first load has many calls")
def test_a_first_load_that_dies_at_any_call_is_followed_by_the_changes(tmp_path, monkeypatch):
    """The history is loaded once, whole, and the stream goes on behind it."""
    source = create(tmp_path / "trips")
    source.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)]), options=SMALL_BLOOM)
    (tmp_path / "copy").mkdir()
    deaths = 0

    def action(storage, _clock):
        def opened(path):
            return storage if str(path) == storage.base_path else storage_of(path)

        with monkeypatch.context() as patch:
            patch.setattr(hoodie.table, "storage_of", opened)
            patch.setattr(hudi_services.sources.ingest.target, "open_storage", opened)
            run(source.base_path, storage.base_path, "--history", "bulk_insert")

    for number, (storage, _, error) in enumerate(failures(tmp_path / "copy", action, "kill"), 2):
        deaths += isinstance(error, Killed)
        run(source.base_path, storage.base_path)
        assert same(source, storage.base_path), (storage.fail_at, error)
        source.write(batch([("a", "p", number, number)]), options=SMALL_BLOOM)
        run(source.base_path, storage.base_path)
        assert same(source, storage.base_path), (storage.fail_at, error)
    assert deaths > 10


@pytest.mark.parametrize(
    ("where", "half"),
    [
        ("copy", False),
        pytest.param("copy", True, marks=pytest.mark.deep("calls that are half done take ten seconds")),
        ("trips", False),
    ],
)
def test_a_stream_that_dies_at_any_call_has_each_change_once(tmp_path, monkeypatch, where, half):
    """The call is one of the target, or of the source: a look, or the position of its consumer."""
    source = create(tmp_path / "trips")
    source.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), options=SMALL_BLOOM)
    run(source.base_path, tmp_path / "copy")
    source.write(batch([("a", "p", 2, 2), ("d", "p", 2, 2)]), options=SMALL_BLOOM)
    if DEEP:
        source.write(batch([("b", "p", 2, 2)]), "delete", SMALL_BLOOM)
    shutil.copytree(tmp_path / "copy", tmp_path / "before")
    deaths = 0

    def tables(storage):
        places = {"trips": source.base_path, "copy": str(tmp_path / "copy"), where: storage.base_path}
        return places["trips"], places["copy"]

    def action(storage, _clock):
        shutil.rmtree(tmp_path / "copy")
        shutil.copytree(tmp_path / "before", tmp_path / "copy")
        with monkeypatch.context() as patch:
            patch.setattr(
                hoodie.table, "storage_of", lambda path: storage if str(path) == storage.base_path else storage_of(path)
            )
            run(*tables(storage), "--max-commits", "1")

    for storage, _, error in failures(tmp_path / where, action, "kill", half):
        deaths += isinstance(error, Killed)
        run(*tables(storage))
        assert same(source, tables(storage)[1]), (storage.fail_at, error)
    assert deaths > 1


@pytest.mark.parametrize("read", ["changes", "rows"])
def test_a_column_that_the_source_drops_is_not_kept_in_some_rows(pair, read):
    """Rows that change would be null there, the others would keep their values."""
    source, target = pair
    run(source.base_path, target, "--read", read)
    source.alter([DropColumn("value")])
    source.write(batch([("a", "p", 2, 2)]).drop_columns("value"), options=SMALL_BLOOM)
    with pytest.raises(ChangeRangeError, match=r"column 'value' was dropped.*resnapshot"):
        run(source.base_path, target, "--read", read)
    assert content(HoodieTable.open(target)) == {"a": ("p", 1, 1), "b": ("p", 1, 1)}
    run(source.base_path, target, "--read", read, "--on-data-loss", "resnapshot")
    source.write(batch([("a", "p", 3, 3)]).drop_columns("value"), options=SMALL_BLOOM)
    run(source.base_path, target, "--read", read)
    assert content(HoodieTable.open(target)) == {"a": ("p", 3, None), "b": ("p", 1, None)}


@pytest.mark.parametrize("read", ["changes", "rows"])
def test_a_column_that_has_another_name_is_not_mixed_with_the_one_before(pair, read):
    """The rows that did not change would keep their values under the old name, and those that changed have the new one."""
    source, target = pair
    run(source.base_path, target, "--read", read)
    source.alter([DropColumn("value"), AddColumn("value", pa.int64())])
    source.write(batch([("a", "p", 2, 2)]), options=SMALL_BLOOM)
    with pytest.raises(ChangeRangeError, match=r"'value' is the name of another column.*resnapshot"):
        run(source.base_path, target, "--read", read)
    assert content(HoodieTable.open(target)) == {"a": ("p", 1, 1), "b": ("p", 1, 1)}
    run(source.base_path, target, "--read", read, "--on-data-loss", "resnapshot")
    source.write(batch([("a", "p", 3, 3)]), options=SMALL_BLOOM)
    run(source.base_path, target, "--read", read)
    assert content(HoodieTable.open(target)) == content(source) == {"a": ("p", 3, 3), "b": ("p", 1, None)}
