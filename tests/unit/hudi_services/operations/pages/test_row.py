"""A table in one line: the gravest of what was seen and what failed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest

from hudi_services.entry.server import database_dag
from hudi_services.operations.pages.row import GRAVEST, FleetRow, Standing, row
from hudi_services.operations.pages.snapshots import DagOutcome, FleetState
from hudi_services.operations.watch.model import Health, Summary
from hudi_services.operations.watch.run_history import EndedRun, RecentRuns
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
TABLE = table_model(ENTRIES).model_validate({"name": "t", "base_path": "/lake/t", "type": "MERGE_ON_READ"})
FED = {"name": "t", "base_path": "/lake/t", "source": {"path": "/landing", "format": "csv"}}
SEEN = Summary(
    "t", "/lake/t", "ok", NOW, NOW, rows=4, bytes=9, files=2, log_bytes=1, pending=3, instants=7, urgency=0.5
)


def seen(summary: Summary | None = None, **states: str) -> FleetRow:
    ran = {f"hudi_{service}__t": DagOutcome("r", state, NOW) for service, state in states.items()}
    return row(TABLE, FleetState(ran, {"t": summary} if summary is not None else {}), NOW.date())


def test_every_health_has_its_place() -> None:
    assert (
        set(GRAVEST)
        == set(get_args(Standing))
        == {*get_args(Health), "gone", "missing", "loses", "failed", "asks", "unknown"}
    )


@pytest.mark.parametrize(
    ("health", "states", "shown"),
    [
        (None, {}, "unknown"),
        (None, {"clean": "failed"}, "failed"),
        ("ok", {"clean": "success", "compact": "running"}, "ok"),
        ("ok", {"clean": "success", "compact": "failed"}, "failed"),
        ("missed", {"clean": "failed"}, "failed"),
        ("unreadable", {"clean": "failed"}, "unreadable"),
        ("paused", {"clean": "skipped"}, "paused"),
    ],
)
def test_the_gravest_stands(health: Health | None, states: dict[str, str], shown: str) -> None:
    summary = Summary("t", "/lake/t", health, NOW) if health is not None else None
    assert seen(summary, **states).state == shown


def test_a_table_whose_advice_is_a_loss_is_not_fine() -> None:
    left_out = Summary("t", "/lake/t", "ok", NOW, advice="2 loads left 9 rows in the quarantine", severity="loss")
    assert seen(left_out).state == "loses"
    assert seen(left_out, clean="failed").state == "loses"
    assert seen(replace(left_out, severity="due")).state == "ok"


def test_reasons_are_those_of_the_look_and_of_the_runs() -> None:
    found = seen(Summary("t", "/lake/t", "missed", NOW, reason="freshness"), clean="failed")
    assert found.reasons == ("freshness", "the last run of clean failed")


def test_dags_that_airflow_keeps_switched_off_are_named() -> None:
    scheduled = {"clean": {"schedule": "0 3 * * *"}, "compact": {"after_ingests": 2}, "archive": {}}
    table = table_model(ENTRIES).model_validate({**TABLE.model_dump(exclude_unset=True), **scheduled})

    def shown(*off: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        state = FleetState(seen={"t": SEEN}, switched_off=frozenset(f"hudi_{service}__t" for service in off))
        result = row(table, state, NOW.date())
        return result.running, result.reasons, result.state

    assert shown("archive", "other") == (("clean", "compact"), (), "ok"), "nothing would start archive anyway"
    (reason,) = shown("clean")[1]
    assert reason == "nothing starts clean: its DAG is switched off in Airflow"
    off = ("nothing starts clean and compact: their DAGs are switched off in Airflow",)
    assert shown("clean", "compact") == ((), off, "ok")


def test_the_dag_of_a_server_that_is_switched_off_is_named() -> None:
    loaded = {"name": "t", "base_path": "/lake/t", "source": {"server": "shop", "table": "b.t"}}
    table = table_model(ENTRIES).model_validate(loaded)
    state = FleetState(switched_off=frozenset([database_dag("shop")]))
    (reason,) = row(table, state, NOW.date()).reasons
    assert reason == f"nothing loads it: the DAG {database_dag('shop')} is switched off in Airflow"


def test_a_table_that_was_there_is_gone() -> None:
    found = seen(replace(SEEN, health="absent", reason="a long error"))
    assert (found.state, found.reasons, found.bytes) == ("gone", ("there is no table at /lake/t",), 9)


def test_a_table_that_no_load_of_ours_makes_is_missing() -> None:
    absent = Summary("t", "/lake/t", "absent", NOW)
    assert seen(absent).state == "missing", "as its advice says"
    assert seen(absent, clean="failed").state == "missing", "one state"
    assert row(table_model(ENTRIES).model_validate(FED), FleetState({}, {"t": absent}), NOW.date()).state == "absent"


def test_a_pause_is_told_whatever_is_graver() -> None:
    found = seen(replace(SEEN, health="missed", reason="freshness", paused="by me: because"), clean="failed")
    assert found.state == "failed"
    assert found.reasons == ("freshness", "paused by me: because", "the last run of clean failed")
    assert seen(replace(SEEN, health="paused", reason="by me: because", paused="by me: because")).reasons == (
        "paused by me: because",
    )


@pytest.mark.parametrize(
    ("ran", "shown"),
    [
        (DagOutcome("r", "running", NOW, "failed"), "failed"),
        (DagOutcome("r", "running", NOW, "success"), "ok"),
        (DagOutcome("r", "asks", NOW, "success"), "asks"),
        (DagOutcome("r", "success", NOW), "ok"),
        (DagOutcome("r", "paused", NOW, "failed"), "failed"),
    ],
)
def test_a_run_that_goes_on_hides_no_failure(ran: DagOutcome, shown: str) -> None:
    found = row(TABLE, FleetState({"hudi_clean__t": ran}, {"t": SEEN}), NOW.date())
    assert found.state == shown
    assert ("clean waits for approval" in found.reasons) is (shown == "asks")


@pytest.mark.parametrize(("outcome", "shown"), [("nothing to do", "ok"), ("done", "ok"), ("failed", "failed")])
def test_a_later_success_of_any_kind_ends_a_failure(outcome: str, shown: str) -> None:
    ran = {"hudi_clean__t": DagOutcome("r", "failed", NOW - timedelta(hours=1))}
    later = RecentRuns(EndedRun(outcome, NOW.isoformat(), NOW.isoformat()))
    found = row(TABLE, FleetState(ran, {"t": SEEN}, recent={"t": {"clean": later}}), NOW.date())
    assert found.state == shown


def test_numbers_are_those_of_the_summary() -> None:
    found = seen(SEEN)
    assert (found.rows, found.bytes, found.files, found.log_bytes, found.pending, found.urgency) == (4, 9, 2, 1, 3, 0.5)
    assert found.last_commit == found.looked_at == "2026-11-23T12:00:00+00:00"


@pytest.mark.parametrize("health", ["absent", "unreadable"])
def test_what_nobody_could_see_has_no_numbers(health: Health) -> None:
    found = seen(Summary("t", "/lake/t", health, NOW))
    assert (found.bytes, found.files, found.last_commit) == (None, None, None)
    assert found.looked_at is not None


def test_a_table_that_cannot_be_read_any_more_keeps_its_last_numbers() -> None:
    assert seen(Summary("t", "/lake/t", "unreadable", NOW, bytes=9, instants=7)).bytes == 9


def test_the_last_runs_are_in_order_whatever_their_time_zone() -> None:
    earlier = (NOW - timedelta(hours=1)).astimezone(timezone(timedelta(hours=9)))
    ran = {"hudi_clean__t": DagOutcome("a", "success", earlier), "hudi_compact__t": DagOutcome("b", "success", NOW)}
    ran["hudi_clean__other"] = DagOutcome("c", "failed", NOW)
    assert [(each.service, each.at) for each in row(TABLE, FleetState(ran), NOW.date()).runs] == [
        ("compact", "2026-11-23T12:00:00+00:00"),
        ("clean", "2026-11-23T11:00:00+00:00"),
    ]


def test_a_later_success_by_other_means_ends_a_failure() -> None:
    """A run of the command line after Airflow's run has failed."""
    later, before = ((NOW + timedelta(minutes=step)).isoformat() for step in (1, -1))
    found = seen(replace(SEEN, successes={"clean": later, "compact": before}), clean="failed", compact="failed")
    assert (found.state, found.reasons) == ("failed", ("the last run of compact failed",))
    assert {each.service: each.later for each in found.runs} == {"clean": later, "compact": ""}


def test_numbers_have_the_time_of_the_look_that_read_them() -> None:
    assert seen(SEEN).measured_at == NOW.isoformat()
    assert seen(replace(SEEN, measured_at=NOW - timedelta(days=1))).measured_at == "2026-11-22T12:00:00+00:00"


def test_the_advice_is_that_of_the_look_unless_a_run_says_something_graver() -> None:
    missed = replace(SEEN, health="missed", advice="Reads merge 3.5 bytes.", severity="missed")
    damaged = replace(missed, advice="A file is missing.", severity="damage")
    assert seen(missed).advice == seen(missed, compact="asks").advice == "Reads merge 3.5 bytes."
    assert seen(missed, clean="failed").advice is None
    assert seen(damaged, clean="failed", compact="asks").advice == "A file is missing."
    assert seen(replace(missed, severity="due"), compact="asks").advice is None
    assert seen(SEEN).advice is seen(None).advice is None
