"""Ordering values compare as in Hudi's Java (format notes, section 7.3), wherever rows of one key meet."""

from __future__ import annotations

import functools
import itertools
import math
import struct
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie import COMPACTION, LOG_COMPACTION
from hoodie.merge import BaseMerger, PartialUpdate, incoming_wins, latest_per_key, newest_per_key
from hoodie.merge.ordering import comparable
from hoodie.merge.partial import folded_per_key
from hoodie.model.internal_columns import DELETE, RESET, SEQUENCE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from tests.support.matrix import diagonal
from tests.support.tables import create

NAN = math.nan
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
# type -> values from the lowest to the greatest; text by code points, which is the order of UTF-8 and not of UTF-16
ASCENDING = [
    (pa.float64(), [None, -math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.0, math.inf, NAN]),
    (pa.float32(), [None, -math.inf, -1.5, -0.0, 0.0, 1.0, math.inf, NAN]),
    (pa.string(), [None, "", "a", "ab", "\u00e9", "\ud7ff", "\uff5e", "\U0001f600"]),
    (pa.binary(), [None, b"", b"\x80", b"\xff", b"\x00", b"\x00\x80", b"\x00\x00", b"a", b"\x7f"]),
    (pa.decimal128(20, 2), [None, Decimal("-10.00"), Decimal("-1.50"), Decimal("0.00"), Decimal("9.99"), Decimal(10)]),
    (pa.date32(), [None, date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(9999, 12, 31)]),
    (pa.timestamp("us"), [None, datetime(1969, 1, 1), datetime(1970, 1, 1), datetime(2026, 1, 1)]),
    (pa.bool_(), [None, False, True]),
    (pa.int64(), [None, -(2**63), -1, 0, 2**63 - 1]),
]
PAIRS = [(kind, low, high) for kind, values in ASCENDING for low, high in itertools.pairwise(values)]


def rows(kind, values, **more):
    count = len(values)
    return pa.table(
        {
            RECORD_KEY: ["k"] * count,
            PARTITION_PATH: [""] * count,
            "o": pa.array(values, kind),
            SEQUENCE: pa.array(range(count), pa.int64()),
            DELETE: pa.array([False] * count),
            RESET: pa.array([False] * count),
        }
    )


@pytest.mark.parametrize(
    ("new", "old", "wins"),
    [((2, 0), (1, 9), True), ((1, 9), (2, 0), False), ((1, 0), (1, 9), False), ((1, 9), (1, 9), True)],
)
def test_a_later_field_decides_between_equals_only(new, old, wins):
    tables = (pa.table({"first": [first], "second": [second]}) for first, second in (new, old))
    assert incoming_wins(*tables, ("first", "second")).to_pylist() == [wins]


def standing(table):
    """Places of the rows that remain."""
    return table[SEQUENCE].to_pylist()


@pytest.mark.parametrize(("kind", "low", "high"), PAIRS)
def test_the_greater_value_stands_wherever_two_rows_meet(kind, low, high):
    for values, best in (([low, high], 1), ([high, low], 0), ([high, high], 1)):
        both = rows(kind, values)
        assert standing(latest_per_key(both, ["o"])) == [best], "in a batch"
        assert standing(newest_per_key(both, ["o"])) == [best], "in logs"
        assert standing(newest_per_key(both, ["o"], PartialUpdate())) == [best], "in logs that fill each other"
        assert standing(folded_per_key(both, ["o"], PartialUpdate())) == [best]
        stored, incoming = both.slice(0, 1), both.slice(1, 1)
        assert incoming_wins(incoming, stored, ["o"]).to_pylist() == [best == 1]
        columns = [RECORD_KEY, PARTITION_PATH, "o", SEQUENCE]
        merged = BaseMerger(incoming, columns, ["o"]).merge(stored.select(columns))
        assert standing(merged.rows) == [best], "against a base file"


def java_double_compare(left, right):
    if left < right:
        return -1
    if left > right:
        return 1
    one, other = (
        struct.unpack(">q", struct.pack(">d", math.nan if math.isnan(each) else each))[0] for each in (left, right)
    )
    return (one > other) - (one < other)


def java_signed_bytes(left, right):
    one, other = (np.frombuffer(each, np.int8).tolist() for each in (left, right))
    return (one > other) - (one < other)


@given(st.lists(st.none() | st.floats(width=32) | st.floats() | st.just(OTHER_NAN), min_size=2, max_size=9))
def test_floats_sort_as_in_java(values):
    check(values, pa.float64(), java_double_compare)


@given(st.lists(st.none() | st.binary(max_size=3), min_size=2, max_size=9))
def test_bytes_sort_as_in_java(values):
    check(values, pa.binary(), java_signed_bytes)


def check(values, kind, compare):
    column = pa.chunked_array([pa.array(["x", *values, "y"][1:-1], kind), pa.array(values, kind).slice(1)])
    found = pa.chunked_array([comparable(column)]) if isinstance(comparable(column), pa.Array) else comparable(column)
    known = [value for value in column.to_pylist() if value is not None]
    assert [value is None for value in found.to_pylist()] == [value is None for value in column.to_pylist()]
    ranks = [value for value in found.to_pylist() if value is not None]
    for one, rank in zip(known, ranks, strict=True):
        for other, beside in zip(known, ranks, strict=True):
            assert functools.cmp_to_key(compare)(one).__lt__(functools.cmp_to_key(compare)(other)) == (rank < beside)


@pytest.mark.parametrize(
    ("kind", "values", "best"),
    diagonal(["COPY_ON_WRITE", "MERGE_ON_READ"], [([NAN, 1.0], NAN), ([1.0, NAN], NAN), ([0.0, -0.0], 0.0)]),
)
def test_one_batch_and_two_writes_leave_the_same_row(tmp_path, kind, values, best):
    def table(name):
        return create(tmp_path / name, **{"hoodie.table.type": kind, "hoodie.table.partition.fields": ""})

    batch = pa.table({"id": ["a", "a"], "ts": values, "value": [1, 2]})
    one, two, spilled = table("one"), table("two"), table("spilled")
    one.write(batch)
    for each in (two, spilled):
        for place in range(2):
            each.write(batch.slice(place, 1))
    want = [str(best)]
    read = {"hoodie.memory.merge.max.size": "1"}
    assert [str(value) for value in one.read()["ts"].to_pylist()] == want
    assert [str(value) for value in two.read()["ts"].to_pylist()] == want
    if kind == "MERGE_ON_READ":
        assert [str(value) for value in spilled.read(options=read)["ts"].to_pylist()] == want
        two.write(batch.slice(0, 1))
        two.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
        two.run(LOG_COMPACTION)
        assert [str(value) for value in two.read()["ts"].to_pylist()] == want
        two.schedule(COMPACTION, force=True)
        two.run(COMPACTION)
        assert [str(value) for value in two.read()["ts"].to_pylist()] == want
