"""Times of instants order themselves, those of whole seconds at the end of their second, and stay the text that names files."""

from __future__ import annotations

import json
import pickle
from bisect import bisect_left, bisect_right
from copy import copy, deepcopy

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hoodie.model.time import BEGINNING, Time, with_milliseconds

SECONDS = st.sampled_from(["20240101000000", "20240101000001", "20231231235959", "00000000000001", "00000000000002"])
TIMES = SECONDS | st.builds(str.__add__, SECONDS, st.sampled_from(["000", "500", "998", "999"])) | st.just("")


def order(text):
    """The moment that a text means: older times are the end of their second, those of bootstraps are no dates."""
    padded = text + "999" if len(text) == 14 and not text.startswith("0000") else text
    return padded, len(text)


@given(TIMES, TIMES)
@example("20240101000000", "20240101000000999")
@example("20240101000000", "20240101000000500")
@example("20240101000000", "20240101000000")
def test_the_order_is_that_of_padded_text_and_total(one, other):
    """The shorter of two names for one moment is less."""
    before = order(one) < order(other)
    for a, b in ((Time.of(one), Time.of(other)), (Time(one), Time.of(other)), (Time.of(one), Time(other))):
        assert (a < b) is (b > a) is before
        assert (a >= b) is (b <= a) is not before
        assert (a == b) is (one == other)
        assert [a < b, a == b, a > b].count(True) == 1


@given(st.lists(TIMES), TIMES)
def test_sorting_and_searching(texts, text):
    expected = sorted(texts, key=order)
    times = sorted(map(Time.of, texts))
    assert times == expected
    assert [time for time, _ in sorted((Time.of(each), 0) for each in texts)] == expected
    assert sorted(map(Time.of, texts), reverse=True) == expected[::-1]
    assert bisect_left(times, Time.of(text)) == sum(order(each) < order(text) for each in texts)
    assert bisect_right(times, Time.of(text)) == sum(order(each) <= order(text) for each in texts)
    if texts:
        assert (min(map(Time.of, texts)), max(map(Time.of, texts))) == (expected[0], expected[-1])


@given(TIMES)
def test_a_time_is_the_text_that_names_files(text):
    time = Time.of(text)
    assert {text: 1}[time] == {time: 1}[text] == 1
    assert type(f"{time}") is str
    assert f"{time}.commit" == text + ".commit"
    assert json.loads(json.dumps({time: time})) == {text: text}
    assert pa.array([time], pa.string()).to_pylist() == [text]
    for found in (pickle.loads(pickle.dumps(time)), copy(time), deepcopy(time)):
        assert (found, type(found)) == (time, type(time))


def test_only_times_of_whole_seconds_are_compared_in_python():
    """Listings of many thousand names are compared as plain text, and copied to workers as such."""
    assert type(Time.of("20240102030405")) is Time
    assert {type(Time.of(text)) for text in ("20240102030405678", "00000000000001", "")} == {str}


def test_two_names_of_one_moment_are_two():
    assert len({Time.of("20240101000000"), Time.of("20240101000000999")}) == 2


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("20240102030405678", "20240102030405678"),
        ("20240102030405", "20240102030405999"),
        ("00000000000001", "00000000000001"),
        ("00000000000000001", "00000000000000001"),
    ],
)
def test_a_time_of_whole_seconds_is_the_end_of_its_second(text, whole):
    assert (with_milliseconds(text), type(with_milliseconds(Time.of(text)))) == (whole, str)


@given(TIMES.filter(bool))
def test_the_beginning_is_before_every_instant(text):
    assert Time.of(text) > BEGINNING


@pytest.mark.parametrize("text", ["20240102030405678", "20240102030405"])
def test_what_is_no_text_has_no_order(text):
    with pytest.raises(TypeError):
        assert Time.of(text) < None
