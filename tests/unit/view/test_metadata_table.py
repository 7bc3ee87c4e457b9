"""How entries of a metadata table merge. Tables of Hudi's: tests/golden/test_metadata_tables.py, test_metadata_verdicts.py."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hoodie.clock import SystemClock
from hoodie.storage import LocalStorage
from hoodie.view.metadata_table import ENTRIES, read_metadata_table, valid_entries

ENTRY = st.tuples(st.sampled_from("pq"), st.sampled_from("ab"), st.integers(-9, 9), st.booleans())


@given(st.lists(ENTRY, max_size=20))
def test_entries_merge_as_records_of_hudi_do(entries):
    """Its payload takes them one by one: a deletion takes away what is there, sizes only grow."""
    model = {}
    for partition, name, size, deleted in entries:
        if deleted:
            model.pop((partition, name), None)
        else:
            model[partition, name] = max(size, model.get((partition, name), size))
    told = pa.Table.from_pylist([dict(zip(ENTRIES.names, each, strict=True)) for each in entries], schema=ENTRIES)
    rows = valid_entries(told).to_pylist()
    assert len(rows) == len(model)
    assert {(row["partition"], row["name"]): row["size"] for row in rows} == model


def test_a_table_without_one(tmp_path):
    assert read_metadata_table(LocalStorage(str(tmp_path)), SystemClock(), ()) is None
