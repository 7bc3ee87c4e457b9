"""Columns that identify the rows of a sample."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

from hudi_services.sources.key_choice import KeyChoice, choose_key, moves, unique_columns

MANY = [*range(20)]
TIMES = [datetime(2026, 1, 1, hour) for hour in range(6)]


def choice(ordering=None, distinct=None, **columns):
    rows = pa.table(columns)
    return choose_key(rows, rows.num_rows if distinct is None else distinct, ordering)


def unique_in(rows, by_chance=False):
    return f"unique in the {rows} different rows that were looked at{', by chance' if by_chance else ''}"


def test_one_column():
    assert choice(v=[1, 2, 3], order_no=["a", "b", "c"]) == KeyChoice(("order_no",), None, True)
    assert choice(v=MANY, id=[1] * 20) == KeyChoice(("v",), unique_in(20, by_chance=True))
    assert choice(id=[1, None, 3], code=["a", "", "c"]).columns == ()
    assert choice(id=pa.array([Decimal(2**70), Decimal(1)], pa.decimal128(38, 0))).columns == ("id",)


def test_few_rows_make_no_key_by_chance():
    found = choice(v=MANY[:19], id=[1] * 19)
    assert (found.columns, "v is unique in the 19 different rows" in str(found.note)) == ((), True)
    found = choice(a=[1, 1, 2], b=[1, 2, 1], id=[1] * 3)
    assert (found.columns, "a, b are together unique in the 3 different rows" in str(found.note)) == ((), True)
    assert choice(order_id=[1, 1, 2], line=[1, 2, 1]).columns == ("order_id", "line"), "names say so"


def test_names_of_keys_come_before_times_and_measures():
    found = choice("updated_at", updated_at=TIMES, amount=[*range(6)], order_id=[*range(6)])
    assert found == KeyChoice(("order_id",), None, True)
    assert choice(amount=[1, 2], orderId=["a", "b"]) == KeyChoice(("orderId",), None, True)
    assert choice(total=MANY, account=MANY).columns == ("account",), "a measure comes last, account is no count"
    found = choice("updated_at", updated_at=TIMES, amount=[*range(6)], order_id=[float(n) for n in range(6)])
    assert (found.columns, "order_id would be unique, but order_id is a number" in str(found.note)) == ((), True)
    found = choice("updated_at", updated_at=TIMES, city=["a"] * 6)
    assert (found.columns, "no column" in str(found.note)) == ((), True), "a time of the last change is no key"
    assert choice(order_no=[1.0, 2.0], customer_code=["a", "b"]) == KeyChoice(("customer_code",), None, True)


def test_fields_of_structs():
    ids, other = [f"e{n}" for n in range(4)], ["x", "x", "y", "y"]
    meta = [{"id": key, "source": "x", "updated_at": time} for key, time in zip(ids, TIMES, strict=False)]
    assert choice(meta=meta, kind=other) == KeyChoice(("meta.id",), unique_in(4)), "never the time of the last change"
    assert choice(customer=[{"id": key} for key in ids], order_no=ids) == KeyChoice(("order_no",), None, True)
    found = choice(shop=[{"no": n // 2} for n in range(4)], line=[1, 2, 1, 2])
    assert found == KeyChoice(("shop.no", "line"), unique_in(4))
    assert choice(meta=[*meta[:3], None], kind=other).columns == (), "a null around a field"


def test_unique_columns_in_their_order():
    rows = pa.table({"ts": TIMES[:2], "amount": [1, 2], "v": [1, 1], "name": ["a", "b"], "order_id": [1, 2]})
    assert unique_columns(rows) == ("order_id", "name", "ts", "amount")


def test_identical_rows_count_once():
    assert choice(distinct=2, id=[1, 2, 1], v=["a", "b", "a"]) == KeyChoice(("id",), None, True)
    assert choice(id=[1, 2, 1], v=["a", "b", "a"]).columns == (), "two rows of id 1 differ elsewhere"


def test_versions_of_a_record_and_events():
    columns = {"user_id": [1, 1, 2, 2, 3, 3], "updated_at": TIMES[:2] * 3, "ts": TIMES[:2] * 3}
    found = choice("updated_at", user_id=columns["user_id"], updated_at=columns["updated_at"])
    assert (found.columns, "the newest row is kept" in str(found.note)) == (("user_id",), True)
    found = choice("ts", user_id=columns["user_id"], ts=columns["ts"])
    assert (found.columns, "[user_id] alone keeps only the newest" in str(found.note)) == (("user_id", "ts"), True)
    assert choice("ts", user_id=columns["user_id"], ts=TIMES).columns == ("user_id", "ts"), "not the time alone"


def test_a_time_that_is_unique_by_chance_is_no_key():
    times = [TIMES[0].replace(day=1 + n) for n in MANY]
    found = choice(None, till=[n % 3 for n in MANY], sold_at=times, item=["tea"] * 20, price=[2.5] * 20)
    assert (found.columns, found.note) == (
        (),
        "sold_at has 20 values in the 20 different rows that were looked at, by chance: it is no key. Name the columns that "
        "identify a row, such as [sold_at, till, item]",
    )
    found = choice(None, till=[n % 3 for n in MANY], sold_at=[*times[:12], *times[:8]], price=[2.5] * 20)
    assert (found.columns, "sold_at has 12 values in the 20 different" in str(found.note)) == ((), True), (
        "nor with a till"
    )
    found = choice(None, sold_at=[str(time) for time in times], v=[1.5] * 20)
    assert (found.columns, str(found.note).endswith("that identify a row")) == ((), True), "by its name, and alone"
    assert choice(None, till_no=[1] * 20, sold_at=times).columns == ("till_no", "sold_at")
    pair = {"a": [n // 5 for n in MANY], "b": [n % 5 for n in MANY]}
    assert choice(None, sold_at=times, **pair).columns == ("a", "b"), "without the time"


def test_no_measure_is_part_of_a_key():
    minutes = [TIMES[n % 2] for n in MANY]
    for measure in ([n // 2 for n in MANY], [n / 8 for n in MANY], [Decimal(n) / 8 for n in MANY]):
        found = choice(None, device=["d0"] * 20, minute=minutes, value=measure, percent=measure)
        assert found.columns == ()
    assert choice(None, device=["d0"] * 20, minute=minutes, shelf=[n // 2 for n in MANY]).columns == ("shelf", "minute")


def test_columns_together_by_their_names():
    pairs = {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "order_no": [1, 1, 2, 2], "line_no": [1, 2, 1, 2]}
    assert choice(**pairs) == KeyChoice(("order_no", "line_no"), unique_in(4), True)
    three = {"a": [n // 9 for n in range(27)], "b": [n // 3 % 3 for n in range(27)], "c": [n % 3 for n in range(27)]}
    assert choice(**three) == KeyChoice(("a", "b", "c"), unique_in(27, by_chance=True))


def test_four_columns_that_say_so_come_before_a_number_with_a_fraction():
    days = [date(2026, 1, 1 + n % 2) for n in range(36)]
    columns = {"amount": [n / 7 for n in range(36)], "shop_no": [n // 18 for n in range(36)]}
    columns |= {"till_no": [n // 6 % 3 for n in range(36)], "seq": [n // 2 % 3 for n in range(36)]}
    assert choice(**columns, day=days) == KeyChoice(("shop_no", "till_no", "seq", "day"), unique_in(36, by_chance=True))
    found = choice(**columns, kind=[n % 2 for n in range(36)])
    assert (found.columns, "amount is unique by chance, as an" in str(found.note)) == ((), True), (
        "kind says nothing of the sort"
    )


def test_types_that_make_no_key_are_named():
    zoned = pa.array(TIMES, pa.timestamp("us", "UTC"))
    assert "dev_id, at would be unique, but at is a time with a zone" in str(choice(dev_id=["d"] * 6, at=zoned).note)
    assert "at has 6 values in the 6 different rows that were" in str(choice(dev=["d"] * 6, at=zoned).note)
    assert "x is unique by chance, as an amount" in str(choice(x=[1.5, 2.5], v=["a", "a"]).note)
    assert "two to four together, are unique" in str(choice(x=[True, True], v=["a", "a"]).note)


def test_a_partition_that_changes_for_a_key():
    rows = pa.table({"id": [1, 1, 2], "day": ["a", "b", "a"], "city": ["x", "x", "y"]})
    assert moves(rows, ("id",), "day")
    assert not moves(rows, ("id",), "city")
    assert not moves(rows, ("id", "day"), "day")


def test_an_amount_is_no_key_and_the_key_that_nearly_fits_is_named():
    ids = [*range(97), 1, 2, 3]
    for name in ("amount", "betrag", "total_price"):
        found = choice(order_no=ids, **{name: [*range(100)]})
        assert found.columns == ()
        assert str(found.note).startswith(
            f"order_no nearly fits: 3 of 100 rows share the order_no of another row; {name} is unique by chance, as an amount "
        )
    found = choice(Bestellnummer=ids, day=[date(2026, 1, 1 + n // 50) for n in range(100)])
    assert found.columns == ("Bestellnummer", "day")
    assert str(found.note).endswith(
        ", by chance; Bestellnummer nearly fits: 3 of 100 rows share the Bestellnummer of another row"
    )
    assert "nearly" not in str(choice(order_no=[n % 89 for n in range(100)], amount=[*range(100)]).note), (
        "too far from it"
    )
