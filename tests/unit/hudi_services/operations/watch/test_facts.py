"""Facts for objectives, as the watcher saw them: they lead to the verdicts of a look, or to no verdict."""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from hoodie.clock import SystemClock
from hudi_services.entry.table import Table
from hudi_services.operations.objectives.facts import Facts
from hudi_services.operations.objectives.rounds import rounds
from hudi_services.operations.watch.facts import SnapshotFacts
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from hudi_services.registry.load import load_registry
from tests.support.tables import SMALL_BLOOM, batch, create

ALL = {"freshness": "1h", "log_ratio": 0.01, "small_files": 1, "clean_age": "1h", "timeline_length": 3}
CLOCK = SystemClock()


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore.open(str(tmp_path / "watch" / "store.db"), make=True)


def entry(folder: Path, wanted: object = ALL, **more: object) -> Table:
    file = folder / "tables.yaml"
    tables = [{"name": "orders", "base_path": f"{folder}/orders", "type": "MERGE_ON_READ", **more}]
    file.write_text(json.dumps({"objectives": wanted, "tables": tables}))
    (found,) = load_registry(file).tables
    return found


@pytest.fixture
def seen(tmp_path: Path, store: SnapshotStore) -> Table:
    """A table with two small files in a partition and a log, as the watcher has just seen it."""
    table = create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    for key in ("1", "2", "3"):
        table.write(batch([(key, "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("1", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    found = entry(tmp_path)
    look(found, store, CLOCK)
    store.rounded(CLOCK.now())
    return found


def asked(store: SnapshotStore, table: Table, later: timedelta = timedelta(0)) -> Facts | None:
    return SnapshotFacts(store, 30, CLOCK.now() + later)(table)


def test_the_verdicts_are_those_of_a_look(store: SnapshotStore, seen: Table) -> None:
    (looked,) = rounds([seen], 1, CLOCK)
    (known,) = rounds([seen], 1, CLOCK, SnapshotFacts(store, 30, CLOCK.now()))
    assert (looked.seen, known.seen, len(known.verdicts)) == (False, True, 5)

    def told(found):  # ages grow between the two
        rows = [(each.objective, each.is_met, each.limit, each.since) for each in found.verdicts]
        return sorted(rows), {e.objective: e.value for e in found.verdicts if e.unit != "seconds"}

    assert told(known) == told(looked)


def test_what_was_seen_becomes_older_while_a_watcher_goes_round(store: SnapshotStore, seen: Table) -> None:
    first = asked(store, seen)
    later = CLOCK.now() + timedelta(hours=2)
    store.rounded(later)
    found = asked(store, seen, timedelta(hours=2))
    assert first is not None
    assert found is not None
    assert found.last_data == first.last_data
    assert found.now - first.now >= timedelta(hours=2)


@pytest.mark.parametrize(("later", "there"), [(1.9, True), (2.1, False)])
def test_where_no_watcher_goes_round_nothing_is_known(
    store: SnapshotStore, seen: Table, later: float, there: bool
) -> None:
    assert (asked(store, seen, timedelta(minutes=later)) is not None) == there


def test_slow_rounds_are_waited_for(store: SnapshotStore, seen: Table) -> None:
    assert SnapshotFacts(store, 300, CLOCK.now() + timedelta(minutes=14))(seen) is not None
    assert SnapshotFacts(store, 300, CLOCK.now() + timedelta(minutes=16))(seen) is None


@pytest.mark.parametrize(
    "other",
    [
        {"wanted": {**ALL, "log_ratio": 0.02}},
        {"wanted": {"freshness": "1h"}},
        {"clean": {"hoodie": {"hoodie.clean.commits.retained": 1}}},
        {"ingest": {"hoodie": {"hoodie.parquet.small.file.limit": "1"}}},
    ],
)
def test_who_wants_something_else_has_to_look(tmp_path: Path, store: SnapshotStore, seen: Table, other: dict) -> None:
    assert asked(store, seen) is not None
    changed = dict(other)
    assert asked(store, entry(tmp_path, changed.pop("wanted", ALL), **changed)) is None


def test_a_table_that_moved_or_cannot_be_read_has_to_be_looked_at(
    tmp_path: Path, store: SnapshotStore, seen: Table
) -> None:
    assert asked(store, entry(tmp_path, base_path=f"{tmp_path}/other")) is None
    assert asked(store, entry(tmp_path, name="other")) is None
    Path(seen.base_path, ".hoodie", "hoodie.properties").write_text("hoodie.table.version=99\n")
    look(seen, store, CLOCK)
    assert asked(store, seen) is None


@pytest.mark.parametrize("kept", [None, [], {}, "x", {"now": 1}, {"logs": "x"}, {"instants": [[1, 2]]}, {"waits": {}}])
def test_facts_of_another_release_are_none(tmp_path: Path, store: SnapshotStore, seen: Table, kept: object) -> None:
    with sqlite3.connect(tmp_path / "watch" / "store.db") as connection:
        ((body,),) = connection.execute("SELECT body FROM hudi_watch_tables")
        found = json.loads(body)
        found["facts"] = {**found["facts"], **kept} if isinstance(kept, dict) and kept else kept
        connection.execute("UPDATE hudi_watch_tables SET body = ?", (json.dumps(found),))
    assert asked(store, seen) is None


def test_a_store_that_is_away_is_not_asked_again(tmp_path: Path, store: SnapshotStore, seen: Table) -> None:
    with sqlite3.connect(tmp_path / "watch" / "store.db") as connection:
        connection.execute("DROP TABLE hudi_watch")
    assert asked(store, seen) is None
