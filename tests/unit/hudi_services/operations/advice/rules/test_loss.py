"""Consumers that services have passed or soon will, and rows in the quarantine."""

from __future__ import annotations

from datetime import timedelta

from hudi_services.operations.advice.facts import BadRows, FailedChecks, Reader
from hudi_services.operations.advice.rules.loss import checks, consumers, quarantine
from tests.support.advice import AT_NINE, NOW, said


def reader(since, until, *, passed=False, behind=5):
    return (Reader("bi", behind, since, until, passed),)


def test_a_consumer_that_is_passed_or_soon_will_be():
    rest = (
        "Let it read and commit. hudi-services consumer reset bi --to latest --table orders gives up what it has not read. "
        "It waits for the consumer, which no service starts. $ hudi-services show consumers --table orders"
    )
    passed = reader(NOW - timedelta(days=9), AT_NINE, passed=True)
    assert said(consumers, readers=passed) == [
        f"Consumer 'bi' has not read 5 commits, and cleaning and archiving no longer keep them, since 09:00 UTC. {rest}"
    ]
    soon = reader(NOW - timedelta(hours=22), NOW + timedelta(hours=2))
    assert said(consumers, readers=soon) == [
        "Consumer 'bi' has not read 5 commits, which cleaning and archiving keep for 2 h more, until 14:00 UTC, since "
        f"2026-03-04 14:00 UTC. {rest}"
    ]


def test_a_consumer_with_time_left_or_nothing_to_read_is_no_risk():
    assert said(consumers, readers=reader(NOW - timedelta(hours=2), NOW + timedelta(hours=22))) == []
    assert said(consumers, readers=reader(None, None, behind=0)) == []
    assert said(consumers, readers=reader(AT_NINE, None)) == []


def test_rows_in_the_quarantine():
    rest = (
        "since 09:00 UTC. They are in /lake/orders.quarantine and not in the table. Each line of its files has a reason. Deliver "
        "repaired rows again, then delete the folder of that load. It waits for a user. "
        "$ hudi-services show quarantine --table orders"
    )
    bad = BadRows("/lake/orders.quarantine", 2, 4096, 12, AT_NINE)
    assert said(quarantine, bad_rows=bad) == [f"2 loads left 12 rows in the quarantine, {rest}"]
    many = BadRows("/lake/orders.quarantine", 1, 5 << 20, None, AT_NINE)
    assert said(quarantine, bad_rows=many) == [f"1 load left rows of 5.0 MiB in the quarantine, {rest}"]
    assert said(quarantine) == []
    assert said(quarantine, bad_rows=BadRows("/q", 0, 0, 0, None)) == []


def test_a_load_that_broke_expectations():
    found = FailedChecks("20260305090000000", "1 of 2 checks failed: expected rows >= 100: 4 rows", AT_NINE)
    assert said(checks, failed_checks=found) == [
        "The newest load broke expectations of its data, since 09:00 UTC. 1 of 2 checks failed: expected rows >= 100: 4 rows. "
        "Deliver corrected files, or correct `expect` of the source. It waits for a user."
    ]
    assert said(checks) == []
