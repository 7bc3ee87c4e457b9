"""A log that lost its end, as after the election of a leader that lacked messages: nothing is loaded in silence, or twice."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from tests.support.orders import insert, update

pytestmark = pytest.mark.process


LOSS = "ends before what was loaded.*lacks 2 offsets that the table has: it begins at offset 0 and ends at offset 3"
OTHERS = "has other messages now.*begins at offset 0 and ends at offset 7, and 5 is next.*--start-fresh"


def test_a_log_that_lost_its_end_stops_each_load(feed):
    """Later the end is past the position again, so only the epoch of the leader shows that offsets 3 and 4 are others."""
    for number in range(5):
        feed.send([insert(number)])  # a batch of the log each
    feed.load()
    before = feed.rows
    feed.broker.cut(feed.topic, 0, 3)
    with pytest.raises(SourceError, match=f"{feed.topic} {LOSS}, and 5 is next.*--start-fresh"):
        feed.load()
    assert (feed.rows, feed.commits) == (before, 1)
    feed.send([update(number, "other") for number in range(4)])
    with pytest.raises(SourceError, match=OTHERS):
        feed.load()
    assert (feed.rows, feed.commits) == (before, 1)
    feed.load(start_fresh=True)
    assert feed.rows == {0: "other", 1: "other", 2: "other", 3: "other", 4: "new"}
