"""Orders and payments as two streams of events: late, out of order, some twice, always the same of one seed.

An order is changed by later versions, and some are cancelled. Most orders are paid, and some payments are corrected, which moves
them to another minute. An event arrives up to `LATE` seconds after it was made. A few arrive even later: readers leave these out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

COUNTRIES = ("AT", "BR", "CH", "DE", "FR", "IN", "JP", "NO", "US", "ZA")
LATE = 20  # seconds after which an event arrives at most
TOO_LATE = 40  # seconds after which the few others do
ALLOWED = 25  # seconds that readers allow an event to be late

_TIME = pa.timestamp("us", "UTC")
ORDERS = pa.schema(
    [
        ("order_id", pa.int64()),
        ("version", pa.int64()),
        ("country", pa.string()),
        ("amount", pa.int64()),  # cents
        ("cancelled", pa.bool_()),
        ("made_at", _TIME),  # when the event was made
        ("landed_at", _TIME),
    ]
)
PAYMENTS = pa.schema(
    [
        ("order_id", pa.int64()),
        ("version", pa.int64()),
        ("paid", pa.int64()),  # cents
        ("paid_at", _TIME),
        ("made_at", _TIME),
        ("landed_at", _TIME),
    ]
)


@dataclass(frozen=True)
class Feed:
    """Two streams that begin at `begin`. `rate` is the number of events of both in a second, about."""

    begin: datetime
    rate: int
    seed: int = 7

    @property
    def orders_per_second(self) -> int:
        """New orders. An order has 2.1 events on average."""
        return max(1, round(self.rate / 2.1))

    def orders(self, second: int) -> pa.Table:
        """The order events that land in a second of the feed, in the order of their arrival."""
        return self._landed(_orders_of, ORDERS, second)

    def payments(self, second: int) -> pa.Table:
        """The payment events that land in a second of the feed."""
        return self._landed(_payments_of, PAYMENTS, second)

    def _landed(self, generate: Callable[[Feed, int], pa.Table], schema: pa.Schema, second: int) -> pa.Table:
        origins = range(max(0, second - _SPAN), second + 1)
        events = pa.concat_tables([_arriving(generate(self, origin), second) for origin in origins])
        events = events.sort_by("arrives")
        landed_at = self.begin + timedelta(seconds=second + 1)
        columns = [
            pa.repeat(pa.scalar(landed_at, _TIME), events.num_rows) if name == "landed_at" else events[name]
            for name in schema.names
        ]
        return pa.table(columns, schema=schema)


_UPDATED = 20  # seconds after an order within which it is changed
_CANCELLED = 45  # seconds after an order at which it is cancelled: all its other events have arrived
_PAID = 8  # seconds after an order within which it is paid
_CORRECTED = 10  # seconds after a payment at which it is corrected
_SPAN = _CANCELLED + TOO_LATE + 2  # seconds from an order to its last event


def _arriving(events: pa.Table, second: int) -> pa.Table:
    return events.filter(pc.equal(events["arrives"].cast(pa.int64(), safe=False), second))


@lru_cache(maxsize=2 * _SPAN)
def _orders_of(feed: Feed, second: int) -> pa.Table:
    """All events of the orders that are new in a second, with `arrives`: seconds since the begin of the feed."""
    base = _base(feed, second)
    dice = np.random.default_rng([feed.seed, second, 2])
    count = len(base["order_id"])
    made_at = base["made"]
    first = {"version": np.full(count, 1), "amount": base["amount"], "cancelled": np.zeros(count, bool)}
    updated = np.flatnonzero(dice.random(count) < 0.10)
    cancelled = np.flatnonzero(dice.random(count) < 0.02)
    events = _stacked(
        feed,
        dice,
        [
            {**_some(base, np.arange(count)), **first, "made_at": made_at},
            {
                **_some(base, updated),
                "version": np.full(len(updated), 2),
                "amount": dice.integers(500, 50_000, len(updated)),
                "cancelled": np.zeros(len(updated), bool),
                "made_at": made_at[updated] + dice.uniform(1, _UPDATED, len(updated)),
            },
        ],
    )
    last = {
        **_some(base, cancelled),
        "version": np.full(len(cancelled), 3),
        "amount": base["amount"][cancelled],
        "cancelled": np.ones(len(cancelled), bool),
        "made_at": made_at[cancelled] + _CANCELLED,
    }
    return pa.concat_tables([events, _events(feed, last, last["made_at"])])


@lru_cache(maxsize=2 * _SPAN)
def _payments_of(feed: Feed, second: int) -> pa.Table:
    """All events of the payments of the orders that are new in a second."""
    base = _base(feed, second)
    dice = np.random.default_rng([feed.seed, second, 3])
    count = len(base["order_id"])
    paid_at = base["made"] + dice.uniform(1, _PAID, count)
    payers = np.flatnonzero(dice.random(count) < 0.93)
    corrected = payers[dice.random(len(payers)) < 0.05]
    return _stacked(
        feed,
        dice,
        [
            {
                "order_id": base["order_id"][payers],
                "version": np.full(len(payers), 1),
                "paid": base["amount"][payers],
                "paid_at": paid_at[payers],
                "made_at": paid_at[payers],
            },
            {
                "order_id": base["order_id"][corrected],
                "version": np.full(len(corrected), 2),
                "paid": dice.integers(500, 50_000, len(corrected)),
                "paid_at": paid_at[corrected] - 60 * dice.integers(0, 2, len(corrected)),
                "made_at": paid_at[corrected] + _CORRECTED,
            },
        ],
    )


def _base(feed: Feed, second: int) -> dict[str, Any]:
    dice = np.random.default_rng([feed.seed, second, 1])
    count = feed.orders_per_second
    return {
        "order_id": np.arange(second * count, (second + 1) * count),
        "country": np.array(COUNTRIES)[dice.integers(0, len(COUNTRIES), count)],
        "amount": dice.integers(500, 50_000, count),
        "made": second + np.sort(dice.random(count)),
    }


def _some(base: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {"order_id": base["order_id"][rows], "country": base["country"][rows]}


def _stacked(feed: Feed, dice: np.random.Generator, parts: Sequence[dict[str, Any]]) -> pa.Table:
    """The parts with their arrivals: most at once, 15 % late, 0.1 % too late, and 1 % twice, the second time a second later."""
    tables = []
    for part in parts:
        count = len(part["made_at"])
        fate = dice.random(count)
        delay = np.where(fate < 0.85, dice.uniform(0, 0.5, count), dice.uniform(0, LATE - 2, count))
        arrives = part["made_at"] + np.where(fate > 0.999, TOO_LATE, delay)
        events = _events(feed, part, arrives)
        repeated = np.flatnonzero(dice.random(count) < 0.01)
        twice = events.take(repeated)
        later = pc.add(twice["arrives"], 1.0)
        tables += [events, twice.set_column(twice.schema.get_field_index("arrives"), "arrives", later)]
    return pa.concat_tables(tables)


def _events(feed: Feed, columns: dict[str, Any], arrives: Any) -> pa.Table:
    begin = int(feed.begin.timestamp() * 1_000_000)
    times: dict[str, Any] = {
        name: pa.array((begin + columns[name] * 1_000_000).astype("int64"), pa.int64()).cast(_TIME)
        for name in ("made_at", "paid_at")
        if name in columns
    }
    return pa.table(columns | times | {"arrives": arrives})
