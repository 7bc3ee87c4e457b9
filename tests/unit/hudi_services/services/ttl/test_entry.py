"""The service `ttl`: its command, its form, and what its section has to say."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import RegistryError
from hudi_services.cli.program import main
from hudi_services.entry.dag import RunRequest
from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from hudi_services.services.ttl.entry import TTL
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

DAYS = "hoodie.partition.ttl.strategy.days.retain"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Partition `a` is 40 days old, by the clock of this machine, `b` of today."""
    clock = FakeClock(datetime.now(UTC) - timedelta(days=40))
    table = create(tmp_path / "t", clock)
    table.write(batch([("1", "a", 1, 1)]), "insert", SMALL_BLOOM)
    clock.time += timedelta(days=40)
    table.write(batch([("2", "b", 1, 1)]), "insert", SMALL_BLOOM)
    return tmp_path / "t"


def ttl(path: Path, *more: str) -> int:
    return main(["ttl", f"--target-base-path={path}", f"--hoodie-conf={DAYS}=20", *more])


def left(path: Path) -> list[str]:
    return sorted(content(HoodieTable.open(str(path), engine=LocalEngine(1))))


def test_the_command(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttl(path, "--explain") == 0
    said = capsys.readouterr().out
    assert "ttl: 1 partition of 2 outlived 20 days since the last write" in said
    assert "part=a" in said
    assert "would drop 1 partition" in said
    assert left(path) == ["1", "2"]
    assert ttl(path, "--json") == 0
    assert "1 partition dropped" in json.loads(capsys.readouterr().out)["message"]
    assert left(path) == ["2"]
    assert ttl(path) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_more_than_a_run_may_drop_is_agreed_to_by_its_digest(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    caps = "--hoodie-conf=hoodie.delete.max.share=0.1"
    assert ttl(path, caps) == 1
    assert left(path) == ["1", "2"]
    capsys.readouterr()
    assert ttl(path, caps, "--explain", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert ttl(path, caps, "--yes", told["digest"]) == 0
    assert left(path) == ["2"]


def entry(**section: Any) -> Table:
    kind: type[Table] = table_model(ENTRIES)
    return kind.model_validate({"name": "t", "base_path": "/t", "ttl": section})


def test_the_form_goes_before_the_table() -> None:
    table = entry(hoodie={DAYS: "90"})
    assert TTL.has_dag(table)
    assert TTL.called_with(table, RunRequest()).options[DAYS] == "90"
    assert TTL.called_with(table, RunRequest(params={"days": 7})).options[DAYS] == "7"
    assert TTL.called_with(table, RunRequest(agreed="0123456789ab")).flags == ("--yes", "0123456789ab")
    assert not TTL.has_dag(table_model(ENTRIES).model_validate({"name": "t", "base_path": "/t"}))


def test_a_section_without_days_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text("tables:\n  - name: t\n    base_path: /t\n    ttl: {schedule: '0 3 * * *'}\n")
    with pytest.raises(RegistryError, match=f"t.ttl: has no effect without {DAYS}"):
        load_registry(file)
