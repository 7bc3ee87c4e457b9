"""Times of instants as text and as moments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.timeline import format_time, parse_time

T = "20240102030405678"


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(9998, 1, 1), timezones=st.just(UTC)),
    st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours))),
)
def test_times_keep_their_milliseconds_in_any_zone(moment, zone):
    text = format_time(moment, zone)
    assert len(text) == 17
    assert parse_time(text, zone) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@pytest.mark.parametrize("text", ["", "2024", "2024010203040567x", T + "9", "20241302030405678", "latest"])
def test_text_that_is_no_time_is_refused(text):
    with pytest.raises(ValueError):
        parse_time(text, UTC)
