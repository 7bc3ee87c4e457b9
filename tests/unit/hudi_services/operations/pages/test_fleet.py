"""Texts of the page of all tables."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hoodie.errors import StoreError
from hudi_services.operations.pages.fleet import card_of, dags_of, fleet
from hudi_services.operations.pages.savings import Savings
from hudi_services.operations.pages.snapshots import DagOutcome, FleetState
from hudi_services.operations.pages.state import away
from hudi_services.operations.watch.gains import Gain
from hudi_services.operations.watch.model import Summary
from hudi_services.registry.load import Reading, read_registry

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
ELSEWHERE = Summary("elsewhere", "/lake/elsewhere", "ok", NOW)
SEEN = FleetState(seen={"elsewhere": ELSEWHERE})


def reading(tmp_path: Path, *tables: str) -> Reading:
    file = tmp_path / "tables.yaml"
    file.write_text("tables:\n" + "".join(f"  - {{{table}}}\n" for table in tables))
    return read_registry(file)


def test_tables_that_may_not_be_read_are_counted_only(tmp_path: Path) -> None:
    found = reading(tmp_path, "name: mine, base_path: /lake/mine", "name: theirs, base_path: /lake/theirs")
    page = fleet(found, lambda table: table.name == "mine", mistakes_too=True, fleet_state=SEEN, now=NOW)
    assert [row.name for row in page.tables] == ["mine"]
    assert page.hidden == 1
    assert [state.title for state in page.states] == ["1 table of the registry not shown"]
    assert "theirs" not in repr(page)


@pytest.mark.parametrize(("too", "places"), [(True, [("bad",)]), (False, [])])
def test_mistakes_are_told_beside_the_tables_that_are_right(
    tmp_path: Path, too: bool, places: list[tuple[str, ...]]
) -> None:
    found = reading(tmp_path, "name: good, base_path: /lake/good", "name: bad, base_path: /lake/bad, typ: x")
    page = fleet(found, lambda _: True, mistakes_too=too, fleet_state=SEEN, now=NOW)
    assert [row.name for row in page.tables] == ["good"]
    assert [each.tables for each in page.mistakes] == places
    assert all(each.where.endswith("tables.yaml:3") for each in page.mistakes)
    assert [(state.severity, state.title) for state in page.states] == [("warning", "The registry has 1 mistake")]


def test_an_empty_registry_says_so(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text("tables: []\n")
    page = fleet(read_registry(file), lambda _: True, mistakes_too=True, fleet_state=SEEN, now=NOW)
    assert [state.title for state in page.states] == ["The registry has no tables"]


def test_the_dags_of_a_table_are_those_that_airflow_has(tmp_path: Path) -> None:
    found = reading(tmp_path, "name: t, base_path: /lake/t, type: MERGE_ON_READ")
    dags = dags_of(found.registry.tables[0])
    assert {"hudi_clean__t", "hudi_compact__t"} <= dags
    assert "hudi_ingest__t" not in dags, "it has no source"


def test_a_row_names_the_services_that_run_by_themselves(tmp_path: Path) -> None:
    found = reading(
        tmp_path, "name: t, base_path: /lake/t, clean: {schedule: 0 4 * * *}", "name: u, base_path: /lake/u"
    )
    page = fleet(found, lambda _: True, mistakes_too=True, fleet_state=SEEN, now=NOW)
    assert [row.running for row in page.tables] == [("clean",), ()]


def test_a_watcher_that_does_not_look_is_told(tmp_path: Path) -> None:
    found = reading(tmp_path, "name: t, base_path: /lake/t")

    def told(known: FleetState) -> list[tuple[str, str | None]]:
        page = fleet(found, lambda _: True, mistakes_too=True, fleet_state=known, now=NOW)
        return [(state.title, state.command) for state in page.states]

    old = replace(ELSEWHERE, looked_at=NOW - timedelta(hours=3))
    assert told(SEEN) == []
    assert told(FleetState()) == [("No table was looked at yet", "hudi-services watch")]
    assert told(FleetState(seen={"elsewhere": old})) == [
        ("The watcher has not looked for 3 h 0 min", "hudi-services watch")
    ]
    assert told(FleetState(seen={"elsewhere": old, "t": ELSEWHERE})) == []


@pytest.mark.parametrize("text", ["tables: [", "", "tables: []"])
def test_a_registry_without_a_table_is_told_and_no_watcher_is_missed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text(text)
    page = fleet(read_registry(file), lambda _: True, mistakes_too=True, fleet_state=FleetState(), now=NOW)
    titles = [state.title for state in page.states]
    assert not any("looked at" in each for each in titles)
    assert titles[0] == ("The registry cannot be read" if text == "tables: [" else titles[0])


def test_a_store_that_cannot_be_read_leaves_the_rest(tmp_path: Path) -> None:
    found = reading(tmp_path, "name: t, base_path: /lake/t")
    trouble = away(StoreError("The store is of another version", found="version 9", fix="run it again"))
    known = FleetState({"hudi_clean__t": DagOutcome("r", "failed", NOW)}, trouble=trouble)
    page = fleet(found, lambda _: True, mistakes_too=True, fleet_state=known, now=NOW)
    assert [(each.severity, each.title, each.text) for each in page.states] == [
        ("warning", "The store is of another version", "version 9\nrun it again")
    ]
    assert [row.state for row in page.tables] == ["failed"]


def test_the_card_has_the_gravest_tables_and_how_many_there_are(tmp_path: Path) -> None:
    names = ("a", "b", "c", "d", "e")
    found = reading(tmp_path, *(f"name: {name}, base_path: /lake/{name}" for name in names))
    healths = {
        "a": ("ok", 0.0),
        "b": ("missed", 2.0),
        "c": ("missed", 9.0),
        "d": ("damaged", 0.0),
        "e": ("blocked", 0.0),
    }
    seen = {
        name: replace(ELSEWHERE, table=name, health=health, urgency=urgency, reason=f"<{name}>")
        for name, (health, urgency) in healths.items()
    }
    card = card_of(fleet(found, lambda _: True, mistakes_too=True, fleet_state=FleetState(seen=seen), now=NOW))
    assert card.states == {"ok": 1, "missed": 2, "damaged": 1, "blocked": 1}
    assert [(each.name, each.reason) for each in card.gravest] == [("d", "<d>"), ("e", "<e>"), ("c", "<c>")]
    assert card.seen == NOW.isoformat()
    assert json.loads(json.dumps(asdict(card)))["states"]["missed"] == 2


def test_what_services_gained_is_of_the_tables_that_are_shown(tmp_path: Path) -> None:
    found = reading(tmp_path, "name: mine, base_path: /lake/mine", "name: theirs, base_path: /lake/theirs")
    gains = [
        Gain("2026-11-22", "mine", "clean", 2, 1, bytes_freed=5, cpu_seconds=1.5),
        Gain("2026-11-23", "mine", "compact", 1, log_bytes_merged=7),
        Gain("2026-11-23", "theirs", "clean", 1, bytes_freed=100),
    ]
    known = FleetState(gains=gains)
    page = fleet(found, lambda table: table.name == "mine", mistakes_too=True, fleet_state=known, now=NOW)
    assert page.gained == Savings(30, 3, 1, 5, 7, 1.5)
    assert fleet(found, lambda _: False, mistakes_too=True, fleet_state=known, now=NOW).gained is None
