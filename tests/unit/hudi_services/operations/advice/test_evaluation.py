"""All rules together: nothing is said only of a table with nothing to do."""

from __future__ import annotations

from datetime import timedelta

from hudi_services.operations.advice.evaluation import RULES, advise
from hudi_services.operations.advice.facts import (
    BadRows,
    Damage,
    FailedChecks,
    Held,
    HeldLock,
    LastRun,
    PendingInstant,
    Reader,
    Unreadable,
)
from hudi_services.operations.objectives.verdict import Verdict
from hudi_services.runtime.pause import Pause
from tests.support.advice import AT_NINE, NOW, facts, work

TROUBLES = {
    "unreadable": {"unreadable": Unreadable("torn")},
    "damages": {"damages": (Damage("missing-file", "a file", "", fixable=False),)},
    "leftovers": {"damages": (Damage("orphan-file", "a file", "", fixable=True, grave=False),)},
    "consumers": {"readers": (Reader("bi", 1, AT_NINE, NOW - timedelta(hours=1), passed=True),)},
    "quarantine": {"bad_rows": BadRows("/q", 1, 9, 1, AT_NINE)},
    "checks": {"failed_checks": FailedChecks("7", "1 of 2 checks failed", AT_NINE)},
    "last_runs": {"runs": (LastRun("clean", "failed", AT_NINE),)},
    "objectives": {"objectives": (Verdict("log_ratio", False, 2.0, 1.0, "bytes per byte", None, 2.0, "compact"),)},
    "paused": {"pause": Pause("ann", "a test", AT_NINE)},
    "plans": {"pending": (PendingInstant("7", "compaction", "REQUESTED", AT_NINE),)},
    "writes": {"pending": (PendingInstant("7", "commit", "INFLIGHT", AT_NINE),)},
    "savepoints": {"held": (Held("clean", "a file", "7", "savepoint", True, AT_NINE, None, "kept", "delete it"),)},
    "locks": {"locks": (HeldLock("a.lock", "process 1", AT_NINE, alive=False),)},
    "due": {"work": work("clean")},
    "warnings": {"warnings": ("a key is unique per partition only",)},
}


def test_each_rule_has_a_trouble_that_it_alone_reports_and_none_speaks_without_one():
    assert set(TROUBLES) == {rule.__name__ for rule in RULES}
    for name, trouble in TROUBLES.items():
        assert [rule.__name__ for rule in RULES if list(rule(facts(**trouble)))] == [name]
    assert advise(facts()) == ()


def test_all_troubles_together_come_in_the_order_of_their_severity():
    together = {key: value for trouble in TROUBLES.values() for key, value in trouble.items()}
    severities = [each.severity for each in advise(facts(**together))]
    assert severities == sorted(severities, key=list(type(severities[0])).index)
    assert severities[0] == "damage"
