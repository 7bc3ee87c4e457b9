"""The overview of a table begins with its advice."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest

from hoodie import COMPACTION
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hudi_services.cli.program import main
from hudi_services.cli.render import page_lines
from hudi_services.operations.advice import gather
from hudi_services.operations.inspect.page import Lines, Page
from tests.support.cli import fill
from tests.support.clock import FakeClock
from tests.support.registered import registered
from tests.support.tables import SMALL_BLOOM, batch, create


def test_the_first_block_is_the_advice_and_its_commands_stay_whole(tmp_path, capsys, monkeypatch):
    fill(create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"}))
    file = registered(tmp_path, {"name": "orders", "type": "MERGE_ON_READ", "objectives": {"log_ratio": 0.1}})
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["show", "table", "--table=orders", f"--registry={file}"]) == 0
    first, second, *lines = capsys.readouterr().out.splitlines()
    assert (first, second[:24]) == ("advice", "  MISSED   Reads merge 1")
    assert f"           $ hudi-services compact --force --table orders --registry {file}" in lines
    assert main(["show", "table", "--table=orders", f"--registry={file}", "--json"]) == 0
    [advice] = json.loads(capsys.readouterr().out)["advice"]
    assert (advice["severity"], advice["service"], advice["parameters"]) == ("missed", "compact", {"force": True})


def test_a_table_without_advice_says_what_was_looked_at(tmp_path, capsys):
    fill(create(tmp_path / "orders"))
    assert main(["show", "table", f"--target-base-path={tmp_path}/orders"]) == 0
    assert capsys.readouterr().out.startswith("advice\n  Nothing to do. Looked at: files, plans of services, locks,")


def test_lines_that_are_whole_are_not_broken():
    page = Page({}, [Lines(["a long command"], whole=True), Lines(["a long line"])])
    assert [line.text for line in page_lines(page, 7)] == ["a long command", "", "a long", "  line"]


def test_a_damage_is_said_once_and_its_commands_name_the_table(tmp_path, capsys):
    fill(table := create(tmp_path / "orders"))
    file = max((tmp_path / "orders").rglob("*.parquet"), key=lambda file: file.stem.rpartition("_")[2])
    file.unlink()
    assert main(["show", "table", f"--target-base-path={tmp_path}/orders"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("DAMAGE") == shown.count("A file is missing that commit ") == 1
    assert f" $ hudi-services rollback --instant {table.state().timeline.commits[-1].time} " in shown, (
        "as of the doctor"
    )
    assert f" --target-base-path {tmp_path}/orders\n" in shown, "a long path is not broken"
    assert main(["show", "table", f"--target-base-path={tmp_path}/orders", "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    assert (len(values["problems"]), [advice["kind"] for advice in values["advice"]]) == (1, ["doctor"])


def test_a_timeline_that_cannot_be_read_has_advice_on_the_first_screen(tmp_path, capsys):
    fill(create(tmp_path / "orders"))
    commit = max((tmp_path / "orders/.hoodie/timeline").glob("*.commit"))
    commit.write_bytes(b"")
    file = registered(tmp_path, {"name": "orders"})
    show = ["show", "table", "--table=orders", f"--registry={file}"]
    assert main(show) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("advice\n  DAMAGE   The completed commit ")
    assert commit.name in shown.out.replace("\n           ", "")
    folder = tmp_path / "orders/.hoodie/.quarantine"
    assert f"$ mkdir -p {folder} && mv {commit} {folder}/ && \\\n" in shown.out
    rollback = f"hudi-services rollback --instant {commit.name.partition('_')[0]}"
    assert shown.out.splitlines()[-1].strip() == f"{rollback} --table orders --registry {file}"
    assert "ingest" not in shown.out, "it has no source"
    assert shown.err == ""
    assert main([*show, "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    assert (values["error"], values["advice"][0]["kind"]) == ("CorruptTableError", "doctor")


def test_a_storage_that_does_not_answer_is_named_as_that(tmp_path, capsys, monkeypatch):
    fill(create(tmp_path / "orders"))

    def silent(*_arguments):
        raise TimeoutError("timed out")

    monkeypatch.setattr("hudi_services.operations.inspect.table_look.load_state", silent)
    monkeypatch.setattr("hudi_services.operations.doctor.rounds.diagnose", lambda *_, **__: silent())
    file = registered(tmp_path, {"name": "orders"})
    title = f"The storage of {tmp_path}/orders does not answer"
    for command in ("show table", "advise"):
        assert main([*command.split(), "--table=orders", f"--registry={file}", "--json"]) == (command == "show table")
        values = json.loads(capsys.readouterr().out)
        [advice] = values["advice"] if command == "show table" else values["tables"][0]["advice"]
        assert (advice["severity"], advice["text"]) == ("failed", f"The table cannot be read: {title}. Timed out.")
        assert advice["fix"] == f"hudi-services show table --table orders --registry {file}"
    assert main(["doctor", "--table=orders", f"--registry={file}", "--json"]) == 2, "it has looked at nothing"
    [finding] = json.loads(capsys.readouterr().out)["tables"][0]["findings"]
    assert (finding["check"], finding["severity"], finding["what"]) == ("unreachable", "warning", title)


def test_a_mistake_of_the_command_stays_an_error(tmp_path, capsys):
    assert main(["show", "table", "--target-base-path=nowhere://lake"]) == 2
    assert "Cannot reach nowhere://lake" in capsys.readouterr().err


def test_a_write_that_died_is_told_at_once(tmp_path, capsys):
    fill(table := create(tmp_path / "orders"))
    state = table.state()
    instants.start(state, instants.request(state, new_time(state, table.clock), Action.COMMIT))
    for command in ("show table", "advise"):
        assert main([*command.split(), f"--target-base-path={tmp_path}/orders"]) == 0
        shown = capsys.readouterr().out
        assert f"$ hudi-services doctor --fix --target-base-path {tmp_path}/orders\n" in shown
        assert shown.count("No process is known to work on it.") == 1


def test_commits_that_are_dated_ahead_are_a_warning_everywhere(tmp_path, capsys):
    ahead = FakeClock(datetime.now(UTC) + timedelta(days=800))
    table = create(tmp_path / "orders", clock=ahead)
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    place = f"--target-base-path={tmp_path}/orders"
    advice = []
    for command in ("show table", "advise"):
        assert main([*command.split(), place, "--json"]) == 0, "reads and writes work"
        values = json.loads(capsys.readouterr().out)
        advice.append(values["advice"] if command == "show table" else values["tables"][0]["advice"])
    assert advice[0] == advice[1]
    assert [(item["severity"], item["what"]) for item in advice[0]] == [("due", "future-instant")]
    assert " is dated later than now" in advice[0][0]["text"]
    assert advice[0][0]["commands"] == [
        f"hudi-services rollback --instant {instant(table)} --target-base-path {tmp_path}/orders"
    ]
    main(["doctor", place, "--json"])
    [finding] = json.loads(capsys.readouterr().out)["tables"][0]["findings"]
    assert (finding["check"], finding["severity"]) == ("future-instant", "warning")


def instant(table):
    return table.state().timeline.commits[-1].time


@pytest.mark.parametrize("registered_table", [True, False])
def test_many_small_files_are_in_the_advice_without_an_objective(registered_table, tmp_path, capsys):
    table = create(tmp_path / "orders")
    for number in range(20):
        table.write(batch([(f"k{number}", "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    file = registered(tmp_path, {"name": "orders"})
    place = ["--table=orders", f"--registry={file}"] if registered_table else [f"--target-base-path={tmp_path}/orders"]
    assert main(["show", "table", *place]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "DUE 20 file groups, " in shown
    assert "can be packed into 1 file" in shown
    assert f"$ hudi-services cluster {' '.join(place).replace('=', ' ')} " in shown
    assert main(["advise", *place, "--json"]) == 0
    [table_values] = json.loads(capsys.readouterr().out)["tables"]
    assert [item["service"] for item in table_values["advice"]] == ["cluster"], "said once"


def test_a_plan_that_cannot_be_read_is_damage_with_the_command_that_removes_it(tmp_path, capsys):
    fill(table := create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"}))
    table.schedule(COMPACTION, force=True)
    (plan,) = (tmp_path / "orders").rglob("*.compaction.requested")
    plan.write_bytes(plan.read_bytes()[:99])
    instant = plan.name.partition(".")[0]
    for command in (["show", "table"], ["advise"], ["doctor"]):
        main([*command, f"--target-base-path={tmp_path}/orders"])
        shown = capsys.readouterr().out
        assert f"$ hudi-services compact --unschedule {instant} --target-base-path" in shown
        assert ("DAMAGE" in shown, "WAITING" in shown, "--mode execute" in shown) == (True, False, False)


def test_a_damage_that_reads_do_not_meet_is_found_in_a_small_table(tmp_path, capsys, monkeypatch):
    fill(create(tmp_path / "orders"))
    file = next((tmp_path / "orders").rglob("*.parquet"))
    shutil.copy(file, file.with_name(file.name.replace("_", "-stray_", 1)))
    show = ["show", "table", f"--target-base-path={tmp_path}/orders"]
    assert main(show) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("advice\n  DAMAGE   A file of instant ")
    assert f" $ hudi-services doctor --fix --target-base-path {tmp_path}/orders\n" in shown
    for limit in ("_FEW_FILES", "_FEW_INSTANTS"):
        with monkeypatch.context() as patch:
            patch.setattr(gather, limit, -1)
            assert main(show) == 0
            assert "the doctor's checks" not in (large := capsys.readouterr().out)
            assert large.startswith("advice\n  Nothing to do."), "a large table is left to `advise` and `doctor`"
