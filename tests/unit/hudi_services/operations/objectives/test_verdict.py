"""Verdicts on facts: met or not, since when, how far off, and which service restores the objective."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_services.entry.objectives import RESTORED_BY, Objectives
from hudi_services.operations.objectives.facts import Facts, Growth
from hudi_services.operations.objectives.verdict import MOST, judge, turns

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
AGO = [NOW - HOUR * number for number in range(10)]


def one(wanted, facts):
    (found,) = judge(Objectives.model_validate(wanted), facts)
    return found


def test_a_fresh_table():
    found = one({"freshness": "2h"}, Facts(NOW, AGO[1]))
    assert (found.is_met, found.value, found.limit, found.since, found.urgency) == (True, 3600, 7200, None, 0.5)


def test_a_stale_table_since_it_was_due():
    found = one({"freshness": "2h"}, Facts(NOW, AGO[6]))
    assert (found.is_met, found.value, found.urgency, found.since) == (False, 6 * 3600, 3, AGO[4])
    assert found.service == "ingest"


@pytest.mark.parametrize("ahead", [HOUR, datetime.max.replace(tzinfo=UTC) - NOW])
def test_a_commit_dated_ahead_is_of_now(ahead):
    """Its age is not known, and the last times of the calendar have none after them."""
    facts = Facts(NOW, NOW + ahead, waits=NOW + ahead)
    wanted = Objectives.model_validate({"freshness": "2h", "clean_age": "2h"})
    assert [(verdict.is_met, verdict.value, verdict.urgency) for verdict in judge(wanted, facts)] == [(True, 0, 0)] * 2
    assert turns(wanted, facts) == NOW + 2 * HOUR


def test_a_table_without_data_is_the_most_urgent():
    facts = Facts(NOW, None, instants=Growth.of([(AGO[1], 9)]))
    first, second = judge(Objectives.model_validate({"timeline_length": 3, "freshness": "1h"}), facts)
    assert (first.objective, first.is_met, first.value, first.since, first.urgency) == (
        "freshness",
        False,
        None,
        None,
        MOST,
    )
    assert (second.objective, second.urgency) == ("timeline_length", 3)


def test_logs_are_too_many_since_the_one_that_passed_the_limit():
    logs = Growth.of([(AGO[1], 10), (AGO[5], 30), (AGO[3], 30)])
    found = one({"log_ratio": 0.5}, Facts(NOW, base_bytes=100, logs=logs))
    assert (found.is_met, found.value, found.since, found.service) == (False, 0.7, AGO[3], "compact")
    assert one({"log_ratio": 0.7}, Facts(NOW, base_bytes=100, logs=logs)).is_met


def test_logs_over_no_base_file_are_urgent():
    found = one({"log_ratio": 0.5}, Facts(NOW, logs=Growth.of([(AGO[1], 10_000_000)])))
    assert (found.is_met, found.urgency) == (False, MOST)
    assert one({"log_ratio": 0.5}, Facts(NOW, logs=Growth())).is_met


@pytest.mark.parametrize(("limit", "met", "since"), [(3, True, None), (2, False, AGO[1]), (0, False, AGO[5])])
def test_small_files_by_count(limit, met, since):
    small = Growth.of([(AGO[5], 1), (AGO[3], 1), (AGO[1], 1)])
    found = one({"small_files": limit}, Facts(NOW, base_files=10, small=small))
    assert (found.is_met, found.value, found.unit, found.since) == (met, 3, "files", since)


def test_small_files_by_share():
    small = Growth.of([(AGO[5], 1), (AGO[3], 1), (AGO[1], 1)])
    found = one({"small_files": "20%"}, Facts(NOW, base_files=10, small=small))
    assert (found.is_met, found.value, found.unit, found.since, found.urgency) == (False, 0.3, "of all", AGO[1], 1.5)
    assert one({"small_files": 0.3}, Facts(NOW, base_files=10, small=small)).is_met


def test_a_clean_is_late_only_for_something_to_remove():
    assert one({"clean_age": "1h"}, Facts(NOW, waits=None)).is_met
    found = one({"clean_age": "1h"}, Facts(NOW, waits=AGO[3]))
    assert (found.is_met, found.since, found.urgency) == (False, AGO[2], 3)


def test_what_nobody_looked_at_is_not_judged():
    assert judge(Objectives.model_validate({"log_ratio": 1, "small_files": 1}), Facts(NOW)) == ()
    assert judge(Objectives(), Facts(NOW)) == ()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=400), st.integers(0, 2000))
def test_a_growth_keeps_its_amount_and_its_order(parts, limit):
    growth = Growth.of((AGO[hours], amount) for hours, amount in parts)
    assert growth.amount == sum(amount for _, amount in parts)
    assert len(growth.points) <= 100
    assert list(growth.points) == sorted(growth.points)
    assert (growth.passed(limit) is None) == (growth.amount <= limit)


def test_every_objective_has_a_service_that_mends_it():
    assert RESTORED_BY.keys() == Objectives.model_fields.keys()


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"freshness": 5}, "has no unit"),
        ({"freshness": "0s"}, "greater than"),
        ({"small_files": "120%"}, "no share"),
        ({"small_files": 2.5}, "neither a count"),
        ({"small_files": float("inf")}, "finite"),
        ({"log_ratio": 0}, "greater than 0"),
        ({"log_ratio": float("inf")}, "finite"),
        ({"timeline_length": 0}, "greater than or equal"),
        ({"fresh": "1h"}, "Extra inputs"),
    ],
)
def test_what_cannot_be_an_objective(said, wrong):
    with pytest.raises(ValueError, match=wrong):
        Objectives.model_validate(said)
