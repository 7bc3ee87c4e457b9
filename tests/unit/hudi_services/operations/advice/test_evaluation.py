"""All rules together: nothing is said only of a table with nothing to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hoodie.changes.consumer_position import reset_command
from hoodie.errors import rollback_fix, unschedule_fix
from hoodie.timeline import Action
from hudi_services.entry.target import Target
from hudi_services.operations.advice.evaluation import RULES, advise
from hudi_services.operations.advice.facts import (
    BadRows,
    BrokenFiles,
    ChangedFiles,
    Damage,
    FailedChecks,
    Held,
    HeldLock,
    LastRun,
    NewFiles,
    OpenPurge,
    PendingInstant,
    Reader,
    Skew,
    Unreadable,
    Work,
)
from hudi_services.operations.advice.rules.registry import mistake
from hudi_services.operations.advice.rules.servers import server
from hudi_services.operations.objectives.verdict import Verdict
from hudi_services.registry.mistakes import Mistake
from hudi_services.runtime.pause import Pause
from hudi_services.services.entries import ENTRIES
from hudi_services.sources.databases.status import LogLeft, ServerStatus, TableStatus
from tests.support.advice import AT_NINE, NOW, facts, start, work
from tests.support.faults import assert_no_faults
from tests.support.pasted import usage_fault

TROUBLES = {
    "unreadable": {"unreadable": Unreadable("torn")},
    "damages": {"damages": (Damage("missing-file", "a file", "", fixable=False),)},
    "leftovers": {"damages": (Damage("orphan-file", "a file", "", fixable=True, grave=False),)},
    "consumers": {"readers": (Reader("bi", 1, AT_NINE, NOW - timedelta(hours=1), passed=True),)},
    "quarantine": {"bad_rows": BadRows("/q", 1, 9, 1, AT_NINE)},
    "changed_files": {"changed_files": ChangedFiles("/land", ("a b.csv",), AT_NINE), "starts": start("ingest")},
    "broken_files": {"broken_files": BrokenFiles("/land", {"a b.csv": "torn"}, AT_NINE), "starts": start("ingest")},
    "new_files": {"new_files": NewFiles("/land", 2, 9, AT_NINE), "starts": start("ingest")},
    "idle_patterns": {"idle_patterns": ("pattern '*.cvs' matches nothing: 1 of 1 file below /land ends in .csv",)},
    "checks": {"failed_checks": FailedChecks("7", "1 of 2 checks failed", AT_NINE)},
    "last_runs": {"runs": (LastRun("clean", "failed", AT_NINE),)},
    "objectives": {"objectives": (Verdict("log_ratio", False, 2.0, 1.0, "bytes per byte", None, 2.0, "compact"),)},
    "paused": {"pause": Pause("ann", "a test", AT_NINE)},
    "plans": {"pending": (PendingInstant("7", "compaction", "REQUESTED", AT_NINE),)},
    "writes": {"pending": (PendingInstant("7", "commit", "INFLIGHT", AT_NINE),)},
    "savepoints": {"held": (Held("clean", "a file", "7", "savepoint", True, AT_NINE, None, "kept", "delete it"),)},
    "purges": {"purges": (OpenPurge("ab" * 32, AT_NINE, True, 2, 9, ("savepoint 7 keeps it",), by_savepoint=True),)},
    "locks": {"locks": (HeldLock("a.lock", "process 1", AT_NINE, alive=False),)},
    "due": {"work": work("clean")},
    "warnings": {"warnings": ("a key is unique per partition only",)},
    "skewed": {"skew": Skew(("shop",), 9, 2**30, "web", 2**30 - 9, 1, keys=("id",))},
    "tiny": {"skew": Skew(("id",), 199, 2**30, "id=7", 9, 5, few_rows=100, keys=("id",))},
}


def test_each_rule_has_a_trouble_that_it_alone_reports_and_none_speaks_without_one():
    assert set(TROUBLES) == {rule.__name__ for rule in RULES}
    for name, trouble in TROUBLES.items():
        assert [rule.__name__ for rule in RULES if list(rule(facts(**trouble)))] == [name]
    assert advise(facts()) == ()


VARIANTS = (
    {"unreadable": Unreadable("torn", "run `hudi-services rollback --instant 7`, or restore it")},
    {"unreadable": Unreadable("torn", "restore it from a copy (`hudi-services restore --savepoint INSTANT`)")},
    {"unreadable": Unreadable("gone", absent=True, awaited=True), "starts": start("ingest")},
    {"damages": (Damage("torn-plan", "a plan", rollback_fix("7"), fixable=False),)},
    {"problems": (f"The timeline is torn. To do: {unschedule_fix('7')}.",)},
    *({"runs": (LastRun(entry.name, outcome, AT_NINE),)} for entry in ENTRIES for outcome in ("failed", "asks")),
    *({"work": work(service)} for service in ("clean", "archive", "compact", "cluster", "ttl")),
    {"work": work("clean", over=("9 files",), digest="0123456789ab")},
    *({"pending": (PendingInstant("7", action, "REQUESTED", AT_NINE),)} for action in map(str, Action)),
    *(
        {"held": (Held("clean", "a file", "7", action, True, AT_NINE, None, "kept", fix),)}
        for action, fix in (
            ("savepoint", "once it is not needed any more, run `hudi-services savepoint delete --instant 7`"),
            ("commit", reset_command("bi")),
            ("clean", "run `hudi-services clean`"),
        )
    ),
    {"locks": (HeldLock("a.lock", "process 1", AT_NINE, alive=None),)},
    {"changed_files": ChangedFiles("/land", tuple("abcdefg"), AT_NINE)},
    {"purges": (OpenPurge("ab" * 32, AT_NINE, ended=False),)},
    {"objectives": (Verdict("freshness", False, 9.0, 1.0, "seconds", None, 2.0, "ingest"),)},
    {
        "objectives": (Verdict("log_ratio", False, 2.0, 1.0, "bytes per byte", None, 2.0, "compact"),),
        "work": {"compact": Work("compact", False, "1 delta commit")},
    },
)


def test_every_fix_is_a_command_that_can_be_pasted():
    advice = [found for more in (*TROUBLES.values(), *VARIANTS) for found in advise(facts(**more))]
    state = ServerStatus(
        "shop", 1, "bin.7", AT_NINE.isoformat(), 1.0, None, LogLeft("bin.7", 1.0, 9.0, True), None, None, ()
    )
    parked = [
        TableStatus("orders", "shop.orders", "/lake", name) for name in ("parked", "failed", "refused", "skipped")
    ]
    advice += server(replace(state, tables=tuple(parked)), "0 * * * *", NOW)
    advice.append(mistake(Mistake("tables yaml", 7, "key", "is wrong", "orders"), ["orders"], "a folder/tables.yaml"))
    advice += [replace(found, fix=target.command("clean")) for found in advice[:1] for target in TARGETS]
    assert {found.kind for found in advice} >= {
        "unreadable",
        "doctor",
        "plan",
        "held",
        "lock",
        "due",
        "server",
        "mistake",
    }
    assert_no_faults(
        f"{found.kind}: {found.fix}: {fault}" for found in advice if found.fix and (fault := usage_fault(found.fix))
    )


TARGETS = (Target.of("/lake/my orders", None), Target.of("/lake/o", "orders", "a folder/tables.yaml"))


def test_all_troubles_together_come_in_the_order_of_their_severity():
    together = {key: value for trouble in TROUBLES.values() for key, value in trouble.items()}
    severities = [each.severity for each in advise(facts(**together))]
    assert severities == sorted(severities, key=list(type(severities[0])).index)
    assert severities[0] == "damage"
