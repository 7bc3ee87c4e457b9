"""The difference between two states of a file group, against a brute-force answer."""

from __future__ import annotations

from collections import Counter, defaultdict

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hoodie.merge.difference import difference

ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.integers(0, 2)), max_size=8)


def table(rows):
    return pa.table(
        {
            "key": pa.array([row[0] for row in rows], pa.string()),
            "value": pa.array([row[1] for row in rows], pa.int64()),
        }
    )


def expected(before, after):
    """The n-th row of a key is compared with its n-th row."""
    sides = []
    for rows in (before, after):
        count, named = Counter(), {}
        for key, value in rows:
            named[key, count[key]] = value
            count[key] += 1
        sides.append(named)
    old, new = sides
    found = defaultdict(list)
    for name in old.keys() | new.keys():
        if name not in new:
            found["d"].append((name[0], old[name], None))
        elif name not in old:
            found["i"].append((name[0], None, new[name]))
        elif old[name] != new[name]:
            found["u"].append((name[0], old[name], new[name]))
    return {op: Counter(rows) for op, rows in found.items()}


@given(before=ROWS, after=ROWS)
def test_against_every_pair(before, after):
    found = difference(table(before), table(after), "key")
    told = {
        "d": Counter((before[n][0], before[n][1], None) for n in found.deleted),
        "i": Counter((after[n][0], None, after[n][1]) for n in found.inserted),
        "u": Counter(
            (before[o][0], before[o][1], after[n][1])
            for o, n in zip(found.updated_before, found.updated_after, strict=True)
        ),
    }
    assert {op: rows for op, rows in told.items() if rows} == expected(before, after)
    assert found.inserted.tolist() == sorted(found.inserted)
    assert found.updated_after.tolist() == sorted(found.updated_after)


def test_keys_in_several_chunks_and_rows_past_one_comparison(monkeypatch):
    monkeypatch.setattr("hoodie.merge.difference._COMPARED", 2)
    before = pa.concat_tables([table([("a", 1), ("b", 1)]), table([("c", 1), ("d", 1), ("e", 1)])])
    after = pa.concat_tables([table([("a", 2)]), table([("b", 1), ("c", 2), ("d", 1), ("e", 2)])])
    found = difference(before, after, "key")
    assert found.updated_before.tolist() == [0, 2, 4]
    assert not len(found.deleted)
