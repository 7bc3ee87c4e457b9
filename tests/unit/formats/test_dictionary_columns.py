"""Text that stays a dictionary from one base file to the next."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie import COMPACTION, HoodieTable
from hoodie.formats.dictionary_columns import (
    coded,
    coded_columns,
    dictionary_columns,
    one_dictionary,
    small_dictionaries,
)
from hoodie.model.meta_columns import RECORD_KEY

OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.ordering.fields": "ts",
}
COLUMNS = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("city", pa.string()), ("note", pa.string())])


def rows(keys, city, ts, note="n"):
    cities = city if isinstance(city, list) else [city] * len(keys)
    return pa.table([[f"k{key}" for key in keys], [ts] * len(keys), cities, [note] * len(keys)], schema=COLUMNS)


def base_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"), key=lambda path: path.name.split("_")[-1])


@pytest.fixture
def table(tmp_path):
    table = HoodieTable.create(str(tmp_path), OPTIONS)
    table.write(rows(range(500), ["chennai", None] * 250, 1), "upsert")
    return table


def of_keys(table, column):
    found = table.read(columns=["id", column])
    return dict(zip(found["id"].to_pylist(), found[column].to_pylist(), strict=True))


def test_updates_and_inserts_bring_new_values_nulls_too(table):
    table.write(rows(range(490, 510), ["oslo", None, "chennai", "", "å"] * 4, 2), "upsert")
    found = of_keys(table, "city")
    expected = {f"k{key}": [None, "chennai"][(key + 1) % 2] for key in range(490)}
    expected |= {f"k{key}": ["oslo", None, "chennai", "", "å"][(key - 490) % 5] for key in range(490, 510)}
    assert found == expected


def test_an_older_row_changes_nothing(table):
    before = of_keys(table, "city")
    table.write(rows(range(3), "late", 0), "upsert")
    assert of_keys(table, "city") == before


def test_a_value_whose_rows_are_gone_is_not_in_the_next_file(table, tmp_path):
    table.write(rows([7], "secret-of-seven", 2), "upsert")
    assert any(b"secret-of-seven" in pages(path) for path in base_files(tmp_path))
    table.write(rows([7], "x", 3).select(["id", "ts"]), "delete")
    assert b"secret-of-seven" not in pages(base_files(tmp_path)[-1])
    assert len(of_keys(table, "city")) == 499


def pages(path: Path) -> bytes:
    """The file's dictionaries, decompressed."""
    found = pq.ParquetFile(path, read_dictionary=COLUMNS.names).read()
    chunks = [chunk for name in ("city", "note") for chunk in found[name].chunks]
    return b"|".join(value.as_buffer().to_pybytes() for chunk in chunks for value in chunk.dictionary)


def test_files_keep_their_dictionaries_from_version_to_version(table, tmp_path):
    table.write(rows(range(5), "oslo", 2), "upsert")
    group = pq.ParquetFile(base_files(tmp_path)[-1]).metadata.row_group(0)
    dictionary = {
        group.column(i).path_in_schema for i in range(group.num_columns) if group.column(i).has_dictionary_page
    }
    assert {"city", "note", "_hoodie_commit_time", "_hoodie_partition_path"} <= dictionary


def test_key_and_ordering_columns_are_text_with_few_values(tmp_path):
    options = {**OPTIONS, "hoodie.table.recordkey.fields": "city", "hoodie.table.ordering.fields": "note"}
    table = HoodieTable.create(str(tmp_path), options)
    table.write(rows(range(3), ["a", "b", "c"], 1, "10"), "upsert")
    table.write(rows(range(9), ["a", "b", "d"] * 3, 2, "2"), "upsert")  # as text 2 is newer than 10
    table.write(rows(range(1), ["c"], 3, "1"), "upsert")
    found = table.read(columns=["city", "ts"])
    assert sorted(zip(*found.to_pydict().values(), strict=True)) == [("a", 2), ("b", 2), ("c", 1), ("d", 2)]


@given(st.lists(st.lists(st.sampled_from([None, "", "a", "b", "ü", "long" * 9])), min_size=1, max_size=4), st.data())
def test_one_dictionary_holds_the_values_of_the_rows(pieces, data):
    kind = coded(pa.schema([("x", pa.string())]), ["x"])
    tables = [pa.table({"x": pa.array(piece, pa.string())}).cast(kind) for piece in pieces]
    joined = pa.concat_tables(tables)
    kept = joined.filter(
        pa.array(data.draw(st.lists(st.booleans(), min_size=len(joined), max_size=len(joined))), pa.bool_())
    )
    expected = kept["x"].to_pylist()
    result = one_dictionary(kept)["x"]
    assert result.to_pylist() == expected
    dictionaries = [chunk.dictionary.to_pylist() for chunk in result.chunks if len(chunk)]
    assert all(sorted(values) == sorted(set(expected) - {None}) for values in dictionaries)
    assert all(values == dictionaries[0] for values in dictionaries)


def test_only_small_dictionaries_of_text_stay_such(tmp_path):
    columns = {
        "few": ["a", "b"] * 5000,
        "many": [f"value {number}" for number in range(10000)],
        "number": [1, 2] * 5000,
        "other": ["a"] * 10000,
        "plain": ["p"] * 10000,
    }
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table(columns), path, use_dictionary=["few", "many", "number", "other"])
    file = pq.ParquetFile(path)
    assert small_dictionaries(file, ["few", "many", "number", "plain", "absent"]) == ["few"]
    assert small_dictionaries(file, []) == []
    assert coded_columns(pq.ParquetFile(path, read_dictionary=["few"]).schema_arrow) == ["few"]


@pytest.mark.parametrize("memory", [1 << 30, 1000])  # bytes for rows of logs: all, or only some at a time
def test_compaction_keeps_values_and_dictionaries(tmp_path, memory):
    table = HoodieTable.create(str(tmp_path), {**OPTIONS, "hoodie.table.type": "MERGE_ON_READ"})
    table.write(rows(range(500), ["chennai", None] * 250, 1), "upsert")
    table.write(rows(range(490, 500), ["oslo", None] * 5, 2), "upsert")
    table.write(rows(range(3), "x", 3).select(["id", "ts"]), "delete")
    before = of_keys(table, "city")
    table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
    table.run(COMPACTION, {"hoodie.memory.merge.max.size": memory})
    assert not any(file_slice.log_files for file_slice in table.file_slices())
    assert of_keys(table, "city") == before
    assert before["k490"] == "oslo"
    assert len(before) == 497
    group = pq.ParquetFile(base_files(tmp_path)[-1]).metadata.row_group(0)
    assert "city" in {
        group.column(i).path_in_schema for i in range(group.num_columns) if group.column(i).has_dictionary_page
    }


VALUES = 10_000


def texts(distinct: int) -> pa.Array:
    return pa.array([f"text {number}" for number in np.random.default_rng(1).integers(0, distinct, VALUES)])


@pytest.mark.parametrize(("distinct", "worth"), [(1, True), (100, True), (2_000, True), (6_000, False), (10**9, False)])
def test_few_distinct_values(distinct, worth):
    assert dictionary_columns(pa.table({"a": texts(distinct)})) == (["a"] if worth else [])


def test_values_that_follow_each_other():
    assert dictionary_columns(pa.table({"a": np.repeat(np.arange(VALUES // 1000), 1000)})) == ["a"]


def test_keys_and_booleans_have_none():
    flags = pa.array(np.zeros(VALUES, dtype=bool))
    assert dictionary_columns(pa.table({RECORD_KEY: texts(1), "flag": flags})) == []


def test_each_leaf_of_nested_columns_by_its_own_values():
    few, many = texts(3), pa.array(np.arange(VALUES))
    struct = pa.StructArray.from_arrays([few, many], ["few", "many"], mask=pa.array(np.arange(VALUES) % 2 == 0))
    lists = pa.ListArray.from_arrays(pa.array(np.arange(0, VALUES + 1, 2, dtype=np.int32)), struct)
    maps = pa.MapArray.from_arrays(pa.array(np.arange(0, VALUES + 1, 2, dtype=np.int32)), few, many)
    table = pa.table({"lists": lists, "maps": maps}).append_column("struct", struct[: VALUES // 2])
    chosen = dictionary_columns(table)
    assert chosen == ["lists.list.element.few", "maps.key_value.key", "struct.few"]
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, use_dictionary=chosen)
    group = pq.ParquetFile(sink.getvalue()).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    assert {column.path_in_schema for column in columns if column.has_dictionary_page} == set(chosen)


def test_no_rows():
    assert dictionary_columns(pa.table({"a": pa.array([], pa.string())})) == ["a"]
