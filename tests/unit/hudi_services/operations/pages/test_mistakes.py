"""Mistakes and warnings of the registry are each shown once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hudi_services.operations.pages.fleet import fleet
from hudi_services.operations.pages.mistakes import doubts, wrong
from hudi_services.operations.pages.snapshots import FleetState
from hudi_services.operations.watch.model import Summary
from hudi_services.registry.load import read_registry

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
LOADED = "ingest: {}, source: {path: /land, format: csv}, keys: {record_key: id, partition_by: day}"
SHARED = "defaults:\n  hoodie: {hoodie.datasource.write.drop.partition.columns: 'true'}\n"
MISSPELT = "  - {name: c, base_path: /lake/c, typ: x}\n"


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "tables.yaml"
    file.write_text(text)
    return file


def test_a_mistake_of_a_shared_section_is_one_with_all_its_tables(tmp_path: Path) -> None:
    tables = "".join(f"  - {{name: {name}, base_path: /lake/{name}}}\n" for name in "ab")
    reading = read_registry(write(tmp_path, f"{SHARED}tables:\n{tables}{MISSPELT}"))
    assert len(reading.mistakes) == 4
    shared, own = wrong(reading.mistakes)
    assert shared.tables == ("a", "b", "c")
    assert shared.message.startswith("hoodie.hoodie.datasource.write.drop.partition.columns: ")
    assert own.tables == ("c",)
    assert own.message.startswith("c.typ: ")
    page = fleet(reading, lambda _: True, mistakes_too=True, fleet_state=FleetState(), now=NOW)
    assert page.states[0].title == "The registry has 2 mistakes"


def test_a_mistake_of_the_whole_file_comes_first(tmp_path: Path) -> None:
    reading = read_registry(write(tmp_path, f"{SHARED}tables:\n{MISSPELT}watch: {{every: x}}\n"))
    assert [mistake.tables for mistake in wrong(reading.mistakes)] == [(), ("c",), ("c",)]


def test_a_warning_is_one_with_all_its_tables(tmp_path: Path) -> None:
    names = ("a", "b", "theirs")
    tables = "".join(f"  - {{name: {name}, base_path: /lake/{name}, {LOADED}}}\n" for name in names)
    registry = read_registry(write(tmp_path, f"tables:\n{tables}")).registry
    (doubt,) = doubts(registry.tables)
    assert doubt.tables == names
    assert doubt.message.startswith("key id is unique in each day only")


def test_the_list_shows_warnings_once_and_of_tables_that_a_user_sees(tmp_path: Path) -> None:
    tables = "".join(f"  - {{name: {name}, base_path: /lake/{name}, {LOADED}}}\n" for name in ("mine", "theirs"))
    reading = read_registry(write(tmp_path, f"tables:\n{tables}"))
    advice = "The registry has a warning: key id is unique in each day only"
    looked = Summary("mine", "/lake/mine", "ok", NOW, advice=advice, severity="due", fix="hudi-services registry check")
    state = FleetState(seen={"mine": looked})
    page = fleet(reading, lambda table: table.name == "mine", mistakes_too=True, fleet_state=state, now=NOW)
    assert [doubt.tables for doubt in page.doubts] == [("mine",)]
    assert [(row.advice, row.fix) for row in page.tables] == [(None, None)]
