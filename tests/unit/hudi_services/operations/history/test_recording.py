"""Each run of a service leaves exactly one record in the history, with any outcome."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from hoodie import ARCHIVE, CLEAN, HoodieTable
from hoodie.clock import SystemClock
from hoodie.engine import Engine, LocalEngine
from hoodie.errors import DeleteCapError, LockHeldError
from hudi_services.cli.program import main
from hudi_services.entry.table import History
from hudi_services.operations.alerts.evaluation import failed_runs
from hudi_services.operations.history import store
from hudi_services.operations.history.queries import runs
from hudi_services.operations.history.record import Record, Started
from hudi_services.operations.history.recorder import Asker, Recorded
from hudi_services.operations.history.recording import carried_out_recorded, delivered, record_idle
from hudi_services.operations.history.spool import Spool, spool_of
from hudi_services.operations.history.store import deliver
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.result import Gain, ServiceResult, read_report
from tests.support import cli
from tests.support.matrix import sample
from tests.support.runs import recording
from tests.support.tables import batch, create


def records(history: History) -> list[dict[str, object]]:
    return HoodieTable.open(history.path).read().sort_by("began").to_pylist()


def registry(folder: Path, history: str) -> str:
    file = folder / "tables.yaml"
    file.write_text(
        f"history: {{path: {history}}}\ntables:\n  - name: orders\n    base_path: {folder}/orders\n"
        f"    keys: {{record_key: id, partition_by: part, ordering: ts}}\n    source: {{path: {folder}/land, format: parquet}}\n"
    )
    return f"--registry={file}"


def spooled(history: History) -> list[str]:
    folder = Path(spool_of(history))
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


def test_an_ingestion_of_the_registry_leaves_a_record(tmp_path, history, capsys) -> None:
    cli.deliver(tmp_path / "land", "1.parquet", [("a", "p", 1, 1), ("b", "p", 1, 1)])
    named = registry(tmp_path, history.path)
    assert main(["ingest", "--table=orders", named, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["ingest", "--table=orders", named]) == 0
    first, second = records(history)
    assert (first["outcome"], second["outcome"]) == ("done", "nothing to do")
    assert first["instants"] == [told["instant"]]
    assert (first["rows_read"], first["rows_written"], first["bytes_read"]) == (2, 2, told["bytes_read"])
    assert first["table_name"] == "orders"
    assert first["service"] == "ingest"
    assert first["engine"] == "local"
    assert first["cpu_seconds"] > 0
    assert first["peak_memory"] > 10_000_000
    assert first["seconds"] > 0
    assert (first["dag_id"], first["spark_application"], first["attempt"]) == (None, None, 1)
    assert spooled(history) == []


def test_what_is_done_for_the_history_is_not_in_the_log(tmp_path, history, caplog) -> None:
    caplog.set_level(logging.INFO)
    with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
        run.done(ServiceResult("clean", ""))
    assert len(records(history)) == 1
    assert caplog.records == []


def test_a_run_that_fails_leaves_the_errors_name(tmp_path, history) -> None:
    with pytest.raises(ZeroDivisionError), recording(Recorded(history, "orders"), "clean", str(tmp_path), "local"):
        raise ZeroDivisionError
    (record,) = records(history)
    assert (record["outcome"], record["error"]) == ("failed", "ZeroDivisionError")
    assert record["rows_written"] is None
    assert record["bytes_freed"] is None


def test_what_was_not_counted_or_measured_is_null(tmp_path, history) -> None:
    result = ServiceResult("compact", "", "7", gain=Gain(log_bytes_merged=5), uncounted=("rows_read",))
    with recording(Recorded(history, "orders"), "compact", str(tmp_path), "spark", "app-1") as run:
        run.done(result)
    (record,) = records(history)
    assert (record["cpu_seconds"], record["peak_memory"], record["rows_read"]) == (None, None, None)
    assert (record["rows_written"], record["log_bytes_merged"], record["bytes_freed"]) == (0, 5, None)
    assert record["spark_application"] == "app-1"


def test_the_same_try_is_one_record_and_the_next_try_another(tmp_path, history) -> None:
    for attempt in (1, 1, 2):
        asker = Asker("dag", "run", "task", None, attempt)
        with recording(Recorded(history, "orders", asker), "clean", str(tmp_path), "local") as run:
            run.done(ServiceResult("clean", f"try {attempt}"))
    assert [record["attempt"] for record in records(history)] == [1, 2]


def test_a_record_whose_delivery_was_cut_short_is_not_doubled(tmp_path, history, monkeypatch) -> None:
    with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
        run.done(ServiceResult("clean", ""))
        monkeypatch.setattr("hoodie.storage.local.LocalStorage.delete", lambda *_: (_ for _ in ()).throw(OSError("no")))
    assert len(spooled(history)) == 2
    monkeypatch.undo()
    monkeypatch.setattr(store, "_APART", timedelta(0))
    assert deliver(history, SystemClock()) == 1
    assert len(records(history)) == 1
    assert spooled(history) == []


def test_to_ask_is_no_failure(tmp_path, history) -> None:
    kept = Recorded(history, "orders")
    with pytest.raises(DeleteCapError), delivered(kept), recording(kept, "clean", str(tmp_path), "local"):
        raise DeleteCapError("It would delete 35 files", digest="0123456789ab")
    (record,) = records(history)
    assert (record["outcome"], record["error"]) == ("asks", "DeleteCapError")
    now = SystemClock().now() + timedelta(seconds=1)
    assert list(failed_runs(runs(history, now - timedelta(hours=1), now))) == []


def test_a_history_that_cannot_be_written_fails_no_run_and_is_made_up_for(tmp_path, history, caplog) -> None:
    Path(history.path).write_text("no folder")
    Path(spool_of(history)).write_text("no folder either")
    with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
        run.done(ServiceResult("clean", "1"))
    assert history.path in caplog.text
    assert "misses its records" in caplog.text
    Path(history.path).unlink()
    Path(spool_of(history)).unlink()
    with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
        run.done(ServiceResult("clean", "2"))
    assert [record["message"] for record in records(history)] == ["1", "2"]


def test_another_table_is_not_written_to(tmp_path, history, caplog) -> None:
    other = create(tmp_path / "other")
    other.write(batch([("a", "p", 1, 1)]), "upsert")
    mistaken = History(path=other.base_path)
    with recording(Recorded(mistaken, "orders"), "clean", str(tmp_path), "local") as run:
        run.done(ServiceResult("clean", ""))
    assert "is no history of runs" in caplog.text
    assert HoodieTable.open(other.base_path).read().num_rows == 1
    assert len(spooled(mistaken)) == 1


def test_tasks_that_end_together_leave_their_records_to_one_commit(tmp_path, history, monkeypatch) -> None:
    for _ in range(2):
        with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
            run.done(ServiceResult("clean", ""))
        monkeypatch.setattr(store, "_APART", timedelta(hours=1))
    assert len(records(history)) == 1
    assert len(spooled(history)) == 1
    monkeypatch.setattr(store, "_APART", timedelta(0))
    assert deliver(history, SystemClock()) == 1
    assert len(records(history)) == 2


SHORT = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
KILLED = """
import os, signal, sys
from hoodie import HoodieTable
from hudi_services.entry.table import History
from hudi_services.operations.history.queries import runs
from hudi_services.operations.history.record import Record, Started
from hudi_services.operations.history.recorder import Recorded
from hudi_services.operations.history.recording import recording
from tests.support.tables import batch
path, history, before = sys.argv[1:]
table = HoodieTable.open(path)
with recording(Recorded(History(path=history), "orders"), "ingest", path, "local"):
    if before == "before":
        import hoodie.transaction.instants as instants
        instants.complete = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    table.write(batch([("a", "p", 1, 1)]), "upsert")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", sample(["before", "after", "archived"], 0, 2))
def test_a_run_that_is_killed_is_recorded_with_what_it_had_completed(tmp_path, history, moment) -> None:
    table = create(tmp_path / "orders")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    died = subprocess.run([sys.executable, "-c", KILLED, table.base_path, history.path, moment], env=environment)
    assert died.returncode == -signal.SIGKILL
    done = [str(commit.time) for commit in table.timeline.commits]
    if moment == "archived":
        for step in range(2, 12):
            table.write(batch([("a", "p", step, step)]), "upsert")
        table.run(CLEAN, SHORT)
        table.run(ARCHIVE, SHORT)
        assert done[0] not in [str(commit.time) for commit in HoodieTable.open(table.base_path).timeline.commits]
    with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
        run.done(ServiceResult("clean", ""))
    killed, _ = records(history)
    assert (killed["outcome"], killed["service"], killed["ended"]) == ("killed", "ingest", None)
    assert killed["instants"] == done
    assert len(done) == (moment != "before")


def test_a_run_that_goes_on_is_not_taken_for_killed(tmp_path, history) -> None:
    with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
        assert deliver(history, SystemClock()) == 0
        (waiting,) = Spool.of(history).waiting(SystemClock().now())
        assert not waiting.dead
        run.done(ServiceResult("clean", ""))


def test_an_explained_plan_leaves_none(tmp_path, history) -> None:
    table = create(tmp_path / "orders")
    table.write(batch([("a", "p", 1, 1)]), "upsert")
    assert main(["clean", "--table=orders", registry(tmp_path, history.path), "--explain"]) == 0
    assert not Path(history.path).exists()
    assert spooled(history) == []


def test_the_history_cleans_itself(tmp_path, history) -> None:
    for _ in range(14):
        with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
            run.done(ServiceResult("clean", ""))
    assert len(list(Path(history.path).glob("day=*/*.parquet"))) < 14
    assert len(records(history)) == 14


def test_many_runs_that_end_at_once_leave_each_its_record(tmp_path, history) -> None:
    def run_of(number: int) -> None:
        asker = Asker("dag", "run", "task", number)
        with recording(Recorded(history, "orders", asker), "clean", str(tmp_path), "local") as run:
            run.done(ServiceResult("clean", ""))

    before = logging.getLogger("hoodie").level
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run_of, range(12)))
    assert logging.getLogger("hoodie").level == before
    deliver(history, SystemClock())
    assert sorted(record["map_index"] for record in records(history)) == list(range(12))
    assert spooled(history) == []


def test_a_lock_that_holds_records_up_for_long_is_told(tmp_path, history, caplog, monkeypatch) -> None:
    def held(*_: object) -> None:
        raise LockHeldError("The lock is held", found="by a host that is gone", fix="unlock it")

    monkeypatch.setattr(HoodieTable, "write", held)
    for patience, told in ((timedelta(minutes=10), False), (timedelta(0), True)):
        monkeypatch.setattr(store, "_PATIENCE", patience)
        with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
            run.done(ServiceResult("clean", ""))
        assert ("by a host that is gone" in caplog.text) is told
    assert len(spooled(history)) == 2


def test_what_is_no_record_stays_in_the_spool_and_is_told(tmp_path, history, caplog) -> None:
    folder = Path(spool_of(history))
    folder.mkdir()
    (folder / "a.done").write_text("{}")
    (folder / "b.begun").write_text("torn")
    with recording(Recorded(history, "orders"), "clean", str(tmp_path), "local") as run:
        run.done(ServiceResult("clean", ""))
    assert len(records(history)) == 1
    assert spooled(history) == ["a.done", "b.begun"]
    assert "a.done in the spool" in caplog.text
    assert "b.begun in the spool" in caplog.text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_id", ""),
        ("run_id", None),
        ("base_path", True),
        ("began", {"a": 1}),
        ("ended", 1.5),
        ("ended", "0001-01-01T00:00:00+14:00"),
        ("message", "\ud800"),
        ("rows_read", 2**70),
        ("instants", [5]),
    ],
)
def test_a_record_that_has_no_row_keeps_no_other_one_out(tmp_path, history, caplog, name, value) -> None:
    kept = Recorded(history, "orders")
    record = asdict(Record(Started("1", "orders", "/t", "clean", "local", "2026-11-24T00:00:00+00:00", "here"), "done"))
    (record["started"] if name in record["started"] else record)[name] = value
    folder = Path(spool_of(history))
    folder.mkdir()
    (folder / "a.done").write_text(json.dumps(record))
    (folder / "b.begun").write_text(json.dumps({"started": {**record["started"], name: value}, "owner": {}}))
    with delivered(kept):
        carried_out_recorded(kept, "clean", str(tmp_path), Cleans(), LocalEngine(1))
    assert len(records(history)) == 1
    assert spooled(history) == ["a.done", "b.begun"]
    assert "a.done in the spool" in caplog.text


class Cluster:
    """An engine of Spark, as far as a record asks for it."""

    application = "app-1"

    def __init__(self, seconds: float | None) -> None:
        self.cpu_seconds = seconds
        self.peak_memory = None if seconds is None else 5 << 30


@dataclass(frozen=True)
class Cleans:
    """A task that ends at once."""

    def run(self, engine: Engine) -> ServiceResult:
        return ServiceResult("clean", "")


@pytest.mark.parametrize(("seconds", "known"), [(100.0, True), (None, False)])
def test_executors_count_where_spark_can_tell(tmp_path, history, seconds, known) -> None:
    kept = Recorded(history, "orders")
    with delivered(kept):
        done = carried_out_recorded(kept, "clean", str(tmp_path), Cleans(), LocalEngine(1), Cluster(seconds))
    (record,) = records(history)
    assert (record["engine"], record["spark_application"]) == ("spark", "app-1")
    assert record["peak_memory"] == (5 << 30 if known else None)
    assert (record["cpu_seconds"] is not None) is known
    if known:
        assert 100 <= record["cpu_seconds"] < 110
        assert 100 <= done.cost.cpu_seconds <= record["cpu_seconds"]
    assert done.cost.peak_memory == record["peak_memory"]


def test_what_a_run_cost_is_told_without_a_history(tmp_path) -> None:
    done = carried_out_recorded(None, "clean", str(tmp_path), Cleans(), LocalEngine(1))
    assert done.cost.cpu_seconds >= 0
    assert done.cost.peak_memory > 1 << 20


def test_a_run_is_told_before_its_record_is_delivered(tmp_path, history, monkeypatch) -> None:
    left = []
    monkeypatch.setattr(
        "hudi_services.operations.history.recording.deliver", lambda *_: left.append(read_report(str(result)))
    )
    named, result = registry(tmp_path, history.path), tmp_path / "result.json"
    cli.deliver(tmp_path / "land", "1.parquet", [("a", "p", 1, 1)])
    assert main(["ingest", "--table=orders", named, f"--result-path={result}"]) == 0
    cli.deliver(tmp_path / "land", "2.parquet", [("b", "p", 1, 1)])
    Path(tmp_path, "land", "2.parquet").write_bytes(b"torn")
    assert main(["ingest", "--table=orders", named, f"--result-path={result}"]) == 1
    done, failed = left
    assert isinstance(done, ServiceResult)
    assert isinstance(failed, Failure)


def test_records_without_work_wait_for_another_run(tmp_path, history) -> None:
    recorded = Recorded(history, "orders")
    record_idle(recorded, "clean", str(tmp_path), "nothing to clean")
    record_idle(recorded, "clean", str(tmp_path), "still nothing")
    assert len(spooled(history)) == 1
    with recording(recorded, "compact", str(tmp_path), "local") as run:
        run.done(ServiceResult("compact", "", acted=True))
    assert [(row["service"], row["outcome"], row["message"]) for row in records(history)] == [
        ("clean", "nothing to do", "still nothing"),
        ("compact", "done", ""),
    ]
    assert spooled(history) == []
