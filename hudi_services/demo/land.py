"""Lands flights the way a feed delivers them: a folder a day, first plans, then what really happened.

The folder `dt=D` holds what arrived on day D:

- the schedule of D: planned times, nothing else;
- the actuals of D-1: departure, delays and tail number of most flights, with a few rows twice, and one damaged row that has
  lost its origin;
- the late actuals of D-2: the flights whose number ends in 3 report a day later;
- on odd days the actuals of D-1 once more under another name;
- every third day the schedule of D-2 once more: older news, which must not undo the actuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_services.demo.flights import ACTUALS, KEY, SCHEMA, all_flights, flights_of

_DAY = timedelta(days=1)
_MOMENT = timedelta(hours=11)  # after midnight, when a drop arrives
_TWICE = 9  # rows of each actuals file that are in it twice


@dataclass(frozen=True)
class Delivery:
    """One file of the feed: where it lands, its rows, and how many of them are damaged."""

    path: str
    rows: pa.Table
    damaged: int = 0


def deliveries(first: date, last: date, drop: date) -> Iterator[Delivery]:
    """The files that arrive on day `drop`, in a feed of the flights from `first` to `last`."""
    covered = [drop - ago * _DAY for ago in range(3)]
    today, yesterday, before = (day if first <= day <= last else None for day in covered)
    folder = f"dt={drop}"
    if today:
        yield Delivery(f"{folder}/schedule_{today}.parquet", schedule(today))
    if yesterday:
        actuals = _arrived(_on_time(yesterday), drop)
        damaged = actuals.slice(0, 1).set_column(2, SCHEMA.field("origin"), pa.nulls(1, pa.string()))
        content = pa.concat_tables([actuals, actuals.slice(0, _TWICE), damaged])
        yield Delivery(f"{folder}/actuals_{yesterday}.parquet", content, 1)
        if yesterday.toordinal() % 2:
            yield Delivery(f"{folder}/actuals_{yesterday}_again.parquet", content, 1)
    if before:
        yield Delivery(f"{folder}/actuals_{before}_late.parquet", _arrived(_late(before), drop))
        if before.toordinal() % 3 == 0:
            yield Delivery(f"{folder}/schedule_{before}_again.parquet", schedule(before))


def schedule(day: date) -> pa.Table:
    """The plan of a day: what only happens later is null."""
    plan = flights_of(day)
    for name in ACTUALS:
        position = plan.schema.get_field_index(name)
        plan = plan.set_column(position, name, pa.nulls(plan.num_rows, plan.schema.field(name).type))
    return _arrived(plan, day)


def land(folder: Path, first: date, last: date) -> list[tuple[Path, int]]:
    """Write the drops of the days from `first` to the day after `last`. Returns each file with its number of rows."""
    landed = []
    for ahead in range((last - first).days + 2):
        for delivery in deliveries(first, last, first + ahead * _DAY):
            file = folder / delivery.path
            file.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(delivery.rows, file)
            landed.append((file, delivery.rows.num_rows))
    return landed


def expected(first: date, last: date) -> pa.Table:
    """The table after the drops from `first` to `last` were loaded, sorted by key."""
    parts = []
    for ahead in range((last - first).days + 1):
        day = first + ahead * _DAY
        on_time, late, plan = _on_time(day), _late(day), schedule(day)
        parts.append(_arrived(on_time, day + _DAY) if day + _DAY <= last else _is_late(plan, False))
        parts.append(_arrived(late, day + 2 * _DAY) if day + 2 * _DAY <= last else _is_late(plan, True))
    return pa.concat_tables(parts).sort_by([(name, "ascending") for name in KEY])


def settled(first: date, last: date) -> pa.Table:
    """The flights of the days from `first` to `last` when all their actuals have arrived, sorted by key."""
    flights = all_flights()
    flights = flights.filter(pc.and_(pc.greater_equal(flights["day"], first), pc.less_equal(flights["day"], last)))
    day = flights["day"].cast(pa.timestamp("us"))
    lag = pc.if_else(_reports_late(flights), _MOMENT + 2 * _DAY, _MOMENT + _DAY)
    arrived = pc.assume_timezone(pc.add(day, lag.cast(pa.duration("us"))), "UTC")
    rows = flights.drop_columns("day").append_column("arrived_at", arrived).cast(SCHEMA)
    return rows.sort_by([(name, "ascending") for name in KEY])


def damaged_rows(first: date, last: date) -> int:
    """The number of rows of the drops from `first` to `last` that cannot be loaded."""
    days = [first + ahead * _DAY for ahead in range((last - first).days + 1)]
    return sum(delivery.damaged for day in days for delivery in deliveries(first, last, day))


def _on_time(day: date) -> pa.Table:
    return _is_late(flights_of(day), False)


def _late(day: date) -> pa.Table:
    return _is_late(flights_of(day), True)


def _is_late(flights: pa.Table, late: bool) -> pa.Table:
    flags = _reports_late(flights)
    return flights.filter(flags if late else pc.invert(flags))


def _reports_late(flights: pa.Table) -> pa.ChunkedArray:
    tens = pc.multiply(pc.divide(flights["flight"], 10), 10)
    return pc.equal(pc.subtract(flights["flight"], tens), 3)


def _arrived(flights: pa.Table, drop: date) -> pa.Table:
    """The rows as a file that arrives on `drop` has them."""
    moment = datetime.combine(drop, time(0), UTC) + _MOMENT
    arrived = pa.array([moment], SCHEMA.field("arrived_at").type)
    column = pa.repeat(arrived[0], flights.num_rows)
    return flights.append_column("arrived_at", column).cast(SCHEMA)
