"""Columns that identify the rows of a sample."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pyarrow as pa

from hudi_services.sources.key_choice import KeyChoice, choose_key, moves, unique_columns

TIMES = [datetime(2026, 1, 1, hour) for hour in range(6)]


def choice(ordering=None, distinct=None, **columns):
    rows = pa.table(columns)
    return choose_key(rows, rows.num_rows if distinct is None else distinct, ordering)


def test_one_column():
    assert choice(v=[1, 2, 3], order_no=["a", "b", "c"]) == KeyChoice(("order_no",))
    assert choice(v=["x", "y", "z"], id=[1, 1, 2]) == KeyChoice(("v",), "unique in the sample, by chance")
    assert choice(id=[1, None, 3], code=["a", "", "c"]).columns == ()
    assert choice(id=pa.array([Decimal(2**70), Decimal(1)], pa.decimal128(38, 0))).columns == ("id",)


def test_names_of_keys_come_before_times_and_measures():
    assert choice("updated_at", updated_at=TIMES, amount=[*range(6)], order_id=[*range(6)]) == KeyChoice(("order_id",))
    assert choice(amount=[1, 2], orderId=["a", "b"]) == KeyChoice(("orderId",))
    assert choice(total=[1, 2], account=["a", "b"]).columns == ("account",), "a measure comes last, account is no count"
    found = choice("updated_at", updated_at=TIMES, amount=[*range(6)], order_id=[float(n) for n in range(6)])
    assert (found.columns, "order_id would be unique, but order_id is a number" in str(found.note)) == ((), True)
    found = choice("updated_at", updated_at=TIMES, city=["a"] * 6)
    assert (found.columns, "no column" in str(found.note)) == ((), True), "a time of the last change is no key"
    assert choice(order_no=[1.0, 2.0], customer_code=["a", "b"]) == KeyChoice(("customer_code",))


def test_unique_columns_in_their_order():
    rows = pa.table({"ts": TIMES[:2], "amount": [1, 2], "v": [1, 1], "name": ["a", "b"], "order_id": [1, 2]})
    assert unique_columns(rows) == ("order_id", "name", "ts", "amount")


def test_identical_rows_count_once():
    assert choice(distinct=2, id=[1, 2, 1], v=["a", "b", "a"]) == KeyChoice(("id",))
    assert choice(id=[1, 2, 1], v=["a", "b", "a"]).columns == (), "two rows of id 1 differ elsewhere"


def test_versions_of_a_record_and_events():
    columns = {"user_id": [1, 1, 2, 2, 3, 3], "updated_at": TIMES[:2] * 3, "ts": TIMES[:2] * 3}
    found = choice("updated_at", user_id=columns["user_id"], updated_at=columns["updated_at"])
    assert (found.columns, "the newest row is kept" in str(found.note)) == (("user_id",), True)
    found = choice("ts", user_id=columns["user_id"], ts=columns["ts"])
    assert (found.columns, "[user_id] alone keeps only the newest" in str(found.note)) == (("user_id", "ts"), True)
    assert choice("ts", user_id=columns["user_id"], ts=TIMES).columns == ("user_id", "ts"), "not the time alone"
    assert choice(None, ts=TIMES, v=[1.5] * 6).columns == ("ts",)


def test_columns_together_by_their_names():
    pairs = {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "order_no": [1, 1, 2, 2], "line_no": [1, 2, 1, 2]}
    assert choice(**pairs) == KeyChoice(("order_no", "line_no"))
    three = {"a": [1, 1, 1, 1, 2], "b": [1, 1, 2, 2, 1], "c": [1, 2, 1, 2, 1]}
    assert choice(**three) == KeyChoice(("a", "b", "c"), "unique in the sample, by chance")


def test_types_that_make_no_key_are_named():
    zoned = pa.array(TIMES, pa.timestamp("us", "UTC"))
    assert "at would be unique, but at is a time with a zone" in str(choice(dev=["d"] * 6, at=zoned).note)
    assert "x would be unique, but x is a number with a fraction" in str(choice(x=[1.5, 2.5], v=["a", "a"]).note)
    assert "two or three together, are unique" in str(choice(x=[True, True], v=["a", "a"]).note)


def test_a_partition_that_changes_for_a_key():
    rows = pa.table({"id": [1, 1, 2], "day": ["a", "b", "a"], "city": ["x", "x", "y"]})
    assert moves(rows, ("id",), "day")
    assert not moves(rows, ("id",), "city")
    assert not moves(rows, ("id", "day"), "day")
