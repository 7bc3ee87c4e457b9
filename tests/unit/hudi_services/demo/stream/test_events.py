"""The events of the streaming demo: the same of one seed, late, out of order, some twice."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.demo.stream.events import ALLOWED, LATE, TOO_LATE, Feed

BEGIN = datetime(2026, 11, 26, tzinfo=UTC)
FEED = Feed(BEGIN, 150)
LAST = 100  # seconds


def landed(name, feed=FEED):
    return pa.concat_tables([getattr(feed, name)(second) for second in range(LAST)])


def test_a_seed_gives_the_same_events_again():
    assert FEED.orders(30).equals(Feed(BEGIN, 150).orders(30))
    assert FEED.payments(30).equals(Feed(BEGIN, 150).payments(30))
    assert not FEED.orders(30).equals(Feed(BEGIN, 150, seed=8).orders(30))


def test_events_are_late_out_of_order_and_twice_within_their_bounds():
    for name in ("orders", "payments"):
        events = landed(name)
        late = pc.milliseconds_between(events["made_at"], events["landed_at"]).to_numpy() / 1000
        assert late.min() >= 0
        on_time = late[late < TOO_LATE]
        assert 10 < on_time.max() <= LATE + 1 < ALLOWED
        assert 0 < len(late) - len(on_time) < len(late) / 100
        made = events["made_at"].to_pylist()
        assert made != sorted(made)
        times = Counter(zip(events["order_id"].to_pylist(), events["version"].to_pylist(), strict=True))
        assert set(times.values()) == {1, 2}


def test_about_as_many_events_land_as_the_rate_says():
    count = sum(FEED.orders(second).num_rows + FEED.payments(second).num_rows for second in range(60, LAST))
    assert abs(count / (LAST - 60) - FEED.rate) < FEED.rate * 0.1


def test_a_cancellation_lands_after_all_other_versions_that_are_on_time():
    """A deleted row has no version with which an older one could be compared."""
    events = landed("orders")
    events = events.filter(pc.less(pc.seconds_between(events["made_at"], events["landed_at"]), ALLOWED))
    last = {}
    for row in events.select(["order_id", "cancelled", "landed_at"]).to_pylist():
        known = last.setdefault(row["order_id"], row)
        if row["landed_at"] >= known["landed_at"]:
            last[row["order_id"]] = row
    cancelled = set(events.filter(events["cancelled"])["order_id"].to_pylist())
    assert len(cancelled) > 5
    assert all(last[order]["cancelled"] for order in cancelled)


def test_what_lands_in_a_second_has_its_end_as_time_of_landing():
    assert FEED.orders(12)["landed_at"].unique().to_pylist() == [BEGIN + timedelta(seconds=13)]
