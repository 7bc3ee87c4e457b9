"""Sums that follow changes by subtracting what was and adding what is."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from hudi_services.demo.stream.retraction import EMPTY, Retraction

IMAGE = pa.struct([("minute", pa.string()), ("country", pa.string()), ("paid", pa.int64())])
ROWS = Retraction(("minute", "country"), None, "paid")
TARGET = pa.schema([("minute", pa.string()), ("country", pa.string()), ("orders", pa.int64()), ("revenue", pa.int64())])


def changes(*pairs):
    images = [[side and dict(zip(IMAGE.names, side, strict=True)) for side in pair] for pair in pairs]
    return pa.table(
        {name: pa.array([pair[at] for pair in images], IMAGE) for at, name in enumerate(("before", "after"))}
    )


def rows(table):
    return {tuple(row[name] for name in ROWS.groups): (row["orders"], row["revenue"]) for row in table.to_pylist()}


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ((None, ("m1", "DE", 5)), {("m1", "DE"): (1, 5)}),
        ((("m1", "DE", 5), ("m1", "DE", 7)), {("m1", "DE"): (0, 2)}),
        ((("m1", "DE", 5), ("m2", "DE", 7)), {("m1", "DE"): (-1, -5), ("m2", "DE"): (1, 7)}),
        ((("m1", "DE", 5), None), {("m1", "DE"): (-1, -5)}),
        ((("m1", "DE", 5), ("m1", "DE", 5)), {}),
    ],
)
def test_a_change_takes_its_before_image_away_and_adds_its_after_image(pair, expected):
    assert rows(ROWS.deltas(changes(pair))) == expected


def test_a_layer_of_sums_feeds_the_next_one_by_its_counts():
    image = pa.struct([("country", pa.string()), ("orders", pa.int64()), ("revenue", pa.int64())])
    batch = pa.table(
        {
            "before": pa.array([{"country": "DE", "orders": 3, "revenue": 30}], image),
            "after": pa.array([{"country": "DE", "orders": 5, "revenue": 45}], image),
        }
    )
    (delta,) = Retraction(("country",), "orders", "revenue").deltas(batch).to_pylist()
    assert delta == {"country": "DE", "orders": 2, "revenue": 15}


def test_totals_hold_only_the_groups_that_change_and_mark_the_empty_ones():
    stored = pa.table({"minute": ["m1", "m1"], "country": ["DE", "FR"], "orders": [1, 1], "revenue": [5, 8]})
    totals = ROWS.totals(stored, ROWS.deltas(changes((("m1", "DE", 5), ("m2", "DE", 6)))))
    assert rows(totals) == {("m1", "DE"): (0, 0), ("m2", "DE"): (1, 6)}
    assert {row["minute"]: row[EMPTY] for row in totals.to_pylist()} == {"m1": True, "m2": False}


def test_random_changes_in_batches_give_the_sums_of_the_rows():
    dice = random.Random(5)
    table, target = {}, TARGET.empty_table()
    for _ in range(40):
        pairs = []
        for key in dice.sample(range(12), 4):
            after = None if dice.random() < 0.3 else (f"m{dice.randrange(3)}", dice.choice("AB"), dice.randrange(9))
            before = table.pop(key, None)
            if after:
                table[key] = after
            if before or after:
                pairs.append((before, after))
        halves = [ROWS.deltas(changes(*pairs[:2])), ROWS.deltas(changes(*pairs[2:]))]  # of two tasks
        deltas = ROWS.summed(pa.concat_tables(halves))
        totals = ROWS.totals(target, deltas)
        target = upserted(target, totals)
        expected = {}
        for minute, country, paid in table.values():
            orders, revenue = expected.get((minute, country), (0, 0))
            expected[minute, country] = orders + 1, revenue + paid
        assert rows(target) == expected


def upserted(target, totals):
    merged = rows(target) | rows(totals)
    kept = [dict(zip(TARGET.names, (*key, *sums), strict=True)) for key, sums in merged.items() if sums[0]]
    return pa.Table.from_pylist(kept, TARGET)
