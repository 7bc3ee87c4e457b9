"""A filter on partition columns neither lists nor opens other partitions, and never loses a row."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import CLEAN, HoodieTable
from hoodie.config.properties.table import TableProperties
from hoodie.engine import LocalEngine
from hoodie.keygen import folder_values
from hoodie.view import StorageFiles
from tests.support.clock import FakeClock
from tests.support.counting import CountingStorage
from tests.support.examples import examples
from tests.support.tables import SMALL_BLOOM, batch, create

part = pc.field("part")


def table_of(path, rows, fields, **options):
    given = {
        "hoodie.table.name": "t",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": fields,
        **options,
    }
    table = HoodieTable.create(str(path), given, clock=FakeClock(), engine=LocalEngine(1))
    table.write(rows, "bulk_insert", SMALL_BLOOM)
    return table


def counted(table):
    """The same table, on a storage that counts."""
    return HoodieTable(CountingStorage(table.base_path), LocalEngine(1), FakeClock())


def folders_of(paths):
    return sorted({path.rpartition("/")[0] for path in paths})


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.datasource.write.partitionpath.urlencode": "true"})
    table.write(batch([(f"k{i}", f"p{i % 6}", i, i) for i in range(60)]), "bulk_insert", SMALL_BLOOM)
    table.write(batch([("k-", None, 1, 1)]), "upsert", SMALL_BLOOM)
    return table


NULLS = "part=__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        (part == "p1", ["part=p1"]),
        (part.isin(["p1", "p3", "zz"]), ["part=p1", "part=p3"]),
        (part >= "p4", ["part=p4", "part=p5"]),
        ((part > "p1") & ~(part == "p4") & (part < "p5"), ["part=p2", "part=p3"]),
        ((part == "p1") | (part == "p2") & (pc.field("ts") > 10), ["part=p1", "part=p2"]),
        (part.is_null(), [NULLS]),
        (~part.is_null() & (part != "p0") & (part <= "p1"), [NULLS, "part=p1"]),  # empty texts pass, too
        (part == "nowhere", []),
        (pc.utf8_upper(part) == "P5", ["part=p5"]),
    ],
)
def test_only_the_partitions_of_the_filter_are_listed_and_opened(table, condition, read):
    seen = counted(table)
    rows = seen.read(filter=condition)
    listed, opened = seen.storage.data()
    assert [folder for folder in listed if folder] == sorted(read)
    assert folders_of(opened) == sorted(read)
    everything = table.read()
    assert rows.sort_by("id").equals(everything.filter(condition).sort_by("id"))
    plan = table.plan_read(filter=condition)
    assert plan.left_out == 7 - len(read)
    assert f"left out by the filter: {7 - len(read)}" in plan.explain()


def test_incremental_reads_and_the_past(table):
    first = table.timeline.commits[0].completion_time
    table.write(batch([("k1", "p1", 100, 100), ("k2", "p2", 100, 100)]), "upsert", SMALL_BLOOM)
    seen = counted(table)
    assert seen.read_incremental(first, filter=part == "p1")["id"].to_pylist() == ["k1"]
    listed, opened = seen.storage.data()
    assert listed == ["part=p1"]
    assert folders_of(opened) == ["part=p1"]
    seen = counted(table)
    assert seen.read(filter=part == "p2", as_of=first).num_rows == 10
    assert folders_of(seen.storage.data()[1]) == ["part=p2"]
    assert seen.storage.data()[0] == ["", "part=p2"]


def test_a_clean_elsewhere_does_not_matter_to_the_past_of_a_partition(table):
    first = table.timeline.commits[1].completion_time
    for value in range(3):
        table.write(batch([("k1", "p1", 200 + value, value)]), "upsert", SMALL_BLOOM)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1, "hoodie.cleaner.policy": "KEEP_LATEST_COMMITS"})
    with pytest.raises(Exception, match="cannot be read as of"):
        table.read(as_of=first)
    with pytest.raises(Exception, match="cannot be read as of"):
        table.read(filter=part == "p1", as_of=first)
    assert table.read(filter=part == "p2", as_of=first).num_rows == 10


def test_a_first_column_that_cannot_match_is_not_descended_into(tmp_path):
    rows = pa.table(
        {"id": [f"k{i}" for i in range(40)], "a": [f"a{i % 4}" for i in range(40)], "b": [i // 4 for i in range(40)]}
    )
    table = table_of(tmp_path / "t", rows, "a,b", **{"hoodie.datasource.write.partitionpath.urlencode": "true"})
    seen = counted(table)
    assert seen.read(filter=(pc.field("a") == "a1") & (pc.field("b") >= 8)).num_rows == 2
    assert seen.storage.data()[0] == ["", "a1", "a1/8", "a1/9"]
    seen = counted(table)
    assert seen.read(filter=pc.field("b") == 3).num_rows == 4
    assert seen.storage.data()[0] == ["", *(folder for i in range(4) for folder in (f"a{i}", f"a{i}/3"))]


def test_texts_that_are_not_encoded_may_have_folders_below(tmp_path):
    """A folder `a` of values without encoding may hold those of `a/b`: excluding `a` lists it, and opens nothing in it."""
    rows = pa.table({"id": ["1", "2"], "part": ["a", "b"]})
    table = table_of(tmp_path / "t", rows, "part")
    seen = counted(table)
    assert seen.read(filter=part != "a")["id"].to_pylist() == ["2"]
    assert seen.storage.data()[0] == ["", "a", "b"]
    assert folders_of(seen.storage.data()[1]) == ["b"]


def test_days_in_three_folders(tmp_path):
    days = [date(2025, 12, 30) + timedelta(days=number) for number in range(40)]
    for kind in (pa.date32(), pa.string()):
        rows = pa.table({"id": [str(day) for day in days], "part": pa.array(days, pa.date32()).cast(kind)})
        options = {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}
        table = table_of(tmp_path / str(kind), rows, "part", **options)
        low, high = (pa.scalar(day).cast(kind) for day in (date(2026, 1, 30), date(2026, 2, 2)))
        seen = counted(table)
        assert seen.read(filter=(part > low) & (part < high)).num_rows == 2
        assert seen.storage.data()[0] == ["", "2026", "2026/01", "2026/01/31", "2026/02", "2026/02/01"]
        assert folders_of(seen.storage.data()[1]) == ["2026/01/31", "2026/02/01"]


TIMES = [datetime(2026, 3, 28, 20, tzinfo=UTC) + timedelta(hours=number) for number in range(0, 60, 3)]


@pytest.mark.parametrize(
    ("kind", "type_of_numbers", "unit"),
    [
        (pa.int64(), "UNIX_TIMESTAMP", 1_000_000),
        (pa.int64(), "EPOCHMILLISECONDS", 1_000),
        (pa.timestamp("us", "UTC"), "EPOCHMICROSECONDS", 1),
        (pa.timestamp("ms", "UTC"), "EPOCHMICROSECONDS", 1),
    ],
)
@pytest.mark.parametrize("pattern", ["yyyy/MM/dd", "yyyyMMdd", "yyyy-MM-dd hh", "'day='yyyy-MM-dd"])
def test_folders_of_times(tmp_path, kind, type_of_numbers, unit, pattern):
    moments = pa.array(TIMES, pa.timestamp("us", "UTC"))
    values = moments.cast(pa.int64()) if pa.types.is_integer(kind) else moments.cast(kind)
    values = pc.divide(values, unit) if pa.types.is_integer(kind) else values
    rows = pa.table({"id": [str(time) for time in TIMES], "part": values})
    options = {
        "hoodie.table.keygenerator.type": "TIMESTAMP",
        "hoodie.keygen.timebased.timestamp.type": type_of_numbers,
        "hoodie.keygen.timebased.output.dateformat": pattern,
        "hoodie.keygen.timebased.timezone": "Europe/Berlin",
    }
    table = table_of(tmp_path / "t", rows, "part", **options)
    middle = values[12]
    for condition in (part == middle, part > middle, part <= middle, part.isin([values[3], middle]), part.is_null()):
        seen = counted(table)
        found = seen.read(filter=condition)
        assert found.sort_by("id").equals(rows.filter(condition).sort_by("id").cast(found.schema))
        assert len(seen.storage.data()[1]) < len(StorageFiles(table.storage).partitions())


def test_texts_of_times_are_not_ordered_by_time(tmp_path):
    """Nothing is left out by a column whose texts may be written in several ways."""
    rows = pa.table({"id": ["1", "2"], "part": ["2026-1-2", "2026-01-03"]})
    options = {
        "hoodie.table.keygenerator.type": "TIMESTAMP",
        "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
        "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    }
    table = table_of(tmp_path / "t", rows, "part", **options)
    assert table.read(filter=part == "2026-1-2").num_rows == 1
    assert table.read(filter=part > "2026-1").num_rows == 1


def test_custom_tables(tmp_path):
    rows = pa.table(
        {
            "id": [str(time) for time in TIMES],
            "city": ["x", "y"] * 10,
            "at": pa.array(TIMES, pa.timestamp("us", "UTC")).cast(pa.int64()),
        }
    )
    options = {
        "hoodie.table.keygenerator.type": "CUSTOM",
        "hoodie.keygen.timebased.timestamp.type": "EPOCHMICROSECONDS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
        "hoodie.keygen.timebased.output.timezone": "UTC",
    }
    table = table_of(tmp_path / "t", rows, "city:simple,at:timestamp", **options)
    seen = counted(table)
    at = rows["at"][8].as_py()
    assert seen.read(filter=(pc.field("city") == "x") & (pc.field("at") == at)).num_rows == 1
    assert folders_of(seen.storage.data()[1]) == ["x/2026/03/29"]
    assert [folder for folder in seen.storage.data()[0] if folder.startswith("y")] == []
    for options in ({"hoodie.table.keygenerator.type": "CUSTOM"}, {"hoodie.table.keygenerator.class": "com.acme.Keys"}):
        properties = TableProperties({"hoodie.table.name": "t", "hoodie.table.partition.fields": "city,at", **options})
        assert folder_values(properties, rows.schema) is None


def test_columns_inside_structs_and_virtual_keys(tmp_path):
    rows = pa.table({"id": ["1", "2", "3"], "place": [{"city": "x"}, {"city": "y"}, None]})
    table = table_of(tmp_path / "t", rows, "place.city")
    seen = counted(table)
    assert seen.read(filter=pc.field("place", "city") == "x")["id"].to_pylist() == ["1"]
    assert "y" not in folders_of(seen.storage.data()[1])
    rows = pa.table({"id": ["1", "2"], "part": ["x", "y"]})
    table = table_of(tmp_path / "v", rows, "part", **{"hoodie.populate.meta.fields": "false"})
    seen = counted(table)
    assert seen.read(filter=part == "x")["id"].to_pylist() == ["1"]
    assert folders_of(seen.storage.data()[1]) == ["x"]


def test_zeros_have_two_signs(tmp_path):
    """Statistics of row groups hide the sign, and `isin` asks for it: a row must not be lost by that."""
    rows = pa.table({"id": ["1", "2"], "part": ["a", "b"], "value": [0.0, -0.0]})
    table = table_of(tmp_path / "t", rows, "part")
    assert table.read(filter=~pc.field("value").isin([-0.0]))["id"].to_pylist() == ["1"]
    assert table.read(filter=pc.field("value").isin([-0.0]))["id"].to_pylist() == ["2"]
    assert table.read(filter=pc.field("value") == 0.0).num_rows == 2


TYPES = {
    pa.string(): st.text(alphabet="ab/-%= é.0", max_size=3).filter(
        lambda text: text.strip("/.") == text and "//" not in text
    ),
    pa.int32(): st.integers(-3, 3) | st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(date(2025, 12, 28), date(2026, 1, 3)) | st.dates(date(1, 1, 1), date(9999, 12, 31)),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.25, 0.1, float("nan"), float("inf"), 1e7]),
    pa.float32(): st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.25, float("nan"), float("-inf")]),
    pa.decimal128(6, 2): st.decimals(-10, 10, places=2),
}


@st.composite
def tables(draw):
    """Columns with types, rows of them, how folders are named, and a filter."""
    kinds = draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=2))
    names = [f"c{number}" for number in range(len(kinds))]
    encoded = draw(st.booleans())
    columns = {}
    size = draw(st.integers(1, 12))
    for name, kind in zip(names, kinds, strict=True):
        values = st.none() | TYPES[kind]
        if pa.types.is_string(kind) and not encoded:
            values = values.filter(lambda text: text is None or "/" not in text)
        columns[name] = pa.array(draw(st.lists(values, min_size=size, max_size=size)), kind)
    rows = pa.table({"id": [str(number) for number in range(size)], "value": list(range(size)), **columns})
    options = {
        "hoodie.datasource.write.hive_style_partitioning": str(draw(st.booleans())).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": str(encoded).lower(),
    }
    return rows, names, options, draw(conditions(rows.schema, names))


def conditions(schema, names):
    def leaf(name):
        kind, field = schema.field(name).type, pc.field(name)
        values = (TYPES[kind] if name != "value" else st.integers(0, 12)).map(lambda value: pa.scalar(value, kind))
        return st.one_of(
            values.map(lambda value: field == value),
            values.map(lambda value: field != value),
            values.map(lambda value: field < value),
            values.map(lambda value: field >= value),
            st.lists(values, max_size=3).map(lambda some: field.isin(pa.array([v.as_py() for v in some], kind))),
            st.lists(values, max_size=3).map(
                lambda some: field.isin(pa.array([None, *[v.as_py() for v in some]], kind))
            ),
            st.just(field.is_null()),
            st.just(field.is_valid()),
            st.tuples(values, values).map(lambda two: pc.if_else(field > two[0], field < two[1], field == two[0])),
            values.map(lambda value: pc.coalesce(field, value) == value),
            *([st.just(field), st.just(~field)] if pa.types.is_boolean(kind) else []),
        )

    return st.recursive(
        st.one_of(*map(leaf, [*names, "value"])),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda two: two[0] & two[1]),
            st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
            inner.map(lambda one: ~one),
        ),
        max_leaves=4,
    )


@settings(max_examples=examples(60), deadline=None)
@given(tables())
def test_rows_are_those_of_reading_all_and_filtering(case):
    rows, names, options, condition = case
    folder = tempfile.mkdtemp()
    try:
        table = table_of(f"{folder}/t", rows, ",".join(names), **options)
        everything = table.read()
        found = table.read(filter=condition)
        expected = everything.filter(condition)
        assert sorted(found["id"].to_pylist()) == sorted(expected["id"].to_pylist())
        plan = table.plan_read(filter=condition)
        opposite = table.plan_read(columns=["id", "_hoodie_partition_path"], filter=~pc.coalesce(condition, False))
        assert plan.settled().isdisjoint(each.partition for each in opposite.slices)
    finally:
        shutil.rmtree(folder)


def test_upserts_and_cleans_list_only_what_they_touch(table):
    seen = counted(table)
    seen.write(batch([("k1", "p1", 100, 100)]), "upsert", SMALL_BLOOM)
    listed, opened = seen.storage.data()
    assert [folder for folder in listed if folder] == ["part=p1"]
    assert folders_of(opened) == ["part=p1"]
    options = {"hoodie.clean.commits.retained": 1}
    table.run(CLEAN, options)
    table.write(batch([("k2", "p2", 100, 100)]), "upsert", SMALL_BLOOM)
    table.write(batch([("k2", "p2", 101, 100)]), "upsert", SMALL_BLOOM)
    seen = counted(table)
    assert seen.run(CLEAN, options).results
    assert set(seen.storage.data()[0]) <= {"part=p1", "part=p2"}
