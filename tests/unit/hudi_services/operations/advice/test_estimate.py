"""Seconds by comparable runs."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.operations.advice.estimate import estimate, samples_of
from hudi_services.operations.history.record import COLUMNS
from tests.support.advice import NOW


def runs(*rows):
    """Rows of (service, outcome, seconds, bytes read)."""
    names = ("service", "outcome", "seconds", "bytes_read")
    return pa.Table.from_pylist(
        [{**dict.fromkeys(COLUMNS.names), "began": NOW, **dict(zip(names, row, strict=True))} for row in rows],
        COLUMNS,
    )


def test_the_median_of_comparable_runs():
    history = runs(
        ("compact", "done", 1.0, 1000),
        ("compact", "done", 9.0, 400),
        ("compact", "done", 2.0, 900),
        ("compact", "done", 500.0, 90_000),
        ("compact", "failed", 80.0, 1000),
        ("compact", "done", None, 1000),
        ("clean", "done", 70.0, 1000),
    )
    assert estimate(1000, samples_of(history, "compact")) == 2.0


def test_too_few_comparable_runs_give_no_estimate():
    two = runs(("compact", "done", 1.0, 1000), ("compact", "done", 2.0, 1000), ("compact", "done", 3.0, 4001))
    assert estimate(1000, samples_of(two, "compact")) is None
    assert estimate(1000, samples_of(runs(), "compact")) is None


def test_an_archival_has_no_bytes_to_compare():
    history = runs(*(("archive", "done", seconds, None) for seconds in (1.0, 2.0, 3.0)))
    assert estimate(7, samples_of(history, "archive")) == 2.0


def test_a_run_that_did_not_count_its_bytes_is_no_sample():
    assert samples_of(runs(("compact", "done", 1.0, None), ("archive", "done", 1.0, None)), "compact") == ()
