"""When a service begins by its schedule."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from hudi_services.entry.schedule import cron, next_begin


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0 0 30 2 *", "never begins"),
        ("0 0 31 4,6,9,11 *", "never begins"),
        ("0 0 30 feb *", "never begins"),
        ("0 6 * * * 0", "no cron schedule"),
        ("0 6 * * * 30", "no cron schedule"),
        ("0 6 * * * 0 2030", "no cron schedule"),
        ("R R * * *", "no cron schedule"),
        ("0 R(3-5) * * *", "no cron schedule"),
        ("0 6 * *", "no cron schedule"),
        ("@reboot", "no cron schedule"),
        ("@daily 5", "no cron schedule"),
        ("", "no cron schedule"),
    ],
)
def test_schedules_that_have_seconds_or_never_begin_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        cron(text)


@pytest.mark.parametrize(
    "text", ["* * * * *", "0 0 29 2 *", "0 0 30 2 1", "*/5 6-9 * * mon-thu", "0 0 l * *", "@daily", "0 0 * * 5#5"]
)
def test_other_schedules_stay_as_they_are(text: str) -> None:
    assert cron(text) == text


def test_a_schedule_begins_on_a_day_or_later() -> None:
    assert next_begin("0 0 * * *", date(2026, 3, 1)) == datetime(2026, 3, 1)
    assert next_begin("0 6 29 2 *", date(2026, 3, 1)) == datetime(2028, 2, 29, 6)
    assert next_begin("0 0 30 2 *", date(2026, 3, 1)) is None
