"""The dates that a run loads."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from hudi_services.sources.ingest.dates import DateRange, Late, chosen_dates, dates_to_load

NOBODY = DateRange()
DAY = (datetime(2013, 1, 5, 6, tzinfo=UTC), datetime(2013, 1, 6, 6, tzinfo=UTC))
HOUR = (datetime(2013, 1, 5, 6, tzinfo=UTC), datetime(2013, 1, 5, 7, tzinfo=UTC))
WEEK = (datetime(2013, 1, 6, tzinfo=UTC), datetime(2013, 1, 13, tzinfo=UTC))


@pytest.mark.parametrize(
    ("run_type", "interval", "late", "wanted"),
    [
        ("backfill", DAY, Late.AUTO, DateRange(date(2013, 1, 5), date(2013, 1, 6))),
        ("backfill", HOUR, Late.AUTO, DateRange(date(2013, 1, 5), date(2013, 1, 6))),
        ("backfill", WEEK, Late.NO, DateRange(date(2013, 1, 6), date(2013, 1, 13))),
        ("backfill", DAY, Late.YES, DateRange(None, date(2013, 1, 6))),
        ("scheduled", DAY, Late.AUTO, DateRange(None, date(2013, 1, 6))),
        ("scheduled", DAY, Late.NO, DateRange(date(2013, 1, 5), date(2013, 1, 6))),
        ("manual", DAY, Late.AUTO, None),
        ("manual", None, Late.YES, None),
        ("asset_triggered", None, Late.AUTO, None),
    ],
)
def test_dates_of_a_run(
    run_type: str, interval: tuple[datetime, datetime] | None, late: Late, wanted: DateRange | None
) -> None:
    assert dates_to_load(run_type, interval, NOBODY, late) == wanted


@pytest.mark.parametrize("run_type", ["manual", "backfill", "scheduled"])
def test_dates_of_the_form_win(run_type: str) -> None:
    chosen = chosen_dates("2013-02-01", None)
    assert dates_to_load(run_type, DAY, chosen) == DateRange(date(2013, 2, 1), None)


def test_neighbouring_intervals_share_no_day_and_leave_none_out() -> None:
    days = [
        dates_to_load("backfill", (begin, end), NOBODY)
        for begin, end in [
            (datetime(2013, 1, d, 6, tzinfo=UTC), datetime(2013, 1, d + 1, 6, tzinfo=UTC)) for d in (1, 2, 3)
        ]
    ]
    assert [day.stop for day in days[:-1] if day] == [day.start for day in days[1:] if day]


@pytest.mark.parametrize(("start", "stop"), [("2013-01-05", "2013-01-05"), ("2013-01-06", "2013-01-05")])
def test_a_form_without_a_day_is_refused(start: str, stop: str) -> None:
    with pytest.raises(ValueError, match="no day lies between"):
        chosen_dates(start, stop)


def test_an_empty_form() -> None:
    assert chosen_dates(None, "") == DateRange()


@pytest.mark.parametrize("text", ["2013-13-01", "tomorrow", "2013-02-30"])
def test_what_is_no_date_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}' is not a date, such as"):
        chosen_dates(text, None)
