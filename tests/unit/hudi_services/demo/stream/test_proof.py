"""The batch recomputation of the streaming demo, beside a loop over all pairs of events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq

from hudi_services.demo.stream.events import ALLOWED, Feed
from hudi_services.demo.stream.land import land
from hudi_services.demo.stream.layers import LAYERS
from hudi_services.demo.stream.proof import differences, recomputed


def on_time(folder):
    rows = pq.read_table(folder).to_pylist()
    return [row for row in rows if row["landed_at"] - row["made_at"] <= timedelta(seconds=ALLOWED)]


def test_the_recomputation_takes_the_highest_versions_of_events_that_are_on_time(tmp_path):
    feed = Feed(datetime(2026, 11, 26, 23, 59, tzinfo=UTC), 30)
    for second in range(20, 80):
        land(feed, tmp_path / "landing", second)
    orders, payments = {}, {}
    for rows, name in ((orders, "orders"), (payments, "payments")):
        for row in on_time(tmp_path / "landing" / name):
            if row["order_id"] not in rows or rows[row["order_id"]]["version"] < row["version"]:
                rows[row["order_id"]] = row
    paid = {key: payments[key] for key in orders.keys() & payments.keys() if not orders[key]["cancelled"]}
    layers = recomputed(tmp_path / "landing")
    assert {row["order_id"]: row["paid"] for row in layers["paid_orders"].to_pylist()} == {
        key: payment["paid"] for key, payment in paid.items()
    }
    minutes = {}
    for key, payment in paid.items():
        group = payment["paid_at"].strftime("%Y-%m-%d %H:%M"), orders[key]["country"]
        minutes.setdefault(group, []).append(payment["paid"])
    by_minute = {(row["minute"], row["country"]): row for row in layers["revenue_by_minute"].to_pylist()}
    assert {key: (row["orders"], row["revenue"]) for key, row in by_minute.items()} == {
        key: (len(values), sum(values)) for key, values in minutes.items()
    }
    assert sum(layers["revenue_by_country"]["orders"].to_pylist()) == len(paid)
    for layer in LAYERS:
        layer.table(tmp_path / "lake").write(layers[layer.name].slice(1), "insert")
    assert [text.split()[0] for text in differences(tmp_path / "landing", tmp_path / "lake")] == [
        layer.name for layer in LAYERS
    ]
    for layer in LAYERS:
        layer.table(tmp_path / "lake").write(layers[layer.name].slice(0, 1), "insert")
    assert differences(tmp_path / "landing", tmp_path / "lake") == []
