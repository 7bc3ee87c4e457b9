"""What the page of all tables says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from hudi_services.pages.fleet import Ran, dags_of, fleet
from hudi_services.registry.load import Reading, read_registry

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def reading(tmp_path: Path, *tables: str) -> Reading:
    file = tmp_path / "tables.yaml"
    file.write_text("tables:\n" + "".join(f"  - {{{table}}}\n" for table in tables))
    return read_registry(file)


def test_tables_that_may_not_be_read_are_counted_only(tmp_path: Path) -> None:
    found = reading(tmp_path, "name: mine, base_path: /lake/mine", "name: theirs, base_path: /lake/theirs")
    page = fleet(found, lambda table: table.name == "mine", mistakes_too=True, ran={}, now=NOW)
    assert [row.name for row in page.tables] == ["mine"]
    assert page.hidden == 1
    assert [state.title for state in page.states] == ["1 table of the registry not shown"]
    assert "theirs" not in repr(page)


@pytest.mark.parametrize(("too", "places"), [(True, ["bad"]), (False, [])])
def test_mistakes_are_told_beside_the_tables_that_are_right(tmp_path: Path, too: bool, places: list[str]) -> None:
    found = reading(tmp_path, "name: good, base_path: /lake/good", "name: bad, base_path: /lake/bad, typ: x")
    page = fleet(found, lambda _: True, mistakes_too=too, ran={}, now=NOW)
    assert [row.name for row in page.tables] == ["good"]
    assert [each.table for each in page.mistakes] == places
    assert all(each.where.endswith("tables.yaml:3") for each in page.mistakes)
    assert [(state.severity, state.title) for state in page.states] == [("warning", "The registry has 1 mistake")]


def test_an_empty_registry_says_so(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text("tables: []\n")
    page = fleet(read_registry(file), lambda _: True, mistakes_too=True, ran={}, now=NOW)
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
    page = fleet(found, lambda _: True, mistakes_too=True, ran={}, now=NOW)
    assert [row.running for row in page.tables] == [("clean",), ()]


@pytest.mark.parametrize(
    ("states", "shown"),
    [
        ({}, "idle"),
        ({"clean": "success"}, "fine"),
        ({"clean": "success", "compact": "queued"}, "running"),
        ({"clean": "failed", "compact": "running"}, "failed"),
    ],
)
def test_a_table_is_as_the_worst_of_its_last_runs(tmp_path: Path, states: dict[str, str], shown: str) -> None:
    found = reading(tmp_path, "name: t, base_path: /lake/t, type: MERGE_ON_READ")
    ran = {f"hudi_{service}__t": Ran("r", state, NOW) for service, state in states.items()}
    ran["hudi_clean__other"] = Ran("r", "failed", NOW)
    row = fleet(found, lambda _: True, mistakes_too=True, ran=ran, now=NOW).tables[0]
    assert row.state == shown
    assert {each.service: each.state for each in row.runs} == states


def test_the_last_runs_are_in_order_whatever_their_time_zone(tmp_path: Path) -> None:
    found = reading(tmp_path, "name: t, base_path: /lake/t, type: MERGE_ON_READ")
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    ran = {
        "hudi_clean__t": Ran("a", "success", elsewhere - timedelta(hours=1)),
        "hudi_compact__t": Ran("b", "success", NOW),
    }
    row = fleet(found, lambda _: True, mistakes_too=True, ran=ran, now=NOW).tables[0]
    assert [(each.service, each.at) for each in row.runs] == [
        ("compact", "2026-11-23T12:00:00+00:00"),
        ("clean", "2026-11-23T11:00:00+00:00"),
    ]
