"""Rows that loads could not write, as the command and the page list them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect import quarantine as module
from hudi_services.operations.inspect.quarantine import quarantine
from hudi_services.operations.inspect.table_look import Look, look_at
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from hudi_services.sources.ingest.quarantine import QuarantineWriter
from tests.support.clock import FakeClock
from tests.support.tables import create


def looked(table: HoodieTable, entry: Table | None = None) -> Look:
    return look_at(ChosenTable(str(table.base_path), entry), table.clock)


@pytest.fixture
def table(tmp_path: Path) -> HoodieTable:
    return create(tmp_path / "t", FakeClock())


def leave(folder: Path, table: HoodieTable, run: str, rows: int) -> None:
    """As a load does."""
    writer = QuarantineWriter(str(folder), str(table.base_path), run)
    with writer.open(0) as bad:
        for number in range(rows):
            bad.add_unread(f"/land/{run}.csv", {"id": number} if number else "a,b", f"line {number}: wrong")
    writer.finish(keep_rows=True)


def test_rows_have_their_file_and_reason_the_newest_load_first(table: HoodieTable, tmp_path: Path) -> None:
    for run, rows in (("20260101", 1), ("20260102", 2)):
        leave(tmp_path / "t.quarantine", table, run, rows)
    values = quarantine(looked(table), 2, 200).values
    assert values["folder"] == str(tmp_path / "t.quarantine")
    assert [(load["load"], load["files"]) for load in values["loads"]] == [("20260102", 1), ("20260101", 1)]
    first, second = values["rows"]
    assert first == {"load": "20260102", "file": "/land/20260102.csv", "reason": "line 0: wrong", "row": "a,b"}
    assert (second["row"], values["more"]) == ({"id": 1}, True)
    assert not quarantine(looked(table), 3, 200).values["more"]
    json.dumps(values)


def test_an_entry_names_the_folder_and_no_folder_is_empty(table: HoodieTable, tmp_path: Path) -> None:
    assert quarantine(looked(table), 5, 200).values["rows"] == []
    source = {"path": "/land", "format": "csv", "quarantine": {"path": str(tmp_path / "bad")}}
    keys = {"record_key": "id", "partition_by": "part"}
    given = {"name": "t", "base_path": str(table.base_path), "source": source, "keys": keys}
    entry = table_model(ENTRIES).model_validate(given)
    leave(tmp_path / "bad", table, "20260101", 1)
    assert [row["load"] for row in quarantine(looked(table, entry), 5, 200).values["rows"]] == ["20260101"]


def test_large_files_are_listed_and_not_read(
    table: HoodieTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(tmp_path / "t.quarantine", table, "20260101", 3)
    monkeypatch.setattr(module, "_READ", 10)
    values = quarantine(looked(table), 5, 200).values
    assert (values["rows"], values["more"], values["loads"][0]["files"]) == ([], True, 1)
