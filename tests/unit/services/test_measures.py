"""Causes of decisions as values."""

from __future__ import annotations

from hoodie.services.measures import Measure, TimelineLength, Trigger, causes_of, measures_of

COMMITS = Measure(5, 5, "commit", "hoodie.clustering.max.commits")
SECONDS = Measure(59, 60, "s", "hoodie.seconds")


def test_a_measure_is_reached_at_its_limit():
    assert COMMITS.reached
    assert not SECONDS.reached


def test_the_measures_of_a_reason_are_those_of_all_its_causes():
    length = TimelineLength(Measure(3, 4, "commit", "hoodie.keep.max.commits"), "archived from")
    assert list(measures_of((Trigger((COMMITS, SECONDS), "clustering"), "a sentence", length))) == [
        COMMITS,
        SECONDS,
        length.commits,
    ]
    assert list(measures_of("a sentence")) == []
    assert causes_of("a sentence") == ("a sentence",)
