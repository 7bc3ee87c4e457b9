"""Answers of a history: the newest runs and sums, from the table and from the spool, each run once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError
from hudi_services.cli.program import main
from hudi_services.entry.table import History
from hudi_services.operations.history import store
from hudi_services.operations.history.queries import runs, since_when, sums
from hudi_services.operations.history.record import Record, Started, as_rows
from hudi_services.operations.history.recorder import Asker, Recorded
from hudi_services.runtime.result import Gain, ServiceResult
from tests.support.runs import recording

NOW = datetime.now(UTC)
LONG_AGO = NOW - timedelta(days=7)


def ran(history, table, service, instant="1", gain=None, asker=None, error=None, **counts):
    recorded = Recorded(history, table, asker or Asker())
    try:
        with recording(recorded, service, "/lake", "local") as run:
            if error is not None:
                raise error
            run.done(ServiceResult(service, f"made {instant}", instant, gain=gain or Gain(), **counts))
    except ValueError:
        pass


def test_sums_by_table_and_service(history):
    ran(history, "orders", "clean", gain=Gain(bytes_freed=10))
    ran(history, "orders", "clean", None, gain=Gain(bytes_freed=0))
    ran(history, "orders", "clean", error=ValueError("no"))
    ran(history, "trips", "compact", gain=Gain(log_bytes_merged=7, files_before=3, files_after=1), rows_written=5)
    clean, compact = sums(runs(history, LONG_AGO, NOW)).to_pylist()
    assert (clean["table_name"], clean["runs"], clean["nothing"], clean["failed"]) == ("orders", 3, 1, 1)
    assert (clean["bytes_freed"], clean["log_bytes_merged"]) == (10, None)
    assert (compact["log_bytes_merged"], compact["files_before"], compact["files_after"]) == (7, 3, 1)
    assert compact["rows_written"] == 5


def test_only_the_runs_that_were_asked_for(history):
    for table, service in (("orders", "clean"), ("orders", "compact"), ("trips", "clean")):
        ran(history, table, service)
    found = runs(history, LONG_AGO, NOW, table="orders", service="clean")
    assert found.select(["table_name", "service"]).to_pylist() == [{"table_name": "orders", "service": "clean"}]
    assert runs(history, datetime.now(UTC) + timedelta(seconds=1), NOW).num_rows == 0


def test_what_waits_and_what_goes_on_is_shown_once(history, monkeypatch):
    asker = Asker("dag", "run", "task")
    ran(history, "orders", "clean", asker=asker)
    monkeypatch.setattr(store, "_APART", timedelta(hours=1))
    ran(history, "orders", "clean", instant=None, asker=asker)  # the same try, reported again: it is not delivered yet
    ran(history, "orders", "ingest")
    with recording(Recorded(history, "orders"), "compact", "/lake", "local") as run:
        found = runs(history, LONG_AGO, datetime.now(UTC)).to_pylist()
        run.done(ServiceResult("compact", ""))
    assert [(each["service"], each["outcome"]) for each in found] == [
        ("compact", "running"),
        ("ingest", "done"),
        ("clean", "nothing to do"),
    ]


def test_a_history_without_a_run_is_empty(history, capsys):
    assert main(["history", f"--path={history.path}"]) == 0
    assert "no runs" in capsys.readouterr().out


def test_the_command_tells_newest_and_sums(history, capsys):
    for number in range(3):
        ran(history, "orders", "clean", str(number), gain=Gain(bytes_freed=2048))
    assert main(["history", f"--path={history.path}", "--limit=2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["runs"], [each["message"] for each in told["newest"]]) == (3, ["made 2", "made 1"])
    assert told["sums"][0]["bytes_freed"] == 3 * 2048
    assert told["newest"][0]["bytes_read"] == 0
    assert told["newest"][0]["log_bytes_merged"] is None
    assert main(["history", f"--path={history.path}", "--limit=2"]) == 0
    text = capsys.readouterr().out
    assert "1 more since then: --limit 3" in text
    assert "6.0 KiB freed" in text


def test_the_registry_says_where(tmp_path, history, capsys):
    entry = {"name": "orders", "base_path": f"{tmp_path}/orders"}
    file = tmp_path / "tables.yaml"
    file.write_text(json.dumps({"tables": [entry]}))
    assert main(["history", f"--registry={file}"]) == 2
    assert "names no history for any table" in capsys.readouterr().err
    file.write_text(json.dumps({"history": {"path": history.path}, "tables": [entry]}))
    ran(history, "orders", "clean")
    for flags in ([], ["--table=orders"]):
        assert main(["history", f"--registry={file}", *flags, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"] == 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T06:00+02:00", datetime(2026, 3, 1, 4, tzinfo=UTC)),
        ("12h", datetime(2026, 3, 2, 12, tzinfo=UTC)),
        ("yesterday", datetime(2026, 3, 2, tzinfo=UTC)),
    ],
)
def test_times_as_people_say_them(text, wanted):
    assert since_when(text, datetime(2026, 3, 3, tzinfo=UTC)) == wanted


@pytest.mark.parametrize("text", ["", "soon", "999999d", "7 days"])
def test_no_times(text):
    with pytest.raises(ConfigError, match="is no time"):
        since_when(text, datetime(2026, 3, 3, tzinfo=UTC))


def test_a_history_of_an_older_and_of_a_newer_release(history):
    early = Started("1", "orders", "/lake", "clean", "local", NOW.isoformat(), "h")
    row = as_rows([Record(early, "done")], NOW)
    without, more = ("host", "files_after"), row.append_column("later", pa.array(["kept"]))
    for number, (columns, rows) in enumerate([(without, row.drop_columns(without)), ((), more)]):
        place = History(path=f"{history.path}{number}")
        HoodieTable.create(place.path, store._CREATE, rows.schema).write(rows, "upsert")
        assert runs(place, LONG_AGO, NOW)["host"].to_pylist() == [None if columns else "h"]
        ran(place, "orders", "clean")
        assert runs(place, LONG_AGO, NOW).num_rows == 2
    stored = HoodieTable.open(place.path).read(["run_id", "later"])
    assert {"run_id": "1", "later": "kept"} in stored.to_pylist()
