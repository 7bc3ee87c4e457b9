"""The watcher's sum of the gains of services: that of the whole history, in any order of its records."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import CLEAN, HoodieTable
from hoodie.clock import SystemClock
from hudi_services.entry.table import History
from hudi_services.operations.history.record import FAILED, Record, Spent, Started, as_rows
from hudi_services.operations.history.store import _CREATE
from hudi_services.operations.watch.gains import KEPT, Gain, follow_gains, gains_since
from hudi_services.operations.watch.rounds import Watcher
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from tests.support.examples import examples
from tests.support.tables import SMALL_BLOOM

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
ALL = (NOW - KEPT).date()


def record(run: str, days: float, table: str = "orders", service: str = "clean", **more: Any) -> Record:
    began = (NOW - timedelta(days=days)).isoformat(timespec="microseconds")
    return Record(
        Started(run, table, "/lake", service, "local", began, "host"), more.pop("outcome", "done"), began, **more
    )


def write(history: History, *records: Record) -> HoodieTable:
    path = Path(history.path)
    table = HoodieTable.open(str(path)) if path.exists() else HoodieTable.create(str(path), _CREATE)
    table.write(as_rows(records, NOW), "upsert", SMALL_BLOOM)
    return table


def model(records: dict[str, Record]) -> list[tuple[str, str, str, int, int, int, float]]:
    """Sums by hand."""
    found: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for each in records.values():
        day = each.started.began[:10]
        if date.fromisoformat(day) >= ALL:
            found[day, each.started.table, each.started.service].append(each)
    return [
        (
            *key,
            len(rows),
            sum(each.outcome == FAILED for each in rows),
            sum(each.bytes_freed or 0 for each in rows),
            sum(each.spent.cpu_seconds or 0 for each in rows),
        )
        for key, rows in sorted(found.items())
    ]


def told(gains: list[Gain]) -> list[tuple[str, str, str, int, int, int, float]]:
    return [(g.day, g.table, g.service, g.runs, g.failed, g.bytes_freed or 0, g.cpu_seconds or 0) for g in gains]


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore.open(str(tmp_path / "store.db"), make=True)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(path=str(tmp_path / "history"))


def test_days_are_summed_up_and_only_those_that_changed_anew(store: SnapshotStore, history: History) -> None:
    assert gains_since(store, [history], ALL) == [], "nobody has looked"
    assert follow_gains(store, history, NOW) == 0, "there is no history yet"
    write(
        history,
        record("1", 3, bytes_freed=5),
        record("2", 3, bytes_freed=7),
        record("3", 1, "trips", log_bytes_merged=9),
    )
    assert follow_gains(store, history, NOW) == 2
    assert follow_gains(store, history, NOW) == 0
    first, second = gains_since(store, [history], ALL)
    assert (first.table, first.runs, first.bytes_freed, first.log_bytes_merged) == ("orders", 2, 12, None)
    assert (second.table, second.log_bytes_merged, second.bytes_freed) == ("trips", 9, None)
    write(history, record("4", 0, bytes_freed=1))
    assert follow_gains(store, history, NOW) == 1
    assert [each.runs for each in gains_since(store, [history], ALL)] == [2, 1, 1]
    assert [each.table for each in gains_since(store, [history], ALL, "trips")] == ["trips"]
    assert [each.day for each in gains_since(store, [history], NOW.date())] == ["2026-11-23"]


def test_a_history_that_was_moved_or_is_spelled_in_two_ways_counts_once(tmp_path: Path, store: SnapshotStore) -> None:
    path = tmp_path / "history"
    file = tmp_path / "tables.yaml"
    for name in ("history", "moved"):
        here = tmp_path / name
        if name == "moved":
            path.rename(here)
        else:
            write(History(path=str(here)), record("1", 0, bytes_freed=5))
        tables = ", ".join(
            f"{{name: t{at}, base_path: {tmp_path}/t{at}, history: {{path: {here}{end}}}}}"
            for at, end in enumerate(["", "/"])
        )
        file.write_text(f"tables: [{tables}]\n")
        reading = read_registry(file)
        assert len(reading.registry.histories) == 1
        Watcher(store, SystemClock()).round(reading)
        assert [each.bytes_freed for each in gains_since(store, reading.registry.histories, ALL)] == [5]


def test_a_run_that_is_told_again_counts_once(store: SnapshotStore, history: History) -> None:
    write(history, record("1", 2, outcome="killed"))
    follow_gains(store, history, NOW)
    write(history, record("1", 2, bytes_freed=5))
    follow_gains(store, history, NOW)
    (found,) = gains_since(store, [history], ALL)
    assert (found.runs, found.failed, found.bytes_freed) == (1, 0, 5)


@settings(max_examples=examples(16), deadline=None)
@given(st.integers(0, 2**20))
def test_the_sums_are_those_of_all_runs(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder, chance = tmp_path_factory.mktemp("gains"), random.Random(seed)
    store, history = SnapshotStore.open(str(folder / "s.db"), make=True), History(path=str(folder / "history"))
    records: dict[str, Record] = {}
    for _ in range(4):
        batch = []
        for _ in range(chance.randint(1, 4)):
            run = f"r{chance.randrange(8)}"
            days = chance.choice([0.0, 1.0, 40.0, 120.0])
            if run in records:  # a run began once
                began = datetime.fromisoformat(records[run].started.began)
                days = (NOW - began).total_seconds() / 86400
            spent = Spent(1.0, chance.choice([None, 0.5, 2.0]))
            batch.append(
                record(
                    run,
                    days,
                    chance.choice(["a", "b"]) if run not in records else records[run].started.table,
                    outcome=chance.choice(["done", FAILED]),
                    bytes_freed=chance.choice([None, 3, 4]),
                    spent=spent,
                )
            )
        latest = {each.started.run_id: each for each in batch}
        records |= latest
        table = write(history, *latest.values())
        if chance.random() < 0.5:
            follow_gains(store, history, NOW)
        if chance.random() < 0.3:
            table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    follow_gains(store, history, NOW)
    assert told(gains_since(store, [history], ALL)) == model(records)


def test_a_round_of_the_watcher_follows_them_and_no_trouble_with_one_ends_it(tmp_path: Path, caplog: Any) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text(
        f"history: {{path: {tmp_path}/history}}\ntables: [{{name: orders, base_path: {tmp_path}/orders}}]\n"
    )
    reading = read_registry(file)
    assert not reading.mistakes
    store = SnapshotStore.open(str(tmp_path / "store.db"), make=True)
    write(History(path=f"{tmp_path}/history"), record("1", 0, bytes_freed=5))
    began = record("1", 0).started.began[:10]
    Watcher(store, SystemClock()).round(reading)
    assert [each.bytes_freed for each in gains_since(store, reading.registry.histories, date.fromisoformat(began))] == [
        5
    ]
    (tmp_path / "history/.hoodie/hoodie.properties").write_text("hoodie.table.version=99\n")
    other = f"{{name: trips, base_path: {tmp_path}/trips, history: {{path: {tmp_path}/other}}}}"
    file.write_text(file.read_text().replace("/orders}]", f"/orders}}, {other}]"))
    write(History(path=f"{tmp_path}/other"), record("2", 0, "trips", bytes_freed=7))
    reading = read_registry(file)
    Watcher(store, SystemClock()).round(reading)
    assert "summed up with a later round" in caplog.text
    assert store.rounded_at() is not None
    found = gains_since(store, reading.registry.histories, date.fromisoformat(began), "trips")
    assert [each.bytes_freed for each in found] == [7], "the other one goes on"


def test_a_history_in_which_others_have_written_ends_no_round(tmp_path: Path, caplog: Any) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text(
        f"history: {{path: {tmp_path}/history}}\ntables: [{{name: orders, base_path: {tmp_path}/orders}}]\n"
    )
    store = SnapshotStore.open(str(tmp_path / "store.db"), make=True)
    history = write(History(path=f"{tmp_path}/history"), record("1", 0))
    Watcher(store, SystemClock()).round(read_registry(file))
    row = as_rows([record("2", 0)], NOW)
    odd = row.set_column(row.column_names.index("day"), "day", pa.array(["never"]))
    history.write(odd, "upsert", SMALL_BLOOM)
    assert Watcher(store, SystemClock()).round(read_registry(file)).tables == 1
    assert "summed up with a later round" in caplog.text
