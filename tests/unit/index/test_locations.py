"""The places of incoming keys: file groups, and rows of base files."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hoodie.index.locations import tag
from hoodie.model.internal_columns import GROUP, POSITION
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY

PARTITIONS = ("p", "p", "q")  # by number of the group
STORED = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2), st.integers(-1, 9)), max_size=12)
INCOMING = st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from("pq")), max_size=6)


@given(stored=STORED, incoming=INCOMING)
def test_as_searched_one_by_one(stored, incoming):
    rows = pa.table(
        {
            RECORD_KEY: pa.array([key for key, _ in sorted(incoming)], pa.string()),
            PARTITION_PATH: pa.array([partition for _, partition in sorted(incoming)], pa.string()),
        }
    )
    keys = pa.table(
        {
            RECORD_KEY: pa.array([key for key, _, _ in stored], pa.string()),
            GROUP: pa.array([group for _, group, _ in stored], pa.int32()),
            POSITION: pa.array([position for _, _, position in stored], pa.int64()),
        }
    )
    expected, fresh = {}, []
    for number, (key, partition) in enumerate(sorted(incoming)):
        found = {}
        for stored_key, group, position in stored:
            if stored_key == key and PARTITIONS[group] == partition:
                found.setdefault(group, []).append(position)
        for group, positions in found.items():
            known = [position for position in positions if position >= 0]
            expected[number, group] = known[0] if len(known) == 1 else -1
        if not found:
            fresh.append(number)
    located = tag(rows, keys, PARTITIONS)
    pairs = list(zip(located.rows.tolist(), located.groups.tolist(), strict=True))
    assert dict(zip(pairs, located.positions.tolist(), strict=True)) == expected
    assert len(pairs) == len(expected)
    assert located.new.tolist() == fresh
    nobody_asked = tag(rows, keys.drop_columns([POSITION]), PARTITIONS)
    assert set(nobody_asked.positions.tolist()) <= {-1}
    assert nobody_asked.rows.tolist() == located.rows.tolist()
