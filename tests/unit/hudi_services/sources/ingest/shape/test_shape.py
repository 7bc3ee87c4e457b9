"""Rows shaped as a feed declares it; each is written, filtered or quarantined with its reason."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError, SourceError
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.columns import filled_columns
from hudi_services.sources.ingest.shape import selection
from hudi_services.sources.ingest.shape.shape import Shape
from tests.support.matrix import sample


def shape_of(**said):
    return Shape.of(Feed.model_validate(said))


def shaped(rows, known=None, **said):
    """Rows, places of the rows they are, misfits."""
    shaping = pickle.loads(pickle.dumps(shape_of(**said).plan(rows.schema, known, "feed")))
    with shaping.opened() as shaper:
        found = shaper(rows)
    assert found.rows.schema.names == shaping.outgoing.names
    assert found.rows.num_rows == len(found.places)
    return found.rows.to_pylist(), found.places.tolist(), found.misfits


TYPES = pa.schema(
    [
        ("d", pa.decimal128(10, 2)),
        ("vast", pa.decimal128(38, 0)),
        ("at", pa.timestamp("us", "UTC")),
        ("local", pa.timestamp("us")),
        ("fine", pa.timestamp("ns")),
        ("day", pa.date32()),
        ("ok", pa.bool_()),
        ("n", pa.int64()),
        ("small", pa.int8()),
        ("x", pa.float32()),
        ("raw", pa.binary()),
        ("word", pa.large_string()),
        ("s", pa.struct([pa.field("a", pa.int32(), nullable=False), ("b", pa.list_(pa.string()))])),
        ("l", pa.list_(pa.field("element", pa.decimal128(5, 1)))),
        ("m", pa.map_(pa.string(), pa.float64())),
    ]
)
VALUES = {
    "d": Decimal("1.50"),
    "vast": Decimal("9" * 38),
    "at": datetime(2026, 7, 1, 12, tzinfo=UTC),
    "local": datetime(2026, 7, 1, 12, 0, 0, 5),
    "fine": datetime(2026, 7, 1),
    "day": date(1969, 1, 31),
    "ok": True,
    "n": 2**63 - 1,
    "small": -128,
    "x": 0.5,
    "raw": b"\x00\xff",
    "word": "größe, \"x\" 'y'",
    "s": {"a": 1, "b": ["p", None]},
    "l": [Decimal("1.5"), None],
    "m": [("k", 1.5)],
}
ALL_TYPES = pa.Table.from_pylist([VALUES, {"s": None}], schema=TYPES)


def test_all_types_survive_sql_as_they_are():
    shaping = shape_of(sql="select * from batch").plan(TYPES, None, "feed")
    assert shaping.outgoing == filled_columns(TYPES, None)
    rows, _, misfits = shaped(ALL_TYPES, sql="select * from batch where true")
    assert not misfits
    assert [{**row, "fine": None} for row in rows] == [{**row, "fine": None} for row in ALL_TYPES.to_pylist()]


def test_types_of_what_sql_makes():
    made = shape_of(
        sql="select d * d as dd, vast::hugeint as h, {'a': n} as s, [d] as l,"
        ' "at" + interval 1 day as later, "at"::date as day,'
        " 1.5 as c, n > 3 as b, uuid_text as u, n as n2, local as l2 from batch"
    ).plan(TYPES.append(pa.field("uuid_text", pa.string())), None, "feed")
    assert dict(zip(made.outgoing.names, made.outgoing.types, strict=True)) == {
        "dd": pa.decimal128(18, 4),
        "h": pa.decimal128(38, 0),
        "s": pa.struct([("a", pa.int64())]),
        "l": pa.list_(pa.field("l", pa.decimal128(10, 2))),
        "later": pa.timestamp("us", "UTC"),
        "day": pa.date32(),
        "c": pa.decimal128(2, 1),
        "b": pa.bool_(),
        "u": pa.string(),
        "n2": pa.int64(),
        "l2": pa.timestamp("us"),
    }


def test_one_step_after_the_other():
    rows = pa.table(
        {
            "Order No": ["007", "8", "9", "10"],
            "when": ["01.07.2026 12:00", "1.7.2026 12:00", "gestern", None],
            "amount": ["1.50", "2.505", "3", "4"],
        }
    )
    found = shaped(
        rows,
        rename={"Order No": "id", "when": "at"},
        timestamps={"at": {"formats": "%d.%m.%Y %H:%M", "zone": "Europe/Berlin"}},
        cast={"amount": "decimal(10,2)"},
        sql="select id, amount * 2 as twice, \"at\"::date as day from batch where id <> '10'",
    )
    assert found == (
        [{"id": "007", "twice": Decimal("3.00"), "day": date(2026, 7, 1)}],
        [0],
        {
            1: "column amount: '2.505' is no decimal(10,2)",
            2: "column at: 'gestern' is no time %d.%m.%Y %H:%M in Europe/Berlin",
        },
    )


def test_times_are_parsed_before_they_are_cast():
    rows = pa.table({"day": ["31.01.2026", "32.01.2026"]})
    found, _, misfits = shaped(rows, timestamps={"day": "%d.%m.%Y"}, cast={"day": "date"})
    assert (found, list(misfits)) == ([{"day": date(2026, 1, 31)}], [1])


@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_rows_for_which_the_sql_fails_stand_alone(size):
    texts = [str(n) if n % 5 else f"x{n}" for n in range(size)]
    rows = pa.table({"id": range(size), "text": texts, "deep": [[{"a": n}] for n in range(size)]})
    found, places, misfits = shaped(rows, sql="select id, text::int as n, deep from batch where id % 2 = 0")
    kept = [n for n in range(size) if n % 2 == 0]
    assert found == [{"id": n, "n": n, "deep": [{"a": n}]} for n in kept if n % 5]
    assert places == [n for n in kept if n % 5]
    assert list(misfits) == [n for n in kept if not n % 5], "a row that WHERE leaves out is not looked at further"
    assert all(reason.startswith("sql: Conversion Error: Could not convert string 'x") for reason in misfits.values())


@pytest.mark.parametrize(
    ("sql", "wanted", "bad"),
    [
        ("select n // m as q from batch", [{"q": 2}], [1]),
        ("select try(n // m) as q from batch", [{"q": 2}, {"q": None}], []),
        ("select case when m = 0 then error('m is 0') else n end as q from batch", [{"q": 4}], [1]),
        ("select n as q from batch where n // m > 0", [{"q": 4}], [1]),
        ("select n + m as q from batch where q > 4", [{"q": 6}, {"q": 5}], []),
        ("select n + m as q from batch where null", [], []),
        ("select n from batch where m", [{"n": 4}], []),
    ],
)
def test_errors_filters_and_names_of_the_result_in_where(sql, wanted, bad):
    found, _, misfits = shaped(pa.table({"n": [4, 5], "m": [2, 0]}), sql=sql)
    assert (found, list(misfits)) == (wanted, bad)
    assert "m is 0" not in sql or misfits == {1: "sql: Invalid Input Error: m is 0"}


def test_sql_that_fails_for_very_many_rows_is_not_tried_on_each(monkeypatch):
    monkeypatch.setattr(selection, "MOST_MISFITS", 10)
    rows = pa.table({"text": ["x"] * 10})
    assert len(shaped(rows, sql="select text::int as n from batch")[2]) == 10
    with pytest.raises(SourceError, match=r"fails for more than 10 rows of a piece.*Could not convert string 'x'"):
        shaped(pa.concat_tables([rows, rows]), sql="select text::int as n from batch")


NAMES = [
    "batch",
    "keep",
    "_keep",
    'we"ird',
    "with space",
    "größe",
    "select",
    "from",
    "1st",
    "a.b",
    "o'clock",
    "%s",
    "日本",
]


@pytest.mark.parametrize("name", sample(NAMES, 0, 1, 2, 3, 6, 9, 10, 11, 12))
def test_any_name_of_a_column(name):
    rows = pa.table({name: [1, 2, 3], "other": ["x", "y", "z"]})
    quoted = '"' + name.replace('"', '""') + '"'
    assert shaped(rows, sql=f"select * from batch where {quoted} > 1")[0] == rows.slice(1).to_pylist()
    found = shaped(rows, sql=f"select {quoted} + 1 as {quoted} from batch where other <> 'y'")[0]
    assert found == [{name: 2}, {name: 4}]
    assert shaped(rows, sql=f"select * replace (upper(other) as other) from batch where other = 'x' and {quoted} = 1")[
        0
    ] == [{name: 1, "other": "X"}]
    assert shaped(rows, rename={name: "new"})[0] == [
        {"new": n, "other": o} for n, o in zip((1, 2, 3), "xyz", strict=True)
    ]
    assert shaped(rows, rename={"other": "a", name: "other"})[0][0] == {"other": 1, "a": "x"}
    assert shaped(rows, cast={name: "string"})[0][0] == {name: "1", "other": "x"}


def test_columns_that_are_not_there():
    rows = pa.table({"a": [1], "b": ["x"]})
    for said in ({"rename": {"c": "d"}}, {"cast": {"c": "int"}}, {"timestamps": {"c": "iso"}}):
        with pytest.raises(SourceError, match=f"Column 'c' is in no row of feed.*columns a, b.*`{next(iter(said))}`"):
            shaped(rows, **said)
        with pytest.raises(SourceError, match="Column 'c' is in no row"):
            shaped(rows, known=rows.schema, **said)
    known = pa.schema([("a", pa.int64()), ("d", pa.int64())])
    assert shaped(rows, known=known, rename={"c": "d"}, cast={"d": "bigint"})[0] == rows.to_pylist(), (
        "only not delivered today"
    )
    with pytest.raises(
        ConfigError, match=r'does not fit its columns.*Referenced column "c" not found.*a int64, b string'
    ):
        shaped(rows, sql="select a, c from batch")
    known = pa.schema([("e", pa.int32())])
    said = {"cast": {"c": "int"}, "sql": "select a, c + 1 as e from batch"}
    assert shaped(rows, known=known, **said)[0] == [{"a": 1, "e": None}]
    with pytest.raises(SourceError, match="Column 'c' is in no row"):
        shaped(rows, **said)


@pytest.mark.parametrize(
    ("names", "said", "error"),
    [
        (["a", "b"], {"rename": {"a": "b"}}, "Two columns of feed would be called 'b'.*'a' and 'b'"),
        (["a", "b"], {"rename": {"a": "c", "b": "c"}}, "Two columns of feed would be called 'c'"),
        (["a", "A"], {"sql": "select * from batch"}, "differ only in case.*'a', 'A'"),
        (["a", "b"], {"sql": "select *, upper(b) as B from batch"}, "two columns of one name.*'b', 'B'.*REPLACE"),
        (["a", "b"], {"sql": "select a + 1 as n from batch"}, "does not fit its columns"),
        (["a", "b"], {"sql": "select regexp_matches(a, '(') as n from batch"}, "does not fit its columns"),
        (["a", "b"], {"sql": "select rowid as n from batch"}, "does not fit its columns"),
        (["a", "b"], {"sql": "select a as n from batch where nosuch"}, "does not fit its columns"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_read(names, said, error):
    columns = pa.schema([(name, pa.string()) for name in names])
    with pytest.raises((SourceError, ConfigError), match=error):
        shape_of(**said).plan(columns, None, "feed")


def test_nobody_reads_files_or_leaves_the_statement():
    with pytest.raises(ConfigError):
        shape_of(sql="select content from read_text('/etc/hostname')")
    with pytest.raises(ConfigError):
        shape_of(sql="select a from batch; attach '/tmp/x.db'")


def test_what_the_source_is_told_of_the_table():
    known = pa.schema([("id", pa.string()), ("at", pa.timestamp("us")), ("n", pa.int64()), ("twice", pa.int64())])
    assert shape_of().expected(known) == known
    assert shape_of().expected(None) is None
    shape = shape_of(
        rename={"Id": "id", "When": "at"}, timestamps={"at": "iso"}, sql="select *, n * 2 as twice from batch"
    )
    assert shape.expected(known) == pa.schema([("Id", pa.string()), ("n", pa.int64())])
    assert shape.later == pa.schema([("When", pa.timestamp("us"))])
    assert shape_of(sql="select id, other as n from batch").expected(known) == pa.schema(
        [("id", pa.string()), ("other", pa.int64())]
    )


def test_columns_of_nulls_are_what_the_table_has_else_text():
    nothing = pa.schema([("a", pa.null()), ("b", pa.null())])
    shape = shape_of(sql="select *, typeof(a) as ta, typeof(b) as tb from batch")
    shaping = shape.plan(nothing, pa.schema([("a", pa.int64())]), "feed")
    assert (shaping.incoming.field("a").type, shaping.incoming.field("b").type) == (pa.int64(), pa.string())


def test_it_says_what_it_does():
    shape = shape_of(
        rename={"a": "b"},
        timestamps={"b": {"formats": "iso", "zone": "UTC"}},
        cast={"c": "int"},
        sql="select *\n  from batch",
    )
    assert shape.steps == (
        "rename a to b",
        "parse times of b: iso in UTC",
        "cast c to int32",
        "sql: select * from batch",
    )
    assert not shape_of()
    assert shape_of().steps == ()
