"""A log that lost its end, as after the election of a leader that lacked messages: nothing is loaded in silence, or twice."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from tests.support.orders import insert, update

pytestmark = pytest.mark.process


@pytest.fixture
def truncated(feed):
    """Five messages are loaded, then the broker loses the last two of them."""
    for number in range(5):
        feed.send([insert(number)])  # a batch of the log each
    feed.load()
    feed.broker.cut(feed.topic, 0, 3)
    return feed


def test_an_end_below_the_position_stops_the_load(truncated):
    before = truncated.rows
    message = (
        "ends before what was loaded.*lacks 2 offsets that the table has: it begins at offset 0 and ends at offset 3"
    )
    with pytest.raises(SourceError, match=f"{truncated.topic} {message}, and 5 is next.*--start-fresh"):
        truncated.load()
    assert (truncated.rows, truncated.commits) == (before, 1)


def test_other_messages_at_the_offsets_that_were_loaded_stop_the_load(truncated):
    """The end is past the position again, so only the epoch of the leader shows that offsets 3 and 4 are others."""
    truncated.send([update(number, "other") for number in range(4)])
    before = truncated.rows
    with pytest.raises(
        SourceError,
        match=r"has other messages now.*begins at offset 0 and ends at offset 7, and 5 is next.*--start-fresh",
    ):
        truncated.load()
    assert (truncated.rows, truncated.commits) == (before, 1)
    truncated.load(start_fresh=True)
    assert truncated.rows == {0: "other", 1: "other", 2: "other", 3: "other", 4: "new"}
