"""The command `purge`: the plan, the question, the result, and its exit codes."""

from __future__ import annotations

import json

import pytest

from hudi_services.cli.program import main
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

PERSON = "person-4711"
WHERE = f"id = '{PERSON}'"


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    for step in range(2):
        table.write(batch([(PERSON, "p", step, step), ("other-12", "p", step, step)]), "upsert", SMALL_BLOOM)
    bad = tmp_path / "t.quarantine" / "run"
    bad.mkdir(parents=True)
    (bad / "rows-0.jsonl").write_text(json.dumps({"file": "a", "reason": "r", "row": {"id": PERSON}}) + "\n")
    return table


def test_explained_asked_and_erased(capsys, table, tmp_path, monkeypatch):
    named = ["purge", "--target-base-path", table.base_path, "--where", WHERE]
    assert main([*named, "--explain"]) == 0
    text = capsys.readouterr().out
    assert "deletes 1 row in one commit" in text
    assert f"removes 1 bad row of {tmp_path}/t.quarantine" in text
    assert main([*named, "--explain", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["rows"] == plan["keys"] == plan["quarantined"] == 1
    assert main([*named, "--json"]) == 2
    assert len(content(table)) == 2
    capsys.readouterr()
    assert main([*named, "--yes", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows_deleted"] == 1
    assert result["blockers"] == []
    assert "a search of every file found nothing more; 1 bad row of the quarantine removed" in result["message"]
    assert PERSON not in json.dumps(result)
    assert content(table) == {"other-12": ("p", 1, 1)}
    assert not list((tmp_path / "t.quarantine" / "run").iterdir())


def test_rows_that_something_holds_are_exit_code_3(capsys, table):
    saved = table.savepoint().instant
    named = ["purge", "--target-base-path", table.base_path, "--where", WHERE, "--yes"]
    assert main([*named, "--json"]) == 3
    (held,) = json.loads(capsys.readouterr().out)["blockers"]
    assert saved in held["reason"]
    assert main([*named, "--delete-savepoints"]) == 0


def test_the_quarantine_of_the_registry(table, tmp_path, capsys):
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "rows.jsonl").write_text(json.dumps({"file": "a", "reason": "r", "row": {"id": PERSON}}) + "\n")
    registry = tmp_path / "tables.yaml"
    source = f"{{format: json, path: {tmp_path}/in, quarantine: {{path: {bad}}}}}"
    registry.write_text(
        f"tables:\n  - name: t\n    base_path: {table.base_path}\n    keys: {{record_key: [id]}}\n    source: {source}\n"
    )
    called = ["purge", "--table", "t", "--registry", str(registry), "--where", WHERE, "--yes"]
    assert main(called) == 0, capsys.readouterr()
    assert not list(bad.iterdir())


def test_the_cleaner_of_the_registry_says_what_waits_for_consumers_and_what_needs_an_approval(table, tmp_path):
    consumer = table.consumer("reports")
    consumer.reset(table.timeline.commits[-1].time)  # months ago: by default no service waits for it any more
    file = tmp_path / "tables.yaml"
    purge = ["purge", "--table=t", f"--registry={file}", "--where", WHERE, "--yes"]

    def declare(options):
        clean = {"hoodie": options}
        file.write_text(json.dumps({"tables": [{"name": "t", "base_path": table.base_path, "clean": clean}]}))

    declare({"hoodie.delete.max.files": 1})
    assert main(purge) not in (0, 3)
    assert len(content(table)) == 2
    declare({"hoodie.consumer.retention.hours": 100_000})
    assert main(purge) == 3
    declare({})
    assert main(purge) == 0
