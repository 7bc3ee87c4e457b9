"""Conditions as text: true where SQL's are true (DuckDB is the model), and anything else refused by name."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie.errors import ArgumentError, ConfigError
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.read.filters import as_expression
from tests.support.examples import examples
from tests.support.tables import batch, create

SCHEMA = pa.schema(
    [
        ("flag", pa.bool_()),
        ("small", pa.int32()),
        ("large", pa.int64()),
        ("share", pa.float32()),
        ("ratio", pa.float64()),
        ("price", pa.decimal128(5, 2)),
        ("city", pa.string()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("local", pa.timestamp("us")),
        ("coarse", pa.timestamp("ms")),
        ("clock", pa.time64("us")),
        ("Größe", pa.int32()),
        ("customer", pa.struct([("id", pa.int64()), ("home", pa.struct([("city", pa.string())]))])),
        ("tags", pa.list_(pa.string())),
    ]
)


def rows_where(text, rows):
    """The numbers of the rows that pass."""
    found = as_expression(text, rows.schema)
    return rows.append_column("n", pa.array(range(rows.num_rows))).filter(found)["n"].to_pylist()


# The law: what passes is what DuckDB's WHERE lets pass.

WORDS = st.one_of(
    st.sampled_from(["", "a", "ab", "a%", "a_b", "a\\b", "é", "a\nb", "\ud7ff", "\U0010ffffx", "'", '"']),
    st.text(max_size=3),
)
INTS = {"small": 31, "large": 63}
DAYS = st.dates(date(1, 1, 1), date(9999, 12, 31)) | st.sampled_from(
    [date(1969, 12, 31), date(1970, 1, 1), date(2026, 1, 31)]
)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)) | st.sampled_from(
    [datetime(2026, 1, 31), datetime(1970, 1, 1)]
)
NEAR = st.sampled_from([0, 1, 499, 500, 999, 1000]).map(lambda us: datetime(2000, 1, 1, 1, microsecond=us))
MILLIS = (MOMENTS | NEAR).map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))
FLOATS = st.sampled_from([0.0, -0.0, 1.5, -2.0, 0.1]) | st.floats(allow_nan=False, allow_infinity=False, width=32)


def integers(bits):
    near = st.integers(-3, 3)
    return near | st.integers(-(1 << bits), (1 << bits) - 1)


VALUES = {
    "flag": st.booleans(),
    "small": integers(31),
    "large": integers(63),
    "share": FLOATS,
    "ratio": FLOATS,
    "price": st.decimals(-999, 999, places=2) | st.sampled_from([Decimal("0.00"), Decimal("1.50")]),
    "city": WORDS.filter(lambda word: "\0" not in word),
    "day": DAYS,
    "at": MOMENTS.map(lambda at: at.replace(tzinfo=UTC)),
    "local": MOMENTS,
    "coarse": MILLIS,
    "clock": st.times(),
}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def number_text(number):
    return format(number, "f") if isinstance(number, Decimal) else str(number)


def literals(name):
    """Literals that fit a column, among them some between and beyond its values."""
    if name in INTS:
        bits = INTS[name]
        beyond = st.integers(-(1 << bits) * 4, (1 << bits) * 4) | st.decimals(-3, 3, places=1)
        return (integers(bits) | beyond).map(number_text)
    if name == "price":
        return (VALUES[name] | st.decimals(-2000, 2000, places=3) | st.integers(-3, 3)).map(number_text)
    if name in ("share", "ratio"):
        return FLOATS.map(lambda number: repr(number))
    if name == "flag":
        return st.sampled_from(["true", "false"])
    if name == "coarse":
        # DuckDB rounds plain text to the column's milliseconds; Spark and we compare the moment that it says.
        return (MOMENTS | NEAR).map(lambda at: f"timestamp {quoted(str(at))}") | MILLIS.map(lambda at: quoted(str(at)))
    typed = {"day": "date", "local": "timestamp", "clock": "time"}.get(name, "")
    return st.tuples(st.sampled_from(["", typed]), VALUES[name]).map(
        lambda both: f"{both[0]} {quoted(str(both[1]))}".strip()
    )


@st.composite
def leaves(draw):
    name = draw(st.sampled_from(sorted(VALUES)))
    of_it = literals(name)
    null = st.just("null")
    kind = draw(st.sampled_from(["compare", "compare", "between", "in", "null", "like", "columns", "flag", "flipped"]))
    if kind == "between":
        return f"{name} {draw(st.sampled_from(['', 'not']))} between {draw(of_it)} and {draw(of_it | null)}"
    if kind == "in":
        listed = draw(st.lists(of_it | null, min_size=1, max_size=4))
        return f"{name} {draw(st.sampled_from(['', 'not']))} in ({', '.join(listed)})"
    if kind == "null":
        return f"{name} is {draw(st.sampled_from(['', 'not']))} null"
    if kind == "like":
        pattern = draw(st.text("ab%_é\\\n", max_size=4))
        return f"city {draw(st.sampled_from(['', 'not']))} like {quoted(pattern)} escape '!'"
    if kind == "columns":
        left, right = draw(
            st.sampled_from([("small", "large"), ("share", "ratio"), ("city", "city"), ("large", "large")])
        )
        return f"{left} {draw(st.sampled_from(['=', '<>', '<', '>=']))} {right}"
    if kind == "flag":
        return draw(st.sampled_from(["flag", "flag is true", "flag is not false", "flag is not true", "true", "null"]))
    operator = draw(st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">="]))
    literal = draw(of_it | null)
    return f"{literal} {operator} {name}" if kind == "flipped" else f"{name} {operator} {literal}"


CONDITIONS = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda each: f"({' '.join(each)})"),
        inner.map(lambda each: f"not ({each})"),
    ),
    max_leaves=5,
)
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=6)
MODEL = duckdb.connect(config={"threads": 1})
MODEL.execute("set timezone = 'UTC'")
QUOTED = re.compile(r"\b(at|local)\b(?=([^']*'[^']*')*[^']*$)")  # words of DuckDB's, outside of text
FLOAT = re.compile(r"\bshare\b(?=([^']*'[^']*')*[^']*$)")


def model(text, rows):
    # DuckDB takes an untyped literal of a time for one of the column's type; it knows no null that is a condition.
    MODEL.register("given", rows.append_column("n", pa.array(range(rows.num_rows))))
    # It rounds a literal to FLOAT, Spark does not.
    text = FLOAT.sub("cast(share as double)", QUOTED.sub(r'"\1"', text))
    return [n for (n,) in MODEL.execute(f"select n from given where {text} order by n").fetchall()]


@settings(max_examples=examples(500))
@given(ROWS, CONDITIONS)
def test_rows_pass_as_in_duckdb(rows, text):
    table = pa.Table.from_pylist(rows, pa.schema([SCHEMA.field(name) for name in VALUES]))
    assert rows_where(text, table) == model(text, table)


@given(ROWS, CONDITIONS)
def test_parentheses_case_and_space_change_nothing(rows, text):
    table = pa.Table.from_pylist(rows, pa.schema([SCHEMA.field(name) for name in VALUES]))
    assert rows_where(f" (\n({text}) ) -- said twice", table) == rows_where(text, table)


def test_text_between_two_milliseconds_is_not_rounded():
    at = [datetime(2000, 1, 1, 1), datetime(2000, 1, 1, 1, microsecond=1000)]
    rows = pa.table({"coarse": pa.array(at, pa.timestamp("ms"))})
    for between in ("2000-01-01 01:00:00.000001", "2000-01-01 01:00:00.0006"):
        for operator, found in {"=": [], "<>": [0, 1], "<": [0], "<=": [0], ">": [1], ">=": [1]}.items():
            assert rows_where(f"coarse {operator} '{between}'", rows) == found, (operator, between)


def test_nan_is_like_null():
    rows = pa.table({"x": pa.array([float("nan"), None, 1.0])})
    for text in ("x = 1", "x >= 0", "x < 5", "x in (1)", "not x <> 1", "x between 0 and 2", "not x > 2"):
        assert rows_where(text, rows) == [2], text
    for text in ("x <> 1", "x not in (1)", "not x = 1", "not x > 0"):
        assert rows_where(text, rows) == [], text
    assert rows_where("x is null", rows) == [1]


def test_numbers_between_two_floats_are_not_rounded():
    """As in Spark, which compares DOUBLE: the FLOAT of 0.1 is greater than 0.1, that of 0.7 is less."""
    rows = pa.table({"share": pa.array([0.1, 0.7, 0.5, float("nan"), None, float("inf")], pa.float32())})
    expected = {
        "share > 0.1": [0, 1, 2, 5],
        "share <= 0.1": [],
        "share >= 0.7": [5],
        "share < 0.7": [0, 1, 2],
        "share = 0.1": [],
        "share <> 0.1": [0, 1, 2, 5],
        "share in (0.1, 0.5)": [2],
        "share not in (0.1, 0.5)": [0, 1, 5],
        "not share between 0.1 and 0.7": [5],
        "share > 1e-50 and share < 0.2": [0],
    }
    assert {text: rows_where(text, rows) for text in expected} == expected


def test_names():
    customer = {"id": 7, "home": {"city": "x"}}
    rows = pa.Table.from_pylist(
        [{"Größe": 1, "customer": customer, "city": "a"}, {"Größe": 2, "customer": {"id": None}}, {}], SCHEMA
    )
    for text, found in {
        '"Größe" = 1': [0],
        "größe > 0": [0, 1],
        "GRÖßE > 0": [0, 1],
        "CITY = 'a'": [0],
        "customer.id = 7": [0],
        "customer.home.city = 'x'": [0],
        '"customer"."home"."city" like \'x%\'': [0],
        "customer.id is null": [1, 2],
        "customer is null": [2],
        "tags is null": [0, 1, 2],
        "customer.home is not null": [0],
        "not (customer.id <> 7)": [0],
    }.items():
        assert rows_where(text, rows) == found, text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("town = 'x'", r"column 'town', which the table does not have.*columns flag, small"),
        ('city = "x"', r"column 'x'.*single quotes"),
        ("\"CITY\" = 'x'", "column 'CITY'"),
        ("customer.name = 'x'", r"field 'customer\.name'.*fields id, home"),
        ("customer.id.x = 1", r"field 'customer\.id\.x'.*\(none\)"),
        ("upper(city) = 'X'", r"function upper\(\)"),
        ("city = my_function(1)", r"function my_function\(\)"),
        ("day = current_date", r"function current_date\(\)"),
        ("small + 1 = 2", r"part.*small \+ 1"),
        ("small = 1 + 1", r"part.*1 \+ 1"),
        ("city || 'x' = 'y'", "part"),
        ("city ilike 'x'", "part.*ILIKE"),
        ("city like any ('x', 'y')", "part"),
        ("city like upper('x')", "function upper"),
        ("city similar to 'x'", "part|function"),
        ("small between symmetric 2 and 1", "part.*BETWEEN 2 AND 1"),
        ("small in (select 1)", "SELECT"),
        ("small in ()", "one of no values"),
        ("small in (1, large)", "part.*large"),
        ("exists (select 1)", "part|function"),
        ("small is distinct from 1", "part"),
        ("small is 1", "part"),
        ("small is true", "'small' for a condition"),
        ("small", "'small' for a condition.*int32"),
        ("small and flag", "'small' for a condition"),
        ("1 = 1", "compares no column"),
        ("case when flag then true end", r"function case\(\)"),
        ("cast(small as bigint) = 1", "part.*CAST"),
        ("small::bigint = 1", "part.*CAST"),
        ("price = cast('1.55' as decimal(3, 1))", "part"),
        ("small = interval '1' day", "part"),
        ("small = ?", "part"),
        ("small = :x", "part"),
        ("tags[0] = 'x'", "part"),
        ("flag; drop table x", "cannot be read.*'drop'"),
        ("select * from x", "cannot be read"),
        ("small >", "cannot be read.*expression"),
        ("small = 1 large = 2", "cannot be read.*'large'"),
        ("", "cannot be read.*nothing"),
        ("city = 'x", "cannot be read.*Error tokenizing"),
        ("city = `x`", "cannot be read"),
        ("city = 7", r"'city' with 7.*city is string.*single quotes"),
        ("small = '7'", r"'small' with '7'.*int32.*a number"),
        ("small = 1e999", "1E999|1e999"),
        ("share = 1e39", "share is float.*can hold"),
        ("flag = 1", "flag is bool.*true or false"),
        ("day = 20260101", "day is date32.*such as '2026-01-31'"),
        ("day = '2026-1-1'", "a day"),
        ("day = '20260101'", "a day"),
        ("day = '2026-02-30'", "a day"),
        ("day = '2026-01-01 10:00:00'", "a day"),
        ("day = timestamp '2026-01-01'", "a day"),
        ("at = '2026'", "a time.*UTC"),
        ("at = time '10:00:00'", "a time"),
        ("local = '2026-01-01T00:00:00Z'", "without a zone"),
        ("local = '2026-01-01 00:00:00.1234567'", "a time"),
        ("clock = '25:00:00'", "a time"),
        ("tags = 'x'", "tags is list.*is null"),
        ("tags in ('x')", "tags is list.*is null"),
        ("customer = 'x'", "only `is null`"),
        ("tags = tags", "compares 'tags' with 'tags'"),
        ("small = city", r"compares 'small' with 'city'.*int32 and string"),
        ("small like '1%'", "small is int32.*text with a pattern"),
        ("city like 'a!' escape '!'", "escapes nothing"),
        (r"city not like 'a\_%'", "has a backslash.*escape '!'"),
        ("city like 'a' escape 'ab'", "part"),
        ("city = '\ud800'", "text of Unicode|cannot be read"),
        ("(" * 5000 + "flag" + ")" * 5000, "inside each other"),
        ("not " * 5000 + "flag", "inside each other"),
    ],
    ids=lambda each: each[:40].encode("ascii", "replace").decode(),
)
def test_what_is_refused(text, told):
    with pytest.raises(ArgumentError, match=told):
        as_expression(text, SCHEMA)


@pytest.mark.parametrize(
    "wrong", [7, b"flag", ["flag"], [("flag", "=", True)], True, pa.scalar(True), lambda rows: rows]
)
def test_what_is_no_filter(wrong):
    with pytest.raises(ArgumentError, match=r"neither an expression nor text.*pyarrow\.compute\.field"):
        as_expression(wrong, SCHEMA)


def test_escapes_and_zones_and_long_lists():
    rows = pa.table({"city": ["100%", "100x", "a_b", "axb"], "n1": [0, 1, 2, 3]})
    assert rows_where("city like '100!%' escape '!'", rows) == [0]
    assert rows_where("city like 'a!_%' escape '!'", rows) == [2]
    assert rows_where("city not like '%!%%' escape '!'", rows) == [1, 2, 3]
    at = pa.table({"at": pa.array([datetime(2026, 1, 1, 12, tzinfo=UTC)], pa.timestamp("us", "UTC"))})
    for text in (
        "'2026-01-01 12:00:00'",
        "'2026-01-01T14:00:00+02:00'",
        "timestamp '2026-01-01 12:00:00Z'",
        "'2026-01-01 12:00'",
    ):
        assert rows_where(f"at = {text}", at) == [0], text
    assert rows_where("at >= date '2026-01-01'", at) == [0]
    many = " or ".join(f"n1 = {number}" for number in range(1, 1200))  # more than Python may nest calls
    assert rows_where(many, rows) == [1, 2, 3]
    assert rows_where(f"not ({many})", rows) == [0]
    assert rows_where(f"n1 in ({', '.join(map(str, range(1, 3000)))})", rows) == [1, 2, 3]


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([(f"k{i}", "pq"[i % 2], i, i) for i in range(100)]))
    return table


def test_a_table_is_read_by_text(table):
    assert table.read(filter="ts >= 90 and part in ('p')").num_rows == 5
    plan = table.plan_read(filter="part = 'p' or part like 'p%'")
    assert (len(plan.slices), plan.left_out) == (1, 1)
    assert table.plan_read(filter="part like 'q%'").left_out == 1
    assert table.read(filter=f"{COMMIT_TIME} is not null", columns=["id"]).num_rows == 100
    assert table.read(filter="true").num_rows == 100
    assert table.read(filter="null", columns=["id"]).num_rows == 0
    since = table.timeline.last_commit.time
    table.write(batch([("k1", "q", 1, -1), ("k2", "p", 2, -2)]))
    assert table.read_incremental(since, filter="value < -1")["id"].to_pylist() == ["k2"]
    with pytest.raises(ConfigError, match="'nope'"):
        table.read_incremental(since, filter="nope < -1")
    with pytest.raises(ConfigError, match="'nope'"):
        table.read(filter="nope < -1")


def test_columns_that_came_later_are_known_to_text(table):
    before = table.timeline.last_commit.time
    rows = batch([("z", "p", 1, 1)])
    table.write(rows.append_column("extra", pa.array([5])))
    assert table.read(filter="extra = 5")["id"].to_pylist() == ["z"]
    with pytest.raises(ConfigError, match="'extra'"):
        table.read(filter="extra = 5", as_of=before)


def test_statistics_of_row_groups_answer_text(table):
    text = as_expression("ts > 90", table.schema)
    assert str(text) == str(pc.field("ts") > pa.scalar(90, pa.int64()))


def test_literals_beyond_a_column_are_beyond_its_values():
    rows = pa.table(
        {"small": pa.array([-5, 5, None], pa.int32()), "price": pa.array([Decimal("-1.00"), Decimal("1.00"), None])}
    )
    for far in ("99999999999", "1e300"):
        for name in rows.column_names:
            for operator, low, high in (("<", [], [0, 1]), ("<=", [], [0, 1]), (">", [0, 1], []), (">=", [0, 1], [])):
                assert rows_where(f"{name} {operator} {far}", rows) == high
                assert rows_where(f"{name} {operator} -{far}", rows) == low
            for sign in ("", "-"):
                assert rows_where(f"{name} = {sign}{far}", rows) == rows_where(f"{name} in ({sign}{far})", rows) == []
                assert (
                    rows_where(f"{name} <> {sign}{far}", rows)
                    == rows_where(f"{name} not in ({sign}{far})", rows)
                    == [0, 1]
                )
