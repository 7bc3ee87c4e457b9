"""Facts of real tables: logs, a plan that waits, an approval, a quarantine, and the storage calls that they cost."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.clock import SystemClock
from hoodie.storage import LocalStorage
from hudi_services.cli.program import main
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.gather import Request, gather
from hudi_services.operations.doctor import rounds as doctor_rounds
from hudi_services.operations.history.queries import runs
from hudi_services.operations.inspect import table_look
from hudi_services.registry.load import read_registry
from tests.support.cli import fill
from tests.support.counting import CountingStorage
from tests.support.registered import advised, registered
from tests.support.tables import SMALL_BLOOM, batch, create

LOGS = {"hoodie.table.type": "MERGE_ON_READ"}


def test_a_missed_log_ratio_with_its_numbers_and_its_estimate(tmp_path):
    fill(create(tmp_path / "orders", **LOGS))
    history = {"path": f"{tmp_path}/history"}
    entry = {"name": "orders", "type": "MERGE_ON_READ", "objectives": {"log_ratio": 0.01}, "history": history}
    file = registered(tmp_path, {**entry, "compact": {"hoodie": {"hoodie.compact.inline.max.delta.commits": 1}}})
    missed = advised(file, "orders")["objective"]
    assert missed.text.startswith("Reads merge ")
    assert missed.text.endswith("bytes of logs per byte of data (limit 0.01)")
    assert (missed.effect.items, missed.effect.noun, missed.effect.seconds) == (1, "file group", None)
    assert missed.effect.bytes > 0
    for _ in range(3):
        HoodieTable.open(str(tmp_path / "orders")).write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
        assert main(["compact", "--table=orders", f"--registry={file}"]) == 0
    HoodieTable.open(str(tmp_path / "orders")).write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    again = advised(file, "orders")["objective"]
    (entry,) = read_registry(file).registry.tables
    now = datetime.now(UTC)
    seconds = sorted(runs(entry.history, now - timedelta(days=1), now)["seconds"].to_pylist())
    assert again.effect.seconds == seconds[1]


def test_a_plan_that_waits_and_a_pause(tmp_path):
    table = create(tmp_path / "orders", **LOGS)
    fill(table)
    instant = table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": "1"})
    file = registered(tmp_path, {"name": "orders", "type": "MERGE_ON_READ"})
    plan = advised(file, "orders")["plan"]
    assert plan.fix == f"hudi-services compact --mode execute --instant {instant} --table orders"
    assert plan.waits == "Nothing starts it: neither compact.schedule nor compact.after_ingests is set."
    assert main(["pause", "--table=orders", f"--registry={file}", "--reason=a migration"]) == 0
    found = advised(file, "orders")
    assert "has paused the table (a migration)" in found["paused"].text
    assert found["plan"].waits.startswith("Nothing starts it: the table is paused by ")


def test_a_purge_that_a_savepoint_held_back_until_it_is_finished(tmp_path, capsys):
    table = create(tmp_path / "orders")
    fill(table)
    saved = table.savepoint().instant
    file = registered(tmp_path, {"name": "orders"})
    purge = ["purge", "--table=orders", f"--registry={file}", "--where=id = 'a'", "--yes"]
    assert main(purge) == 3
    waiting = advised(file, "orders")["purge"]
    assert waiting.severity == "waiting"
    assert waiting.text.startswith("A purge is not finished: 1 file of ")
    assert waiting.detail == f"Held back: savepoint {saved} keeps it until it is deleted."
    assert waiting.fix == "hudi-services purge --where CONDITION --delete-savepoints --table orders"
    assert waiting.subject[:8] in waiting.remedy
    capsys.readouterr()
    assert main(["show", "table", "--table=orders", f"--registry={file}"]) == 0
    shown = capsys.readouterr().out
    assert waiting.fix in shown
    assert f"savepoint {saved} keeps it until it is deleted" in shown.partition("purges")[2]
    assert main([*purge, "--delete-savepoints"]) == 0
    assert "purge" not in advised(file, "orders")


def test_a_clean_that_needs_an_approval_since_a_run_asked(tmp_path):
    table = create(tmp_path / "orders")
    for _ in range(2):
        fill(table)
    options = {"hoodie.clean.commits.retained": 1, "hoodie.delete.max.files": 1}
    file = registered(tmp_path, {"name": "orders", "clean": {"hoodie": options}})
    asks = advised(file, "orders")["approval"]
    assert asks.since is None
    assert "--yes" in asks.fix
    assert main(["clean", "--table=orders", f"--registry={file}", "--json"]) != 0
    asked = advised(file, "orders")["approval"]
    assert datetime.now(UTC) - asked.since < timedelta(minutes=1)
    assert asked.waits.startswith("It needs an approval since ")
    assert main([*asked.fix.split()[1:], f"--registry={file}"]) == 0
    assert "approval" not in advised(file, "orders")


def test_rows_in_the_quarantine_of_a_feed(tmp_path, capsys):
    (tmp_path / "land").mkdir()
    (tmp_path / "land/1.json").write_text('{"id": "a", "n": 1}\n{"id": "b", "n": "no number"}\n')
    source = {
        "path": f"{tmp_path}/land",
        "format": "json",
        "schema": {"id": "string", "n": "bigint"},
        "quarantine": {"max_share": 0.9},
    }
    file = registered(tmp_path, {"name": "orders", "source": source, "keys": {"record_key": ["id"]}})
    found = advised(file, "orders")["absent"]
    assert found.fix == "hudi-services ingest --table orders"
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    left = advised(file, "orders")["quarantine"]
    assert left.text == "1 load left 1 row in the quarantine"
    assert left.detail.startswith(
        f"They are in {tmp_path}/orders.quarantine and not in the table. The most frequent reason, of 1 row: "
    )
    assert left.detail.endswith('the string "no number" is no bigint.')
    (tmp_path / "land/2.json").write_text('{"id": "c", "n": "no number"}\n')
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 1
    assert advised(file, "orders")["quarantine"].text == left.text, "all of the refused load is still to be loaded"
    capsys.readouterr()
    assert main(["show", "table", "--table=orders", f"--registry={file}"]) == 0
    assert left.text in capsys.readouterr().out
    assert main(["show", "quarantine", "--table=orders", f"--registry={file}", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert sorted(load["outcome"] for load in shown["loads"]) == ["loaded", "refused"]
    assert len(shown["rows"]) == 2


def test_the_last_load_was_refused_and_the_registry_keeps_no_history(tmp_path, capsys):
    (tmp_path / "land").mkdir()
    bad = tmp_path / "land/1.csv"
    source = {"path": f"{tmp_path}/land", "format": "csv", "schema": {"id": "string", "n": "bigint"}}
    file = registered(tmp_path, {"name": "orders", "source": source, "keys": {"record_key": ["id"]}})

    def refused(text):
        bad.write_text(text)
        assert main(["ingest", "--table=orders", f"--registry={file}"]) == 1
        capsys.readouterr()
        advice = advised(file, "orders")["run"]
        assert (advice.severity, advice.text) == ("failed", "The last run of ingest failed")
        assert (datetime.now(UTC) - advice.since) < timedelta(minutes=5)
        main(["show", "table", "--table=orders", f"--registry={file}"])
        assert "The last run of ingest failed" in capsys.readouterr().out
        return advice.detail

    assert "has the undeclared column 'other'" in refused("id,n,other\na,1,x\n"), "the first load"
    bad.unlink()
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    assert "run" not in advised(file, "orders"), "nothing is new any more"
    (tmp_path / "land/2.csv").write_text("id,n\na,1\n")
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    detail = refused("id,n\nb,secret\n")
    assert detail.startswith("1 of 1 row")
    assert "secret" not in detail
    bad.write_text("id,n\nb,2\n")
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    assert "run" not in advised(file, "orders")


def test_a_path_with_other_files_does_not_wait_for_a_load(tmp_path, capsys):
    (tmp_path / "land").mkdir()
    (tmp_path / "orders/part=p").mkdir(parents=True)
    (tmp_path / "orders/part=p/a.parquet").write_bytes(b"PAR1")
    source = {"path": f"{tmp_path}/land", "format": "json"}
    file = registered(tmp_path, {"name": "orders", "source": source, "keys": {"record_key": ["id"]}})
    found = advised(file, "orders")["unreadable"]
    assert (found.severity, found.text) == (
        "damage",
        f"The table cannot be read: {tmp_path}/orders is not a Hudi table",
    )
    assert found.detail == "No .hoodie/hoodie.properties, and other files: part=p."
    assert found.remedy.startswith("Choose an empty path, where hudi-services bootstrap ")
    for command in (["ingest", "--explain"], ["ingest"], ["show", "files"]):
        assert main([*command, "--table=orders", f"--registry={file}"]) == 1
        assert "and other files: part=p. To do: choose an empty path" in capsys.readouterr().err
    assert main(["doctor", "--table=orders", f"--registry={file}"]) == 2
    assert "DAMAGE  unreadable" in capsys.readouterr().out


def test_a_table_that_the_user_may_not_read_is_not_damaged(tmp_path, capsys, monkeypatch):
    create(tmp_path / "orders")
    file = registered(tmp_path, {"name": "orders", "keys": {"record_key": ["id"]}})

    def refused(*_args):
        raise PermissionError(13, "Permission denied", str(tmp_path / "orders/.hoodie/hoodie.properties"))

    monkeypatch.setattr(LocalStorage, "read", refused)
    advice = advised(file, "orders")["unreadable"]
    assert advice.severity == "failed"
    assert advice.detail.startswith("User ")
    assert advice.fix.startswith("sudo setfacl ")
    assert advice.fix.endswith(f" {tmp_path}/orders")
    main(["doctor", "--table=orders", f"--registry={file}"])
    shown = capsys.readouterr().out
    assert "to do: give it the right, such as by `sudo setfacl`" in shown
    assert f"\n          $ {advice.fix}\n" in shown


@pytest.mark.parametrize(("doctor", "most"), [(False, 23), (True, 43)])
def test_storage_calls_are_few_and_no_data_file_is_opened(tmp_path, monkeypatch, doctor, most):
    table = create(tmp_path / "orders", **LOGS)
    for part in ("p", "q", "r"):
        table.write(batch([(part, part, 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("p", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    storage = CountingStorage(tmp_path / "orders")
    for module in (table_look, doctor_rounds):
        monkeypatch.setattr(module, "open_storage", lambda _path: storage)
    facts = gather(Request(ChosenTable(str(tmp_path / "orders"))), SystemClock(), doctor=doctor)
    assert advise(facts) == ()
    partitions, opened = storage.data()
    assert partitions == ["", "part=p", "part=q", "part=r"]
    assert [path for path in opened if path.endswith((".parquet", ".log"))] == []
    assert len(storage.listed) + len(storage.opened) <= most


def test_a_file_that_was_cut_short_has_the_size_that_is_there_and_the_one_of_its_commit(tmp_path):
    fill(create(tmp_path / "orders"))
    file = max((tmp_path / "orders").rglob("*.parquet"), key=lambda file: file.stem.rpartition("_")[2])
    size = file.stat().st_size
    file.write_bytes(file.read_bytes()[:1500])
    cut = advised(registered(tmp_path, {"name": "orders"}), "orders")["doctor"]
    assert cut.detail.startswith("Found: 1,500 bytes, where commit ")
    assert cut.detail.endswith(f" wrote {size:,}.")
    assert cut.text.endswith(".parquet)")


def test_a_table_that_is_not_served_is_not_damaged(tmp_path, capsys):
    fill(create(tmp_path / "orders"))
    properties = tmp_path / "orders" / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("hoodie.table.version=9", "hoodie.table.version=7"))
    file = registered(tmp_path, {"name": "orders"})
    advice = advised(file, "orders")["unreadable"]
    assert (advice.severity.name, "7" in advice.text + advice.detail) == ("FAILED", True)
    assert main(["doctor", "--table=orders", f"--registry={file}"]) == 2
    shown = capsys.readouterr().out
    assert ("WARNING unsupported-table" in " ".join(shown.split()), "DAMAGE" in shown) == (True, False)
