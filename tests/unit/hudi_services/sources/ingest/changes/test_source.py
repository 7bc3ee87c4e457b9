"""A table as the source of another one: what each batch brings, and that the position moves with its rows."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from hoodie import CLEAN, HoodieTable, Restore, Rollback
from hoodie.engine import LocalEngine
from hoodie.errors import ChangeRangeError, ConfigError, CorruptTableError, PendingInstantError, SourceError
from hudi_services.sources.ingest import run as run_module
from hudi_services.sources.ingest.changes.batch import TableBatch
from hudi_services.sources.ingest.changes.source import TableSource
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from tests.support.changes import counted, overtaken
from tests.support.matrix import sample
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, content, create

PLAIN = {name: value for name, value in OPTIONS.items() if "ordering" not in name and "precombine" not in name}
PLACED = ("id", "part")


class Pair:
    """A source, and the target that `follow` brings up to it."""

    def __init__(self, folder, options=(), **of_source):
        self.path = str(folder / "copy")
        self.source = create(folder / "trips", **of_source)
        self.options = dict(options)

    def write(self, rows, operation="upsert", **options):
        return self.source.write(batch(rows), operation, {**SMALL_BLOOM, **options})

    def follow(self, *, history="bulk_insert", operation="upsert", start_fresh=False, **more):
        source = TableSource(self.source.base_path, placed_by=PLACED, **more)
        options = {**PLAIN, **SMALL_BLOOM, **self.options, "hoodie.datasource.overwrite.allow.empty": "true"}
        request = IngestRequest(self.path, source, operation, history, start_fresh, options=options)
        return run_ingest(request, LocalEngine(2))

    @property
    def target(self):
        return HoodieTable.open(self.path, engine=LocalEngine(2))

    def check(self):
        assert counted(self.target.read()) == counted(self.source.read())


@pytest.fixture
def pair(tmp_path):
    return Pair(tmp_path)


def test_history_is_one_bulk_insert_and_changes_follow_in_order(pair):
    pair.write([("a", "p", 1, 1), ("b", "p", 1, 1)])
    pair.write([("c", "q", 1, 1)])
    first = pair.follow()
    assert (first.rows_inserted, first.message.split("; ")[1][:8]) == (3, "all rows")
    assert pair.target.state().commit_metadata(pair.target.timeline.last_commit).operation == "BULK_INSERT"
    pair.check()
    assert pair.follow().instant is None
    pair.write([("a", "p", 2, 2), ("d", "r", 2, 2)])
    pair.write([("b", "p", 2, 2)], "delete")
    pair.write([("c", "q", 3, 3)], "insert_overwrite")
    second = pair.follow()
    assert (second.rows_inserted, second.rows_updated, second.rows_deleted) == (1, 2, 1)
    pair.check()


def test_an_insert_overwrite_that_goes_back_in_order_arrives(pair):
    pair.write([("a", "p", 9, 9)])
    pair.follow()
    pair.write([("a", "p", 1, 1)], "insert_overwrite")
    pair.follow()
    pair.check()


def test_rows_that_move_between_partitions_leave_nothing_behind(pair):
    moves = {"hoodie.index.type": "GLOBAL_SIMPLE"}
    pair.write([("a", "p", 1, 1), ("b", "p", 1, 1)], **moves)
    pair.follow()
    pair.write([("a", "q", 2, 2)], **moves)
    pair.follow(max_commits=1)
    pair.write([("a", "p", 3, 3)], **moves)
    pair.write([("b", "q", 3, 3)], **moves)
    pair.follow()
    pair.check()


def test_limits_of_commits_and_bytes(pair):
    pair.write([("a", "p", 1, 1)])
    pair.follow()
    for number in range(2, 6):
        pair.write([("a", "p", number, number)])
    assert "changes of 2 commits" in pair.follow(max_commits=2).message
    assert "changes of 1 commit " in pair.follow(max_bytes=1).message
    until = TableSource(pair.source.base_path).last()
    pair.write([("b", "p", 9, 9)])
    assert pair.follow(until=until).instant is not None
    assert pair.follow(until=until).instant is None
    pair.follow()
    pair.check()


def test_commits_that_undo_each_other_move_the_position_and_no_row(pair):
    pair.write([("a", "p", 1, 1)])
    pair.follow()
    pair.write([("b", "p", 1, 1)])
    pair.write([("b", "p", 1, 1)], "delete")
    done = pair.follow(max_commits=2)
    assert (done.rows_written, done.instant is not None) == (0, True)
    assert pair.follow().instant is None
    pair.check()


def test_services_of_the_source_are_no_news(pair):
    pair.write([("a", "p", 1, 1)])
    pair.follow()
    pair.source.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert pair.follow().instant is None


def test_rows_without_deletes(pair):
    pair.write([("a", "p", 1, 1), ("b", "p", 1, 1)])
    pair.follow(changes=False)
    pair.write([("a", "p", 2, 2)])
    pair.write([("b", "p", 2, 2)], "delete")
    done = pair.follow(changes=False)
    assert (done.rows_read, done.rows_updated, done.rows_deleted) == (1, 1, 0)
    assert sorted(pair.target.read(columns=["id"])["id"].to_pylist()) == ["a", "b"]


def test_a_stream_may_begin_later(pair):
    pair.write([("a", "p", 1, 1)])
    start = TableSource(pair.source.base_path).last()
    pair.write([("b", "p", 1, 1)])
    pair.follow(start=start)
    assert pair.target.read(columns=["id"])["id"].to_pylist() == ["b"]
    with pytest.raises(ConfigError, match="had no commit then"):
        TableSource(pair.source.base_path, start="2000-01-01").discover(None, _places(pair), start_fresh=False)


def _places(pair):
    return IngestRequest(pair.path, TableSource(pair.source.base_path)).places


def test_ranges_that_are_cleaned_fail_or_are_loaded_again(pair):
    pair.write([("a", "p", 1, 1), ("gone", "q", 1, 1)])
    pair.follow()
    pair.write([("gone", "q", 2, 2)], "delete")
    for number in range(2, 6):
        pair.write([("a", "p", number, number)])
    pair.source.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    before = content(pair.target)
    with pytest.raises(ChangeRangeError, match="resnapshot"):
        pair.follow()
    assert content(pair.target) == before
    assert "all rows" in pair.follow(on_data_loss="resnapshot").message
    pair.check()
    pair.write([("z", "p", 9, 9)])
    pair.follow()
    pair.check()


def test_a_source_that_was_restored_fails_or_is_loaded_again(pair):
    kept = pair.write([("a", "p", 1, 1)]).instant.time
    pair.source.savepoint(kept)
    pair.write([("a", "p", 2, 2), ("b", "p", 2, 2)])
    pair.follow()
    pair.source.run(Restore(kept))
    with pytest.raises(ChangeRangeError, match="resnapshot"):
        pair.follow()
    pair.follow(on_data_loss="resnapshot")
    pair.check()


def test_an_empty_source_empties_a_target_that_is_loaded_again(pair):
    pair.write([("a", "p", 1, 1)])
    pair.follow()
    pair.write([("a", "p", 1, 1)], "delete")
    for _ in range(3):
        pair.write([("b", "p", 1, 1)])
        pair.write([("b", "p", 1, 1)], "delete")
    pair.source.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    pair.follow(on_data_loss="resnapshot")
    assert pair.target.read().num_rows == 0


def test_all_rows_are_those_at_the_position(pair):
    """In version 6 commits after a write that goes on are not taken in yet."""
    first = pair.write([("a", "p", 1, 1)]).instant.completion_time
    pair.write([("a", "p", 2, 2), ("b", "p", 2, 2)])
    history, schema = TableBatch(state=pair.source.state(), end=first).opened(None, LocalEngine(1))
    rows = [each.rows for split in history.splits(schema, 2, None) for each in split.tables(None)]
    assert pa.concat_tables(rows).to_pylist() == [{"id": "a", "part": "p", "ts": 1, "value": 1}]


def test_a_history_does_not_meet_the_rows_of_another_writer(pair, monkeypatch):
    pair.write([("a", "p", 1, 1)])
    target = HoodieTable.create(pair.path, PLAIN, engine=LocalEngine(1))
    prepare = run_module.prepare

    def overtaken(*args):
        prepared = prepare(*args)
        target.write(batch([("a", "p", 0, 0)]))
        return prepared

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "prepare", overtaken)
        with pytest.raises(PendingInstantError, match="before its history was loaded"):
            pair.follow()
    pair.follow()
    pair.check()


def test_the_position_of_another_table_is_refused(pair, tmp_path):
    pair.write([("a", "p", 1, 1)])
    pair.follow()
    other = HoodieTable.create(tmp_path / "other", {**PLAIN, "hoodie.table.name": "other"})
    other.write(batch([("x", "p", 1, 1)]))
    pair.source = other
    with pytest.raises(ConfigError, match=r"continues table 'trips'"):
        pair.follow()
    pair.follow(start_fresh=True)
    assert sorted(pair.target.read(columns=["id"])["id"].to_pylist()) == ["a", "x"]


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(SourceError, match="is not there"):
        TableSource(str(tmp_path / "none")).last()


def test_a_position_that_cannot_be_read(pair):
    pair.write([("a", "p", 1, 1)])
    pair.follow()
    pair.target.write(batch([("b", "p", 1, 1)]), extra_metadata={"hudi_services.stream.position": "{}"})
    with pytest.raises(CorruptTableError, match="--start-fresh"):
        pair.follow()


LOGS = {"hoodie.table.type": "MERGE_ON_READ"}
OLD = {"hoodie.write.table.version": "6"}


@pytest.mark.parametrize(
    ("seed", "of_source", "of_target"),
    sample([(0, {}, {}), (1, LOGS, {}), (2, {}, LOGS), (3, OLD, LOGS), (4, LOGS | OLD, OLD)], 1, 3, 4),
)
def test_random_histories_end_as_the_source(tmp_path, seed, of_source, of_target):
    pair = Pair(tmp_path, of_target, **of_source)
    dice = random.Random(seed)
    for version in range(1, 12):
        rows = [(dice.choice("abcdef"), dice.choice("pq"), version, version) for _ in range(3)]
        rows = list({row[:2]: row for row in rows}.values())
        operation = dice.choice(("upsert", "upsert", "delete", "insert_overwrite")) if version > 1 else "upsert"
        pair.write(rows, operation)
        if dice.random() < 0.4:
            pair.follow(max_commits=dice.choice((1, 2, None)))
    while pair.follow(max_commits=dice.choice((1, 3))).instant is not None:
        pass
    pair.check()


def test_a_rollback_in_the_source_behind_a_commit_that_completed_later(pair):
    overtaken(pair.source)
    pair.follow()
    pair.source.run(Rollback(pair.source.timeline.commits[-1].time))
    with pytest.raises(ChangeRangeError, match="no commit that began at"):
        pair.follow()
    pair.follow(on_data_loss="resnapshot")
    pair.check()
