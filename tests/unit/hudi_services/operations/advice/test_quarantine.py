"""The most frequent reason of quarantined rows, without the values that it quotes."""

from __future__ import annotations

import json
import shutil
import subprocess

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.entry.table import Table
from hudi_services.operations.advice import quarantine
from hudi_services.operations.advice.quarantine import as_values, bad_rows, of_values
from hudi_services.sources.ingest.quarantine import QuarantineWriter
from tests.support.registered import registered

REASONS = (
    "column n: 'x1' is no number",
    "column id is null",
    "column n: 'x2' is no number",
    "column n: 'x3' is no number",
)


def left(folder):
    """A table whose load left rows with these reasons, and a line that is not whole."""
    table = Table.model_validate(
        {
            "name": "orders",
            "base_path": f"{folder}/orders",
            "source": {"path": f"{folder}/land", "format": "json"},
            "keys": {"record_key": ["id"]},
        }
    )
    writer = QuarantineWriter(f"{folder}/orders.quarantine", table.base_path, "20260101")
    (folder / "orders.quarantine/20260101").mkdir(parents=True)
    lines = [*(json.dumps({"file": "a", "reason": reason, "row": {}}) for reason in REASONS), '{"reas']
    (folder / "orders.quarantine/20260101/0.jsonl").write_text("\n".join(lines) + "\n")
    assert writer.path == f"{folder}/orders.quarantine/20260101"
    return table


def test_the_most_frequent_reason_is_an_example_of_its_kind(tmp_path):
    bad = bad_rows(left(tmp_path))
    assert (bad.rows, bad.reason, bad.reason_rows) == (5, "column n: 'x1' is no number", 3)


def test_a_row_that_is_left_out_again_counts_once(tmp_path):
    table = left(tmp_path)

    def leave(load, *rows):
        (tmp_path / f"orders.quarantine/{load}").mkdir()
        lines = [json.dumps({"file": "b", "reason": reason, "row": row}) for reason, row in rows]
        (tmp_path / f"orders.quarantine/{load}/0.jsonl").write_text("\n".join(lines) + "\n")
        return bad_rows(table).rows

    one, same = ("line 2: bad", {"id": "x"}), ("line 2: in other words", {"id": "x"})
    assert leave("20260102", one, one) == 7
    assert leave("20260103", same) == 7
    assert leave("20260104", same, same, same) == 8
    assert leave("20260105", ("line 2: bad", {"id": "y"}), ("line 3: bad", {"id": "x"})) == 10


def test_who_may_not_see_rows_sees_no_reason(tmp_path):
    bad = bad_rows(left(tmp_path))
    values = json.loads(json.dumps(as_values(bad)))
    assert of_values(values, with_reason=True) == bad
    hidden = of_values(values, with_reason=False)
    assert (hidden.rows, hidden.since, hidden.reason, hidden.reason_rows) == (5, bad.since, "", 0)


@pytest.fixture
def registry(tmp_path):
    """A registry whose table has loaded a row and left one out; the argument is the folder of the quarantine from then on."""
    (tmp_path / "land").mkdir()
    (tmp_path / "land/1.json").write_text('{"id": "a", "n": 1}\n{"id": "b", "n": "no number"}\n')
    source = {"path": str(tmp_path / "land"), "format": "json", "schema": {"id": "string", "n": "bigint"}}

    def make(folder=None):
        quarantine = {"max_share": 0.9, **({"path": str(folder)} if folder is not None else {})}
        keys = {"record_key": ["id"]}
        return registered(tmp_path, {"name": "orders", "keys": keys, "source": {**source, "quarantine": quarantine}})

    assert main(["ingest", f"--registry={make()}", "--table=orders"]) == 0
    return make


def advised(file, capsys):
    capsys.readouterr()
    main(["advise", f"--registry={file}", "--table=orders", "--json"])
    [table] = json.loads(capsys.readouterr().out)["tables"]
    return [item for item in table["advice"] if item["kind"] == "quarantine"]


def test_rows_of_a_folder_that_the_registry_no_longer_names(registry, tmp_path, capsys):
    new, old = tmp_path / "new place", tmp_path / "orders.quarantine"
    [advice] = advised(registry(new), capsys)
    [run] = (path.name for path in old.iterdir() if not path.name.startswith("."))
    assert advice["text"].startswith("1 load left 1 row in the quarantine, since ")
    assert f"They are in {old}/{run} and not in the table." in advice["text"]
    assert advice["fix"] == f"mkdir -p '{new}' && mv {old}/{run} '{new}'/"
    assert advice["remedy"].startswith("The registry names another folder than at the time of the load")
    subprocess.run(advice["fix"], shell=True, check=True)
    [found] = advised(registry(new), capsys)
    assert f"They are in {new} and not in the table." in found["text"], "found at the new place by its load"
    assert found["fix"] == f"hudi-services show quarantine --table orders --registry {registry(new)}"
    shutil.rmtree(new)
    assert advised(registry(new), capsys) == [], "deleted by a user"


def test_rows_of_a_load_that_is_not_among_the_newest_commits(registry, tmp_path, capsys, monkeypatch):
    table = HoodieTable.open(f"{tmp_path}/orders") if registry() else None
    for number in range(25):
        table.write(pa.table({"id": [f"w{number}"], "n": [number]}), "insert")
    new = tmp_path / "new place"
    [advice] = advised(registry(new), capsys)
    assert f"They are in {tmp_path}/orders.quarantine/" in advice["text"]
    assert looked(registry(new), capsys) == "quarantine"
    monkeypatch.setattr(quarantine, "_COMMITS", 25)
    assert advised(registry(new), capsys) == []
    assert looked(registry(new), capsys) == "quarantine (of the newest 25 commits, if its folder has moved)"


def looked(file, capsys):
    capsys.readouterr()
    main(["advise", f"--registry={file}", "--table=orders", "--json"])
    [table] = json.loads(capsys.readouterr().out)["tables"]
    return table["looked_at"][-1]
