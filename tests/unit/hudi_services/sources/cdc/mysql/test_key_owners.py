"""The changes of a shared key that count, against a model that takes one change after the other."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_services.sources.cdc.mysql.key_owners import Holders, traces
from tests.support.examples import examples

IDENTITY = ["_hoodie_record_key"]
CHANGES = st.lists(st.tuples(st.sampled_from("iud"), st.sampled_from("abc"), st.sampled_from("xy")), max_size=12)


def model(changes, owners):
    """The number of the change that counts for each key, with whether it is a delete."""
    found = {}
    for key in {key for _, _, key in changes}:
        last, came = {}, {}
        for number, (op, table, own) in enumerate(changes):
            if own == key:
                last[table] = (number, op == "d")
                came[table] = -1 if op == "d" else number if op == "i" else came.get(table, -1)
        having = sorted((came[table], number, table) for table, (number, deleted) in last.items() if not deleted)
        owner = owners.get(key)
        if having and having[-1][0] >= 0:
            found[key] = last[having[-1][2]]
        elif owner is None:
            found |= {key: last[having[-1][2]]} if having else {}
        elif owner in last:
            found[key] = last[having[-1][2]] if last[owner][1] and having else last[owner]
    return set(found.values())


@settings(max_examples=examples(300), deadline=None)
@given(changes=CHANGES, owners=st.dictionaries(st.sampled_from("xy"), st.sampled_from("abc")))
def test_changes_count_where_the_row_belongs_to_their_table(changes, owners):
    keyed = pa.table(
        {
            "_hoodie_record_key": pa.array([key for _, _, key in changes], pa.string()),
            "_source_database": pa.array(["db"] * len(changes), pa.string()),
            "_source_table": pa.array([table for _, table, _ in changes], pa.string()),
            "@order.0": pa.array(range(len(changes)), pa.int64()),
            "@deletion": pa.array([op == "d" for op, _, _ in changes], pa.bool_()),
        }
    )
    logged = pa.table({"op": pa.array([op for op, _, _ in changes], pa.string()), "number": keyed["@order.0"]})
    stored = pa.table(
        {
            "_hoodie_record_key": pa.array(list(owners), pa.string()),
            "_source_database": pa.array(["db"] * len(owners), pa.string()),
            "_source_table": pa.array(list(owners.values()), pa.string()),
        }
    )
    holders = Holders.of(traces(logged, keyed, IDENTITY), IDENTITY)
    counting = holders.verdict(stored).counting(keyed)
    assert set(zip(*(counting[name].to_pylist() for name in ("@order.0", "@deletion")), strict=True)) == model(
        changes, owners
    )
    undecided = set(holders.undecided["_hoodie_record_key"].to_pylist())
    inserted = {key for op, _, key in changes if op == "i"}
    assert {key for _, _, key in changes} - inserted <= undecided
