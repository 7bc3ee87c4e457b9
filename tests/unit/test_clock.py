"""The zone of the machine: its offset is that of each moment."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.clock import MACHINE_ZONE

NEW_YORK = ZoneInfo("America/New_York")
BACK = st.datetimes(datetime(2026, 11, 1, 4), datetime(2026, 11, 1, 8))  # clocks go back at 6 o'clock in UTC


@pytest.fixture(autouse=True, scope="module")
def new_york() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setenv("TZ", NEW_YORK.key)
    time.tzset()
    yield
    patch.undo()
    time.tzset()


@given(BACK | st.datetimes(datetime(1980, 1, 1), datetime(2035, 1, 1)))
def test_it_is_that_of_the_tables_of_zones(moment: datetime) -> None:
    moment = moment.replace(tzinfo=UTC)
    here, there = moment.astimezone(MACHINE_ZONE), moment.astimezone(NEW_YORK)
    assert (here.replace(tzinfo=None), here.fold, here.utcoffset()) == (
        there.replace(tzinfo=None),
        there.fold,
        there.utcoffset(),
    )
    assert here.astimezone(UTC) == moment


def test_a_moment_of_it_travels_to_workers() -> None:
    moment = datetime(2026, 7, 1, tzinfo=MACHINE_ZONE)
    assert pickle.loads(pickle.dumps(moment)) == moment
    assert (moment.tzname(), moment.dst()) == ("EDT", None)
