"""The advice box of a table: by the last look, by Airflow's runs, and with buttons for those who may start runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hudi_services.operations.advice.estimate import Sample
from hudi_services.operations.advice.facts import BadRows, Damage
from hudi_services.operations.advice.model import Advice, Severity
from hudi_services.operations.advice.quarantine import as_values
from hudi_services.operations.pages.advice import Buttons, advice_page
from hudi_services.operations.pages.snapshots import DagOutcome, FleetState
from hudi_services.operations.watch.findings import DoctorRound
from hudi_services.operations.watch.model import Snapshot, Summary
from hudi_services.operations.watch.run_history import EndedRun, RecentRuns
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from tests.support.advice import AT_NINE

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
LOOKED = NOW - timedelta(minutes=5)
TABLE = table_model(ENTRIES).model_validate(
    {"name": "orders", "base_path": "/lake/orders", "type": "MERGE_ON_READ", "compact": {"after_ingests": 5}}
)
IDLE = {"due": False, "reason": "1 commit", "items": 0, "bytes": 0}
DUE = {"due": True, "reason": "5 delta commits", "items": 8, "bytes": 2048, "verb": "compact", "noun": "file group"}
SHOWN = {
    "base_path": "/lake/orders",
    "problems": [],
    "objectives": [],
    "next": {"compact": DUE, "clean": IDLE},
    "paused": None,
    "blockers": [],
    "pending": [],
    "locks": [],
}
DAG = "hudi_compact__orders"


def page(shown=SHOWN, health="ok", startable=(DAG,), ran=None, recent=None, doctor=None, server=(), **summary):
    snapshot = (
        Snapshot(Summary("orders", "/lake/orders", health, LOOKED, **summary), {"table": shown}) if shown else None
    )
    seen = {"orders": snapshot.summary} if snapshot is not None else {}
    known = FleetState(ran or {}, seen, recent={"orders": recent or {}})
    return advice_page(TABLE, known, snapshot, NOW, startable, doctor, server)


def test_work_that_is_due_has_buttons_for_those_who_may_start_it():
    [advice] = page().advice
    assert advice["text"] == "Reads merge the logs of 8 file groups; 5 delta commits."
    assert advice["waits"] == "It waits for a commit by any program."
    assert advice["buttons"] == Buttons(DAG, {"operation": "explain"}, {"operation": "execute"})
    [advice] = page(startable=()).advice
    assert advice["buttons"] is None


def test_a_service_that_its_options_do_not_make_due_is_forced():
    missed = {
        "objective": "log_ratio",
        "met": False,
        "value": 3.5,
        "limit": 0.5,
        "unit": "bytes per byte",
        "since": None,
    }
    shown = {**SHOWN, "objectives": [{**missed, "urgency": 7.0, "service": "compact"}], "next": {"compact": IDLE}}
    [advice] = page(shown).advice
    assert advice["buttons"].run == {"force": True, "operation": "execute"}


def test_nothing_to_do_says_what_was_looked_at():
    found = page({**SHOWN, "next": {"clean": IDLE}})
    assert (found.advice, found.looked_at) == ((), LOOKED.isoformat())
    assert found.looked == ("files", "plans of services", "locks", "consumers", "objectives")


def test_runs_that_airflow_saw_fail_or_wait():
    runs = {DAG: DagOutcome("r", "running", LOOKED, "failed"), "hudi_clean__orders": DagOutcome("r", "asks", LOOKED)}
    found = page(None, ran=runs)
    assert [(each["kind"], each["service"]) for each in found.advice] == [("run", "compact"), ("approval", "clean")]
    assert found.looked_at is None
    assert page(None, ran={DAG: DagOutcome("r", "success", LOOKED)}).advice == ()
    later = {"compact": NOW.isoformat()}  # by the command line
    assert page({**SHOWN, "next": {}}, ran={DAG: DagOutcome("r", "failed", LOOKED)}, successes=later).advice == ()


def ended(outcome, at, dag_run="", **more):
    moment = at.isoformat()
    return {"compact": RecentRuns(EndedRun(outcome, moment, moment, dag_run=dag_run, **more))}


def test_a_success_that_had_nothing_to_do_ends_a_failure():
    failed = {DAG: DagOutcome("r", "failed", LOOKED)}
    shown, before = {**SHOWN, "next": {}}, LOOKED - timedelta(minutes=1)
    assert page(shown, ran=failed, recent=ended("nothing to do", NOW)).advice == ()
    assert page(shown, ran=failed, recent=ended("done", NOW)).advice == ()
    assert [each["kind"] for each in page(shown, ran=failed, recent=ended("nothing to do", before)).advice] == ["run"]
    assert [each["kind"] for each in page(shown, ran=failed, recent=ended("failed", NOW)).advice] == ["run"]


def test_the_history_says_why_a_run_failed():
    failed, shown = {DAG: DagOutcome("r", "failed", NOW)}, {**SHOWN, "next": {}}
    torn = {"error": "TornFileError", "message": "A file is torn"}
    [advice] = page(shown, ran=failed, recent=ended("failed", LOOKED, "r", **torn)).advice
    assert advice["text"] == "The last run of compact failed, since 12:00 UTC. TornFileError: A file is torn."
    [advice] = page(shown, ran=failed, recent=ended("failed", LOOKED, "earlier", **torn)).advice
    assert advice["text"] == "The last run of compact failed, since 12:00 UTC."


def test_a_run_at_a_shell_that_failed_after_those_of_airflow():
    well, shown = {DAG: DagOutcome("r", "success", LOOKED)}, {**SHOWN, "next": {}}
    [advice] = page(shown, ran=well, recent=ended("killed", NOW)).advice
    assert advice["text"] == "The last run of compact was killed, since 12:00 UTC."
    goes_on = {DAG: DagOutcome("r", "running", LOOKED)}
    assert page(shown, ran=goes_on, recent=ended("failed", NOW, "r")).advice == (), "its next try is not done"
    at_a_shell = {"rollback": ended("failed", NOW)["compact"]}
    assert page(shown, recent=at_a_shell).advice == ()


def test_the_seconds_of_comparable_runs():
    samples = tuple(Sample(NOW.isoformat(), 2000, seconds) for seconds in (1.0, 2.0, 9.0))
    [advice] = page(recent={"compact": RecentRuns(samples=samples)}).advice
    assert advice["effect"] == "Compacting 8 file groups, 2.0 KiB, takes about 2 s."
    [advice] = page(recent={"compact": RecentRuns(samples=samples[:2])}).advice
    assert advice["effect"] == "Compacting 8 file groups, 2.0 KiB."


IDLE_TABLE = {**SHOWN, "next": {}}


def doctor(*damages):
    """A round of 09:00."""
    return DoctorRound(AT_NINE, tuple(replace(damage, looked_at=AT_NINE) for damage in damages))


def test_the_findings_of_the_last_round_of_the_doctor():
    missing = Damage("missing-file", "A file is missing", "restore it", fixable=False, count=2)
    [advice] = page(IDLE_TABLE, doctor=doctor(missing)).advice
    assert (advice["severity"], advice["text"]) == (
        "damage",
        "A file is missing. It is the first of 2 findings. The doctor found it at 09:00 UTC.",
    )
    assert advice["fix"] == "hudi-services doctor --table orders"
    left = Damage("markers", "Markers are left", "remove them", fixable=True, grave=False)
    [advice] = page(IDLE_TABLE, doctor=doctor(left)).advice
    assert (advice["severity"], advice["fix"]) == ("due", "hudi-services doctor --fix --table orders")
    well = page(IDLE_TABLE, doctor=doctor())
    assert (well.advice, well.looked[-1]) == ((), "the doctor's round of 09:00 UTC")


def test_an_earlier_round_says_nothing_about_parts_that_each_look_sees():
    small = Damage("small-files", "Many files are small", "cluster it", fixable=False, grave=False)
    unread = Damage("unreadable", "The table cannot be looked at", "try again", fixable=False)
    assert page(IDLE_TABLE, doctor=doctor(small, unread)).advice == ()


def test_an_earlier_round_hides_no_problem_of_now():
    missing = Damage("missing-file", "A file is missing", "restore it", fixable=False)
    found = page({**IDLE_TABLE, "problems": ["The timeline is torn."]}, doctor=doctor(missing)).advice
    assert sorted(advice["kind"] for advice in found) == ["doctor", "problem"]


def test_the_advice_on_the_server_that_feeds_the_table():
    parked = Advice("orders", Severity.FAILED, "server", "shop db.orders", "Server shop has it as parked")
    found = page(server=(parked,)).advice
    assert [advice["severity"] for advice in found] == ["failed", "due"]


def test_a_table_that_cannot_be_read_or_is_gone():
    error = "It is torn. To do: run `hudi-services rollback --instant 7`."
    [advice] = page(health="unreadable", reason=error, since=LOOKED).advice
    assert advice["text"] == "The table cannot be read: It is torn, since 11:55 UTC."
    assert advice["fix"] == "hudi-services rollback --instant 7 --table orders"
    [advice] = page(health="absent", reason="no table").advice
    assert (advice["severity"], advice["text"]) == ("failed", "There is no table at /lake/orders.")
    [advice] = page(health="absent", reason="no table", instants=3).advice
    assert (advice["severity"], advice["text"]) == ("damage", "There is no table at /lake/orders, where there was one.")


def test_a_load_that_found_nothing_makes_the_source_late():
    source = {"path": "/landing", "format": "csv"}
    entry = {"name": "orders", "base_path": "/lake/orders", "keys": {"record_key": ["id"]}, "source": source}
    table = table_model(ENTRIES).model_validate(entry)
    stale = {
        "objective": "freshness",
        "met": False,
        "value": 10_800.0,
        "limit": 3600.0,
        "unit": "seconds",
        "since": AT_NINE.isoformat(),
        "urgency": 3.0,
        "service": "ingest",
    }
    shown = {**SHOWN, "objectives": [stale], "next": {}}
    snapshot = Snapshot(Summary("orders", "/lake/orders", "ok", LOOKED), {"table": shown})
    idle = EndedRun("nothing to do", LOOKED.isoformat(), LOOKED.isoformat(), message="nothing to do: 0 files to load")
    state = FleetState({}, {"orders": snapshot.summary}, recent={"orders": {"ingest": RecentRuns(idle)}})
    [advice] = advice_page(table, state, snapshot, NOW, ()).advice
    assert "The last load, at 11:55 UTC, found nothing new in /landing (0 files to load)." in advice["text"]


def test_quarantined_rows_of_the_feed_with_their_reason_for_users_who_may_see_rows():
    bad = BadRows("/lake/orders.quarantine", 1, 90, 3, AT_NINE, "'secret' is no number", 2)
    snapshot = Snapshot(
        Summary("orders", "/lake/orders", "ok", LOOKED), {"table": IDLE_TABLE, "quarantine": as_values(bad)}
    )
    known = FleetState({}, {"orders": snapshot.summary})
    for shows_quarantine in (True, False):
        shown = advice_page(TABLE, known, snapshot, NOW, (), shows_quarantine=shows_quarantine)
        [advice] = shown.advice
        assert (advice["kind"], advice["severity"]) == ("quarantine", "loss")
        assert advice["text"].startswith("1 load left 3 rows in the quarantine, since 09:00 UTC.")
        assert ("The most frequent reason, of 2 rows: 'secret' is no number." in advice["text"]) is shows_quarantine
        assert ("secret" in str(shown)) is shows_quarantine
        assert advice["fix"] == "hudi-services show quarantine --table orders"
        assert shown.looked[-1] == "quarantine"
