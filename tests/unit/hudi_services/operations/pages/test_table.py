"""Contents of the page of one table."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hudi_services.entry.table import Table
from hudi_services.operations.pages.snapshots import DagOutcome, FleetState
from hudi_services.operations.pages.table import table_of_dag, table_page
from hudi_services.registry.load import load_registry

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
REGISTRY = """\
tables:
  - name: trips
    base_path: /lake/trips
    type: MERGE_ON_READ
    description: "<b>taxi</b>"
    keys: {record_key: id, partition_by: day, ordering: ts}
    source: {path: /land/trips, format: parquet}
    ingest: {schedule: 0 * * * *}
    compact: {after_ingests: 3}
  - {name: compact__trips, base_path: /lake/other}
"""


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Table, ...]:
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY)
    return load_registry(file).tables


def test_the_page_says_what_the_registry_says(tables: tuple[Table, ...]) -> None:
    ran = {"hudi_ingest__trips": DagOutcome("r1", "failed", NOW)}
    page = table_page(tables[0], FleetState(ran), None, (), NOW)
    declared = page.declared
    assert page.now == "2026-11-23T12:00:00+00:00"
    assert (declared.record_key, declared.partition_by, declared.ordering) == (("id",), ("day",), ("ts",))
    runs = {each.service: (each.dag, each.runs, each.never) for each in declared.services}
    assert runs["ingest"] == ("hudi_ingest__trips", "cron 0 * * * *", None)
    assert runs["compact"] == ("hudi_compact__trips", "after commits by any program", None)
    assert runs["clean"][2] is not None
    assert [each.title for each in page.states] == ["The table was not looked at yet"]
    assert (page.seen, page.row.state) == (None, "failed")
    assert [(each.service, each.run, each.state) for each in page.row.runs] == [("ingest", "r1", "failed")]


def test_a_service_whose_dag_is_switched_off_says_so(tables: tuple[Table, ...]) -> None:
    off = frozenset(("hudi_ingest__trips", "hudi_clean__trips"))
    page = table_page(tables[0], FleetState(switched_off=off), None, (), NOW)
    never = {service.service: service.never for service in page.declared.services}
    assert (never["ingest"], never["compact"]) == ("its DAG is switched off in Airflow", None)
    assert "is set" in str(never["clean"]), "it would not run anyway"


def test_a_table_without_keys_has_a_page(tables: tuple[Table, ...]) -> None:
    assert table_page(tables[1], FleetState(), None, (), NOW).declared.record_key == ()


@pytest.mark.parametrize(
    ("dag", "name"),
    [
        ("hudi_compact__trips", "trips"),
        ("hudi_clean__compact__trips", "compact__trips"),
        ("hudi_clean__gone", None),
        ("hello", None),
        ("hudi_doctor", None),
    ],
)
def test_a_dag_leads_to_its_table(tables: tuple[Table, ...], dag: str, name: str | None) -> None:
    found = table_of_dag(dag, tables)
    assert (found.name if found is not None else None) == name
