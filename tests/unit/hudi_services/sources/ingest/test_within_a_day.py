"""A schedule finer than the dates of files: each file once, and no Spark for runs that find nothing new."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hoodie import HoodieTable
from hudi_services.entry.dag import RunRequest, WhenDue
from hudi_services.entry.feed.expect import Expect
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from hudi_services.sources.ingest.dates import begins_within_days
from hudi_services.sources.ingest.entry import INGEST
from tests.support.cli import main

_DAY = datetime(2026, 11, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "wanted"),
    [
        ("0 * * * *", True),
        ("*/5 * * * *", True),
        ("0 6,18 * * *", True),
        ("0 6,18 1 * *", True),
        ("@hourly", True),
        ("0 6 * * *", False),
        ("0 6 1,2 * *", False),
        ("@daily", False),
        ("0 0 * * 0", False),
    ],
)
def test_schedules(cron: str, wanted: bool) -> None:
    assert begins_within_days(cron) is wanted


def table(folder: Path, **ingest: Any) -> Table:
    source = {"path": str(folder / "land"), "format": "csv", "date_pattern": "dt=%Y-%m-%d"}
    entry = {
        "name": "orders",
        "base_path": str(folder / "orders"),
        "keys": {"record_key": "id"},
        "source": source,
        "ingest": {"schedule": "0 * * * *", **ingest},
    }
    return table_model(ENTRIES).model_validate(entry)


def gate(of: Table) -> WhenDue:
    entry: ServiceEntry[Any] = INGEST
    first, *_ = entry.dag.steps(of, entry.section_of(of))
    assert isinstance(first, WhenDue)
    return first


def hour(n: int, run_type: str = "backfill") -> RunRequest:
    begin = _DAY + timedelta(hours=n)
    return RunRequest(run_type=run_type, interval=(begin, begin + timedelta(hours=1)))


def land(folder: Path, day: str, name: str, key: int) -> None:
    (folder / "land" / f"dt={day}").mkdir(parents=True, exist_ok=True)
    (folder / "land" / f"dt={day}" / name).write_text(f"id\n{key}\n")


def ids(of: Table) -> set[int]:
    return set(HoodieTable.open(of.base_path).read()["id"].to_pylist())


def run(of: Table, asked: RunRequest) -> bool:
    """Run as its DAG does. Says whether the run got past the gate, to Spark."""
    if not gate(of).look(asked).due:
        return False
    assert main(["ingest", *INGEST.called_with(of, asked).as_flags(of.base_path)]) == 0
    return True


def test_a_backfill_of_a_day_loads_it_once_and_not_24_times(tmp_path: Path) -> None:
    of = table(tmp_path)
    land(tmp_path, "2026-11-02", "a.csv", 1)
    land(tmp_path, "2026-11-03", "b.csv", 2)
    land(tmp_path, "2026-11-04", "c.csv", 3)
    loads = [run(of, hour(n)) for n in range(24)]
    assert loads == [True] + [False] * 23
    assert ids(of) == {2}, "exactly that day"


def test_what_arrives_during_the_day_is_loaded_by_the_next_hour(tmp_path: Path) -> None:
    of = table(tmp_path)
    land(tmp_path, "2026-11-03", "a.csv", 1)
    assert [run(of, hour(n, "scheduled")) for n in (11, 12)] == [True, False]
    land(tmp_path, "2026-11-03", "b.csv", 2)
    land(tmp_path, "2026-11-02", "late.csv", 3)
    assert [run(of, hour(n, "scheduled")) for n in (13, 14)] == [True, False]
    assert ids(of) == {1, 2, 3}


def test_people_and_sources_that_cannot_be_seen_are_never_stopped(tmp_path: Path) -> None:
    of = table(tmp_path)
    assert gate(of).look(RunRequest(run_type="manual")).due
    found = gate(of).look(hour(3))
    assert found.due, "the folder is not there: the ingestion says so"
    assert str(tmp_path / "land") in found.reason


def test_a_daily_schedule_has_no_gate(tmp_path: Path) -> None:
    of = table(tmp_path, schedule="0 6 * * *")
    assert [step.task_id for step in INGEST.dag.steps(of, INGEST.section_of(of))] == ["ingest"]


def test_a_run_starts_without_new_files_where_it_checks_their_age(tmp_path: Path) -> None:
    """Otherwise a feed that stopped would stay unseen."""
    land(tmp_path, "2026-11-03", "a.csv", 1)
    plain = table(tmp_path)
    assert run(plain, hour(0))
    source = plain.folder.model_copy(update={"expect": Expect(freshness="1d")})  # type: ignore[union-attr]
    checked = plain.model_copy(update={"source": source})
    assert not gate(plain).look(hour(1, "scheduled")).due
    assert gate(checked).look(hour(1, "scheduled")).due
    assert not gate(checked).look(hour(1)).due, "a backfill is about old files"
