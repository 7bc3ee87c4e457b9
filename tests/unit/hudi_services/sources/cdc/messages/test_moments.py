"""Dates and times of messages."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages.moments import UNITS, iso_dates, local_times, time_texts, zoned_times


def test_times_are_those_that_the_server_prints():
    micros = pa.array([-3_723_456_000, None, 0, 1, 838 * 3_600_000_000 + 59_000_000])
    assert time_texts(micros, UNITS["us"], 3).to_pylist() == [
        "-01:02:03.456",
        None,
        "00:00:00.000",
        "00:00:00.000",
        "838:00:59.000",
    ]
    assert time_texts(micros, UNITS["us"], 0)[0].as_py() == "-01:02:03"
    without = ["-01:02:03.456", None, "00:00:00", "00:00:00.000001", "838:00:59"]
    assert time_texts(micros, UNITS["us"], None).to_pylist() == without
    assert time_texts(pa.array([90_001], pa.int32()), UNITS["ms"], None).to_pylist() == ["00:01:30.001"]
    assert time_texts(pa.array([-1_000]), UNITS["ns"], 6).to_pylist() == ["-00:00:00.000001"]
    with pytest.raises(ValueError, match="fraction of a microsecond"):
        time_texts(pa.array([1_001]), UNITS["ns"], None)


def test_timestamps_keep_their_fractions_or_are_refused():
    assert local_times(pa.array([-10, None]), "ms").to_pylist() == [datetime(1969, 12, 31, 23, 59, 59, 990_000), None]
    with pytest.raises(pa.ArrowInvalid):
        local_times(pa.array([1_001]), "ns")
    with pytest.raises(pa.ArrowInvalid):
        local_times(pa.array([2**62]), "ms")


def test_texts_of_iso_8601():
    zoned = zoned_times(pa.array(["2018-06-20T13:37:03.000001Z", "2018-06-20T15:37:03+02:00", "0001-01-01T00:00:00Z"]))
    moment = datetime(2018, 6, 20, 13, 37, 3, tzinfo=UTC)
    assert zoned.to_pylist() == [moment.replace(microsecond=1), moment, datetime(1, 1, 1, tzinfo=UTC)]
    assert iso_dates(pa.array(["2018-06-20Z", None])).to_pylist() == [date(2018, 6, 20), None]
    with pytest.raises(pa.ArrowInvalid):
        zoned_times(pa.array(["2018-06-20T13:37:03"]))
