"""Positions of topics in commits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hoodie.errors import CorruptTableError
from hudi_services.sources.ingest.kafka.position import Place, TopicPosition
from hudi_services.sources.positions import Position


@pytest.mark.parametrize("places", [{}, {0: Place(0), 11: Place(5, 4, 0), 2: Place(2**40, 2**40 - 1, 7)}])
@pytest.mark.parametrize("more", [{}, {"filter": "shop.orders", "moved": datetime(2026, 1, 2, 3, tzinfo=UTC)}])
def test_a_position_is_read_as_it_was_written(places, more):
    position = TopicPosition("cluster", "orders", None if more else "id", places, **more)
    assert TopicPosition.decode(Position(position.encode(), "1", "the commit")) == position


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"version": 2, "cluster": "c", "topic": "t", "partitions": {}}',
        '{"version": 1, "cluster": "c", "topic": "t", "partitions": {"a": [1]}}',
        '{"version": 1, "cluster": "c", "topic": "t", "partitions": {"0": [1, 2]}}',
        '{"version": 1, "cluster": "c", "topic": "t", "partitions": {"0": [-1]}}',
        '{"version": 1, "cluster": "c", "topic": "t", "partitions": {"0": ["1"]}}',
    ],
)
def test_other_texts_are_refused_by_the_commit_that_has_them(text):
    with pytest.raises(CorruptTableError, match=r"in the commit cannot be read.*--start-fresh"):
        TopicPosition.decode(Position(text, "1", "the commit"))
