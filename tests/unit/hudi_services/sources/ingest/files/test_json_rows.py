"""JSON numbers where text is meant, and objects that are maps."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import HoodieTable
from hoodie.errors import SourceError
from hudi_services.sources.ingest.files.json_rows import Lines, json_tables
from hudi_services.sources.ingest.files.json_text import ValueShape, rewritten
from tests.support.examples import examples
from tests.support.tables import OPTIONS

NUMBERS = ["7.10", "1e3", "0.10", "-0", "123456789012345678901234567890", "1E+2", "12345678901234567.89"]
KEYS = {"id": "string", "part": "string", "ts": "bigint"}


def land(feed, *values, name="x.json"):
    rows = (f'{{"id": "k{n}", "part": "p", "ts": 1, "value": {value}}}\n' for n, value in enumerate(values))
    feed.land(name, "".join(rows))


def values(feed):
    rows = feed.open().read(columns=["id", "value"]).sort_by("id")
    return rows["value"].to_pylist()


@pytest.mark.parametrize("said", [{"schema": {**KEYS, "value": "string"}}, {"cast": {"value": "string"}}, {}])
def test_numbers_where_text_is_meant_keep_their_text(feed, said):
    """Declared, cast, or because the table has text: beside texts, and in any order."""
    if not said:
        schema = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("value", pa.string())])
        HoodieTable.create(str(feed.table), OPTIONS, schema)
    land(feed, *NUMBERS, '"007"', "true", "null", "[1]", '{"a": 1}')
    assert feed.run("json", declared=said, max_bad_share=0.5).rows_quarantined == 2
    assert values(feed) == [*NUMBERS, "007", "true", None]
    assert [(reason.partition(":")[0], json.loads(text)["value"]) for _, reason, text in feed.quarantined] == [
        ("line 11", [1]),
        ("line 12", {"a": 1}),
    ]


def test_numbers_inside_lists_and_structs_keep_their_text(feed):
    said = {"schema": {**KEYS, "value": "struct<a: array<string>, b: string, c: double>"}}
    land(feed, '{"a": [7.10, "x", 1e3], "b": 2.50, "c": 0.5}')
    feed.run("json", declared=said)
    assert values(feed) == [{"a": ["7.10", "x", "1e3"], "b": "2.50", "c": 0.5}]


def test_a_number_is_a_time_of_a_format(feed):
    land(feed, 20260701, '"20260702"')
    feed.run("json", declared={"timestamps": {"value": "%Y%m%d"}})
    assert [value.day for value in values(feed)] == [1, 2]


def test_a_column_that_is_cast_and_in_no_row_is_still_told(feed):
    land(feed, 1)
    with pytest.raises(Exception, match="Column 'other' is in no row"):
        feed.run("json", declared={"cast": {"other": "string"}})


MAPS = {
    "map<string, string>": ('{"en": "coat", "no": 7.10, "": null}', [("en", "coat"), ("no", "7.10"), ("", None)]),
    "map<string, decimal(10,2)>": ('{"a": 0.10, "b": 5}', [("a", Decimal("0.10")), ("b", Decimal(5))]),
    "map<string, map<string, bigint>>": (
        '{"a": {"b": 1}, "c": null, "d": {}}',
        [("a", [("b", 1)]), ("c", None), ("d", [])],
    ),
    "array<map<string, date>>": ("[{}, null]", [[], None]),
    "struct<a: map<string, struct<b: int>>>": (
        '{"a": {"x": {"b": 1}, "y": null}}',
        {"a": [("x", {"b": 1}), ("y", None)]},
    ),
}


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("said", ["schema", "cast"])
def test_objects_are_maps_where_they_are_declared_so(feed, kind, said):
    text, wanted = MAPS[kind]
    declared = {"cast": {"value": kind}} if said == "cast" else {"schema": {**KEYS, "value": kind}}
    land(feed, text, "null", text)
    feed.run("json", declared=declared)
    assert values(feed) == [wanted, None, wanted]
    land(feed, "null", text, name="y.json")
    feed.run("json", declared={}, operation="insert")
    assert values(feed).count(wanted) == 3, "the table's own type is enough"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' is there twice in a map"),
        ('{"a": 1, "\\u0061": 2}', "the key 'a' is there twice in a map"),
        ('[{"key": "a", "value": 1}]', "is no object, as a map"),
        ('{"a": "x"}', "a string is no int"),
        ('{"a": 1.5}', "1.5"),
        ('{"a": 1]', "line 2"),
        ('{"a": 1,}', "line 2"),
        ("3", "is no object, as a map"),
    ],
)
@pytest.mark.parametrize("undeclared", ["refuse", "keep"])
def test_what_is_no_such_map_is_told(feed, text, reason, undeclared):
    land(feed, '{"a": 1}', text)
    said = {"schema": {**KEYS, "value": "map<string, int>"}, "undeclared": undeclared}
    assert feed.run("json", declared=said, max_bad_share=0.5).rows_quarantined == 1
    [(_, told, _)] = feed.quarantined
    assert told.startswith("line 2: ")
    assert reason in told
    assert values(feed) == [[("a", 1)]]


def test_numbers_that_a_float_changes_are_found_inside_maps(feed):
    land(feed, '{"a": 0.5}', '{"a": 9007199254740993}')
    said = {"schema": {**KEYS, "value": "map<string, double>"}}
    assert feed.run("json", declared=said, max_bad_share=0.5).rows_quarantined == 1
    assert values(feed) == [[("a", 0.5)]]


def test_maps_pass_through_sql(feed):
    land(feed, '{"a": 1, "b": 2}')
    feed.run("json", declared={"cast": {"value": "map<string, int>"}, "sql": "SELECT *, value['b'] AS b FROM batch"})
    assert feed.open().read(columns=["b", "value"]).to_pylist() == [{"b": 2, "value": [("a", 1), ("b", 2)]}]


SCALARS = {pa.int64(): st.integers(-5, 5), pa.bool_(): st.booleans(), pa.float64(): st.sampled_from([0.5, 1e300])}
TEXTS = st.one_of(st.text(max_size=5), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans())


@st.composite
def kinds_and_values(draw, depth=2):
    """A type and a strategy of values of it, as they are in JSON."""
    shape = draw(st.sampled_from(["scalar", "text", *(["list", "map", "struct"] if depth else [])]))
    if shape == "scalar":
        kind = draw(st.sampled_from(list(SCALARS)))
        return kind, st.none() | SCALARS[kind]
    if shape == "text":
        return pa.string(), st.none() | TEXTS
    kind, inside = draw(kinds_and_values(depth - 1))
    if shape == "list":
        return pa.list_(kind), st.none() | st.lists(inside, max_size=3)
    if shape == "map":
        return pa.map_(pa.string(), kind), st.none() | st.dictionaries(st.text(max_size=3), inside, max_size=3)
    return pa.struct([("x", kind), ('"', pa.int64())]), st.none() | st.fixed_dictionaries({"x": inside})


def model(value, kind):
    """A value as it is read."""
    if value is None:
        return None
    if pa.types.is_string(kind):
        return value if isinstance(value, str) else json.dumps(value)
    if pa.types.is_list(kind):
        return [model(each, kind.value_type) for each in value]
    if pa.types.is_map(kind):
        return [(name, model(each, kind.item_type)) for name, each in value.items()]
    if pa.types.is_struct(kind):
        return {field.name: model(value.get(field.name), field.type) for field in kind.fields}
    return value


@given(st.data(), kinds_and_values(), st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_any_object_is_read_as_it_is_meant(data, drawn, indent, ascii_only):
    kind, strategy = drawn
    rows = data.draw(st.lists(strategy, min_size=1, max_size=4))
    texts = [json.dumps({"v": row}, indent=indent, ensure_ascii=ascii_only).replace("\n", " ") for row in rows]
    lines = Lines([text.encode() for text in texts], list(range(1, len(texts) + 1)))
    rejected = []
    found = [
        row
        for _, table in json_tables(lines, pa.schema([("v", kind)]), lambda *each: rejected.append(each))
        for row in table["v"].to_pylist()
    ]
    assert rejected == []
    assert found == [model(row, kind) for row in rows]


def test_what_is_no_json_stays_as_it_is():
    wanted = ValueShape.of(pa.struct([("v", pa.string())]))
    for text in (
        b'{"v": 1]',
        b'{"v" 1}',
        b'{"v": 1',
        b"{v: 1}",
        b'{"v": 01}',
        b'[{"v": 1}',
        b'{"v": 1,}',
        b"[" * 100000,
    ):
        assert rewritten(text, wanted) == text
    assert rewritten(b'{"v": 1} {"v": 2}', wanted) == b'{"v":"1"} {"v":"2"}'


ROW = {"id": "b", "part": "p", "ts": 2, "value": 1}
UNFIT = {**ROW, "value": [1, "x"]}


@pytest.mark.parametrize("layout", ["lines", "array"])
def test_a_file_whose_only_object_fits_no_type_goes_to_the_quarantine(feed, layout):
    rows = {"a.json": {"id": "a", "part": "p", "ts": 1, "value": 1}, "b.json": UNFIT}
    for name, row in rows.items():
        feed.land(name, json.dumps([row] if layout == "array" else row))
    assert feed.run("json", declared={"json": {"layout": layout}}, max_bad_share=0.5).rows_inserted == 1
    ((file, _, row),) = feed.quarantined
    assert (file, json.loads(row)) == ("b.json", UNFIT)
    assert set(feed.content) == {"a"}


def test_objects_of_which_none_fits_a_type(feed):
    feed.land("b.json", [UNFIT])
    with pytest.raises(SourceError, match=r"No row of .* fits any type"):
        feed.run("json", max_bad_share=1.0)
    feed.land("a.json", [{**UNFIT, "value": 1}])
    feed.run("json", max_bad_share=0.5)
    feed.land("c.json", [{**UNFIT, "value": {"x": 1}}])
    with pytest.raises(SourceError, match=r"1 of 1 rows .*c\.json: line 1"):
        feed.run("json")


@pytest.mark.parametrize(
    ("text", "field"), [('"id": "a", "id": "b"', "id"), ('"v": [{"b": 1, "b": 2}]', r"v\.element\.b")]
)
def test_a_repeated_field_is_named(feed, text, field):
    feed.land("x.json", f"{{{text}}}\n")
    with pytest.raises(SourceError, match=rf"No row of .*x\.json, line 1: column {field} is there twice in the object"):
        feed.run("json", max_bad_share=1.0)


@pytest.mark.parametrize(
    "text", ['[{"id": "a", "ts": 1}, {"id": "b", "ts": 1}]\n', '[\n{"id": "a", "ts": 1},\n{"id": "b", "ts": 1}\n]\n']
)
def test_an_array_names_its_layout(feed, text):
    feed.land("x.json", text)
    for undeclared in ("keep", "refuse"):
        with pytest.raises(SourceError, match=r"layout: array"):
            feed.run("json", declared={"schema": KEYS, "undeclared": undeclared})


@pytest.mark.parametrize("text", ["{}null\n", "null\n{}"])
def test_a_null_in_place_of_an_object_is_quarantined(feed, text):
    """Arrow's JSON reader ends the process when the first value is null."""
    feed.land("x.json", text.format(json.dumps(ROW) + "\n"))
    assert feed.run("json", max_bad_share=0.5).rows_inserted == 1
    assert [reason.partition(": ")[2] for _, reason, _ in feed.quarantined] == ["not a JSON object"]


def test_an_object_on_several_lines_is_refused_by_name(feed):
    feed.land("x.json", json.dumps(ROW, indent=1))
    with pytest.raises(SourceError, match="write each object in a line of its own"):
        feed.run("json")
    feed.land("x.json", json.dumps(ROW) + '\n{"id":\n{}}\n')
    assert feed.run("json", max_bad_share=0.9).rows_quarantined == 2
