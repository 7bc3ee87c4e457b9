"""When services run by themselves, and which of them never do."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from hudi_services.entry.schedule_text import services_of
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES

TODAY = date(2026, 11, 22)
SOURCE = {"path": "/land", "format": "csv"}


def when(**entry: Any) -> dict[str, tuple[str, str | None]]:
    given = {"name": "orders", "base_path": "/lake/orders", "keys": {"record_key": "id"}, **entry}
    table = table_model(ENTRIES).model_validate(given)
    return {each.service: (each.runs, each.never) for each in services_of(table, ENTRIES, TODAY)}


def test_schedules_and_what_follows_them() -> None:
    found = when(source=SOURCE, ingest={"schedule": "0 * * * *"}, clean={"after_ingests": 4, "schedule": "0 4 * * 0"})
    assert found == {
        "ingest": ("cron 0 * * * *", None),
        "clean": ("cron 0 4 * * 0, after commits by any program", None),
    }


def test_a_table_that_says_nothing_is_run_by_hand() -> None:
    found = when(source=SOURCE)
    assert found["ingest"] == ("by hand", "ingest.schedule is not set")
    assert found["clean"] == ("by hand", "neither clean.schedule nor clean.after_ingests is set")


def test_what_follows_something_that_never_runs_never_runs() -> None:
    found = when(source=SOURCE, type="MERGE_ON_READ", sync={})
    assert found["sync"] == ("after ingest and compact", "it follows ingest and compact, which never runs by itself")


def test_one_of_two_is_enough() -> None:
    found = when(source=SOURCE, type="MERGE_ON_READ", compact={"schedule": "0 1 * * *"}, sync={})
    assert found["sync"] == ("after ingest and compact", None)


def test_commits_of_others_start_services_that_count_them() -> None:
    """Also those of a table that no ingestion of ours fills, or whose ingestion runs by hand."""
    assert when(clean={"after_ingests": 2})["clean"] == ("after commits by any program", None)
    found = when(source=SOURCE, type="MERGE_ON_READ", compact={"after_ingests": 1}, sync={})
    assert found["compact"] == ("after commits by any program", None)
    assert found["sync"] == ("after ingest and compact", None)


def test_a_table_of_others_has_nothing_to_follow() -> None:
    assert when(sync={})["sync"] == ("by hand", "it follows ingest, and the table has none here")


@pytest.mark.parametrize(("end", "over"), [("2026-11-21", True), ("2026-11-22", False), ("2027-01-01", False)])
def test_a_schedule_ends(end: str, over: bool) -> None:
    runs, never = when(source=SOURCE, ingest={"schedule": "0 6 * * *", "end": end})["ingest"]
    assert (runs, never) == (
        ("by hand", f"its schedule '0 6 * * *' ended with ingest.end, {end}") if over else ("cron 0 6 * * *", None)
    )


def test_a_bootstrap_is_asked_for_by_people() -> None:
    assert when(bootstrap={"source_path": "/plain"})["bootstrap"] == ("by hand, once", None)
