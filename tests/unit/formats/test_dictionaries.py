"""Which Parquet columns get a dictionary: those whose first values repeat."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie.formats.dictionaries import dictionary_columns
from hoodie.model.meta_columns import RECORD_KEY

ROWS = 10_000


def texts(distinct: int) -> pa.Array:
    return pa.array([f"text {number}" for number in np.random.default_rng(1).integers(0, distinct, ROWS)])


@pytest.mark.parametrize(("distinct", "worth"), [(1, True), (100, True), (2_000, True), (6_000, False), (10**9, False)])
def test_few_distinct_values(distinct, worth):
    assert dictionary_columns(pa.table({"a": texts(distinct)})) == (["a"] if worth else [])


def test_values_that_follow_each_other():
    assert dictionary_columns(pa.table({"a": np.repeat(np.arange(ROWS // 1000), 1000)})) == ["a"]


def test_keys_and_booleans_have_none():
    flags = pa.array(np.zeros(ROWS, dtype=bool))
    assert dictionary_columns(pa.table({RECORD_KEY: texts(1), "flag": flags})) == []


def test_each_leaf_of_nested_columns_by_its_own_values():
    few, many = texts(3), pa.array(np.arange(ROWS))
    struct = pa.StructArray.from_arrays([few, many], ["few", "many"], mask=pa.array(np.arange(ROWS) % 2 == 0))
    lists = pa.ListArray.from_arrays(pa.array(np.arange(0, ROWS + 1, 2, dtype=np.int32)), struct)
    maps = pa.MapArray.from_arrays(pa.array(np.arange(0, ROWS + 1, 2, dtype=np.int32)), few, many)
    table = pa.table({"lists": lists, "maps": maps}).append_column("struct", struct[: ROWS // 2])
    chosen = dictionary_columns(table)
    assert chosen == ["lists.list.element.few", "maps.key_value.key", "struct.few"]
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, use_dictionary=chosen)
    group = pq.ParquetFile(sink.getvalue()).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    assert {column.path_in_schema for column in columns if column.has_dictionary_page} == set(chosen)


def test_no_rows():
    assert dictionary_columns(pa.table({"a": pa.array([], pa.string())})) == ["a"]
