"""`--plan DIGEST`: a command, and a run in Airflow, carry out the plan that was shown, or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.entry.dag import RunRequest
from hudi_services.entry.digest import ONLY
from hudi_services.registry.load import load_registry
from hudi_services.services.entries import ENTRIES, entry_named
from tests.support.tables import SMALL_BLOOM, batch, create

DIGEST = "0123456789ab"


@pytest.fixture
def table(tmp_path: Path) -> HoodieTable:
    """Two partitions with logs."""
    made = create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in range(3):
        made.write(batch([("1", "p", step, step), ("2", "q", step, step)]), "upsert", SMALL_BLOOM)
    return made


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_command_carries_out_the_plan_that_it_has_shown(
    table: HoodieTable, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("compact", "--target-base-path", table.base_path, "--force")
    _, shown = told(capsys, *at, "--explain")
    table.write(batch([("1", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    code, refused = told(capsys, *at, "--plan", shown["digest"])
    assert (code, refused["error"]) == (1, "PlanChangedError")
    assert "hudi-services compact --explain" in refused["fix"]
    _, again = told(capsys, *at, "--explain")
    assert again["digest"] != shown["digest"]
    code, done = told(capsys, *at, "--plan", again["digest"])
    assert (code, done["files_written"]) == (0, 2)
    assert not any(each.log_files for each in HoodieTable.open(table.base_path).file_slices())


def test_only_what_was_scheduled_by_it_is_executed(table: HoodieTable, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("compact", "--target-base-path", table.base_path)
    _, first = told(capsys, *at, "--mode", "schedule", "--force")
    for step in (1, 2):
        table.write(batch([("3", "r", step, step)]), "upsert", SMALL_BLOOM)
    _, shown = told(capsys, *at, "--force", "--explain")
    code, done = told(capsys, *at, "--force", "--plan", shown["digest"])
    assert code == 0
    assert done["instant"] != first["instant"]
    pending = [str(each.time) for each in HoodieTable.open(table.base_path).timeline.pending]
    assert pending == [first["instant"]], "what waited before waits still"


@pytest.mark.parametrize("service", ["compact", "cluster"])
def test_a_plan_that_waits_has_no_digest(table: HoodieTable, capsys: pytest.CaptureFixture[str], service: str) -> None:
    code = main([service, "--target-base-path", table.base_path, "--mode", "execute", "--plan", DIGEST])
    assert code == 2
    assert "leave --mode execute out" in capsys.readouterr().err


def test_what_is_no_digest_is_refused(table: HoodieTable, capsys: pytest.CaptureFixture[str]) -> None:
    for digest in ("all", "", DIGEST + "\n", DIGEST.upper()):
        assert main(["clean", "--target-base-path", table.base_path, "--plan", digest]) == 2
    assert "'all' is not the digest" in capsys.readouterr().err


def test_every_service_with_the_field_has_the_flag_and_passes_it_on(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    section = {"hoodie": {"hoodie.partition.ttl.strategy.days.retain": "9"}}
    entry = {"name": "t", "base_path": "/t", "type": "MERGE_ON_READ", "cluster": {}, "archive": {}, "ttl": section}
    file.write_text(json.dumps({"tables": [entry]}))
    (table,) = load_registry(file).tables
    seen = []
    for each in ENTRIES:
        flagged = any(option.name == "only" for option in each.command.flags)
        fields = [field.name for field in each.dag.form(table)] if each.section_of(table) is not None else []
        assert flagged == (ONLY in fields), each.name
        if flagged:
            seen.append(each.name)
            modes = ("schedule", "") if each.name in ("compact", "cluster") else ("",)
            for mode in modes:
                flags = each.called_with(table, RunRequest(mode, {ONLY: DIGEST})).flags
                assert flags[flags.index("--plan") + 1] == DIGEST
                assert "--plan" not in each.called_with(table, RunRequest(mode, {ONLY: None})).flags
    assert sorted(seen) == ["archive", "clean", "cluster", "compact", "ttl"]
    compact = entry_named("compact")
    flags = compact.called_with(table, RunRequest("execute", {ONLY: DIGEST}, scheduled="20260101000000000")).flags
    assert flags == ("--mode", "execute", "--instant", "20260101000000000")
