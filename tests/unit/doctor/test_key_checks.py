"""Keys that the newest inserts doubled are found without a look at all data files."""

from __future__ import annotations

import json

import pytest

from hoodie.clock import SystemClock
from hoodie.doctor import key_checks
from hoodie.doctor.diagnosis import diagnose
from hoodie.storage import open_storage
from hudi_services.cli.program import main
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    return table


def found(table):
    findings = diagnose(open_storage(table.base_path), SystemClock(), {}).findings
    return [(finding.path, finding.instant) for finding in findings if finding.check == "doubled-by-insert"]


def test_an_insert_that_doubles_a_key_and_one_that_does_not(table):
    table.write(batch([("c", "p", 2, 2)]), "bulk_insert", SMALL_BLOOM)
    assert found(table) == [], "rows were added"
    time = table.write(batch([("a", "p", 2, 2)]), "bulk_insert", SMALL_BLOOM).instant.time
    assert found(table) == [("part=p", time)]


def test_upserts_and_old_inserts_are_not_suspected(table):
    table.write(batch([("a", "p", 2, 2)]), "bulk_insert", SMALL_BLOOM)
    for step in range(5):
        table.write(batch([("b", "q", step + 3, step)]), "upsert", SMALL_BLOOM)
    assert found(table) == [], "not among the newest commits"


@pytest.mark.parametrize("limit", ["_INSERTED_BYTES", "_INSERTED_SLICES"])
def test_large_partitions_are_left_to_the_deep_look(table, limit, monkeypatch):
    table.write(batch([("a", "p", 2, 2)]), "bulk_insert", SMALL_BLOOM)
    monkeypatch.setattr(key_checks, limit, 1)
    assert found(table) == []


def test_the_advice_has_it_with_the_deep_look(table, capsys):
    table.write(batch([("a", "p", 2, 2)]), "bulk_insert", SMALL_BLOOM)
    place = f"--target-base-path={table.base_path}"
    texts = []
    for command in ("show table", "advise"):
        main([*command.split(), place, "--json"])
        values = json.loads(capsys.readouterr().out)
        [advice] = [
            item
            for item in (values["advice"] if command == "show table" else values["tables"][0]["advice"])
            if item["what"] == "doubled-by-insert"
        ]
        texts.append(advice["text"])
        assert (advice["severity"], advice["fix"]) == (
            "damage",
            f"hudi-services doctor --deep --target-base-path {table.base_path}",
        )
    assert texts[0] == texts[1]
    main(["doctor", "--deep", place, "--json"])
    findings = json.loads(capsys.readouterr().out)["tables"][0]["findings"]
    assert [finding["check"] for finding in findings] == ["duplicate-keys"], "said once"
