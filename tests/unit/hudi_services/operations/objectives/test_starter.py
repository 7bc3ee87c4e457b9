"""Services that missed objectives start: the most urgent, within pools, never in quiet hours, and never for nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from hoodie import COMPACTION, HoodieTable
from hudi_services.entry.dag import Outlook, RunRequest, WhenDue
from hudi_services.entry.judge import Judge, is_quiet
from hudi_services.entry.table import Table
from hudi_services.operations.objectives.rounds import Judged
from hudi_services.operations.objectives.starter import (
    Candidate,
    asked_ahead,
    candidates,
    choose,
    would_do,
)
from hudi_services.operations.objectives.verdict import Verdict
from hudi_services.registry.load import load_registry, read_registry
from hudi_services.services.clean.entry import CLEAN
from hudi_services.services.compaction.entry import COMPACT
from hudi_services.services.entries import services_by_objectives
from tests.support.tables import SMALL_BLOOM, batch, create

SCHEDULED = {"schedule": "objectives"}
WANTED = {"clean_age": "1h", "log_ratio": 0.001, "timeline_length": 2, "small_files": 1, "freshness": "1h"}


def registry(folder: Path, *entries: dict[str, Any], **top: Any) -> Path:
    file = folder / "tables.yaml"
    tables = [{"base_path": f"{folder}/{each['name']}", **each} for each in entries]
    file.write_text(json.dumps({"judge": {}, "objectives": WANTED, **top, "tables": tables}))
    return file


def table(name: str, **more: Any) -> Table:
    return Table.model_validate({"name": name, "base_path": f"/lake/{name}", **more})


def missed(service: str, urgency: float) -> Verdict:
    return Verdict(f"{service}_objective", False, urgency, 1, "files", None, urgency, service)


def chosen(*found: Candidate, quiet=False, active=(), idle=(), pools=None, most=9) -> list[tuple[str, bool, str]]:
    choices = choose(
        found,
        pools or {},
        most,
        quiet=quiet,
        active=lambda dag: dag in active,
        due=lambda each: Outlook(each.dag not in idle, "as it was looked at"),
    )
    return [(each.candidate.dag, each.started, each.reason) for each in choices]


A, B, C = (Candidate(table(name), missed("clean", 5)) for name in "abc")


def test_all_start_where_there_is_room():
    assert [started for _, started, _ in chosen(A, B, C)] == [True, True, True]


def test_in_quiet_hours_none_starts_and_none_is_asked():
    assert {(started, reason) for _, started, reason in chosen(A, B, quiet=True)} == {(False, "these are quiet hours")}


def test_a_pool_takes_no_more_than_its_slots():
    pooled = [Candidate(table(name, pool="small"), missed("clean", 5)) for name in "abc"]
    assert [started for _, started, _ in chosen(*pooled, A, pools={"small": 2})] == [True, True, False, True]
    busy = chosen(*pooled, pools={"small": 2}, active=["hudi_clean__c"])
    assert [started for _, started, _ in busy] == [True, False, False]
    assert busy[2][2] == "a run of it goes on"


def test_one_round_starts_at_most_so_many():
    assert [started for _, started, _ in chosen(A, B, C, most=1)] == [True, False, False]


def test_what_would_do_nothing_takes_no_place():
    assert [started for _, started, _ in chosen(A, B, C, idle=["hudi_clean__a"], most=1)] == [False, True, False]


def test_questions_are_asked_ahead_and_each_once():
    asked, together = [], Barrier(2)

    def look(each: Candidate) -> Outlook:
        asked.append(each.dag)
        if each is not C:
            together.wait(10)  # for the other one
        return Outlook(True, each.dag)

    with asked_ahead([A, B, C], look, 2) as due:
        assert [due(each).reason for each in (A, B, A, C)] == [A.dag, B.dag, A.dag, C.dag]
    assert sorted(asked) == [A.dag, B.dag, C.dag]


def test_the_most_urgent_of_each_service_that_is_scheduled_so(tmp_path):
    file = registry(
        tmp_path,
        {"name": "a", "clean": SCHEDULED, "archive": SCHEDULED},
        {"name": "b", "clean": {"schedule": "0 4 * * *"}},
        {"name": "c", "clean": SCHEDULED},
    )
    tables = load_registry(file).tables
    assert list(services_by_objectives(tables[0])) == ["clean", "archive"]
    met = Verdict("clean_age", True, 0, 1, "seconds", None, 0, "clean")
    judged = [
        Judged("a", [missed("clean", 2), missed("clean", 3), missed("archive", 1.5), missed("compact", 99)]),
        Judged("b", [missed("clean", 50)]),
        Judged("c", [missed("clean", 4), met]),
    ]
    found = candidates(tables, judged)
    assert [(each.dag, each.verdict.urgency) for each in found] == [
        ("hudi_clean__c", 4),
        ("hudi_clean__a", 3),
        ("hudi_archive__a", 1.5),
    ]


def filled(folder: Path) -> HoodieTable:
    made = create(folder / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    made.write(batch([("1", "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    return made


def candidate(folder: Path, service: str, **more: Any) -> Candidate:
    entry = {"name": "orders", "type": "MERGE_ON_READ", service: SCHEDULED, **more}
    (found,) = load_registry(registry(folder, entry)).tables
    return Candidate(found, missed(service, 2))


def test_a_compaction_is_worth_it_for_one_log_and_for_none_it_is_not(tmp_path):
    made = filled(tmp_path)
    assert not would_do(candidate(tmp_path, "compact")).due
    made.write(batch([("1", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert made.explain(COMPACTION).plan is None  # by the number of commits it is not due
    assert would_do(candidate(tmp_path, "compact")).due
    made.schedule(COMPACTION, force=True)
    assert would_do(candidate(tmp_path, "compact")).due  # it waits


def test_a_service_that_would_do_nothing_is_not_worth_it(tmp_path):
    filled(tmp_path)
    for service in ("clean", "archive", "cluster"):
        outlook = would_do(candidate(tmp_path, service))
        assert not outlook.due, service
        assert outlook.reason.startswith("it would do nothing: ")


def test_an_ingestion_is_worth_it_for_a_new_file(tmp_path):
    source = {"keys": {"record_key": "id"}, "source": {"path": f"{tmp_path}/land", "format": "json"}}
    (tmp_path / "land").mkdir()
    assert not would_do(candidate(tmp_path, "ingest", **source)).due
    (tmp_path / "land" / "1.json").write_text('{"id": 1}\n')
    assert would_do(candidate(tmp_path, "ingest", **source)).due
    assert would_do(candidate(tmp_path, "clean", **source)).reason.startswith("nothing was ingested yet")


def test_what_an_objective_asks_for_is_planned_though_no_commits_make_it_due(tmp_path):
    entry = candidate(tmp_path, "compact").table
    section = COMPACT.section_of(entry)
    urged = RunRequest("schedule", urged="log_ratio")
    assert "--force" in COMPACT.called_with(entry, urged).flags
    assert "--force" not in COMPACT.called_with(entry, RunRequest("schedule")).flags
    assert "--force" not in COMPACT.called_with(entry, RunRequest("execute", urged="log_ratio")).flags
    assert section is not None
    due, *_ = COMPACT.dag.steps(entry, section)
    assert isinstance(due, WhenDue)
    assert due.look(urged) == Outlook(True, "the objective log_ratio is missed")


def test_a_schedule_by_objectives_is_no_cron(tmp_path):
    entry = candidate(tmp_path, "clean").table
    section = CLEAN.section_of(entry)
    assert section is not None
    trigger = CLEAN.dag.trigger(entry, section)
    assert (trigger.cron, trigger.by_objectives) == (None, True)


@pytest.mark.parametrize(
    ("entry", "top", "said"),
    [
        ({"clean": SCHEDULED}, {"judge": None}, "orders.clean.schedule: needs a section judge"),
        ({"clean": SCHEDULED}, {"objectives": {}}, "orders.clean.schedule: needs an objective that it restores"),
        ({"clean": {"schedule": "objective"}}, {}, "orders.clean.schedule: 'objective' is no cron schedule"),
        ({"ttl": SCHEDULED}, {}, "orders.ttl.schedule: 'objectives' is no cron schedule"),
        ({}, {"judge": {"quiet": "night"}}, "judge.quiet: 'night' are no hours"),
        ({}, {"judge": {"quiet": "08:00-08:00"}}, "judge.quiet: '08:00-08:00' are no hours"),
        ({}, {"judge": {"pool": "none"}}, "judge.pool: the pool 'none' is not declared"),
    ],
)
def test_mistakes_of_the_registry(tmp_path, entry, top, said):
    reading = read_registry(registry(tmp_path, {"name": "orders", **entry}, **top))
    assert said in "\n".join(map(str, reading.mistakes))


def test_a_judge_and_its_hours(tmp_path):
    found = load_registry(registry(tmp_path, judge={"schedule": "*/10 * * * *", "quiet": "22:00-06:00"})).judge
    assert found == Judge(schedule="*/10 * * * *", quiet=("22:00-06:00",))


@pytest.mark.parametrize(
    ("clock", "quiet"), [("21:59", False), ("22:00", True), ("03:00", True), ("06:00", False), ("12:30", True)]
)
def test_quiet_hours_may_pass_midnight(clock, quiet):
    hour, minute = map(int, clock.split(":"))
    assert is_quiet(("22:00-06:00", "12:00-13:00"), datetime(2026, 3, 1, hour, minute, tzinfo=UTC)) is quiet
