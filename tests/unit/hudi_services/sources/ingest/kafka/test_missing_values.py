"""Values that a connector did not get are those of the row before: a law, against changes applied one after the other."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hoodie.model.internal_columns import DELETION
from hudi_services.sources.ingest.kafka.missing_values import completed

_KEYS = st.sampled_from("abc")
_CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), _KEYS, st.sampled_from([None, "full"])),
        st.tuples(st.just("move"), _KEYS, _KEYS, st.sampled_from([None, "full"])),
        st.tuples(st.just("delete"), _KEYS),
    ),
    max_size=12,
)
_STORED = st.dictionaries(_KEYS, st.sampled_from([None, "old-1", "old-2"]))


def _rows(changes):
    """The changes as rows with keys: a move deletes its old key."""
    rows = []
    for place, change in enumerate(changes):
        match change:
            case ("put", key, value):
                rows.append((key, place, False, value and f"{value}-{place}"))
            case ("move", old, new, value):
                if old != new:
                    rows.append((old, place, True, None))
                rows.append((new, place, False, value and f"{value}-{place}"))
            case ("delete", key):
                rows.append((key, place, True, None))
    names = ("key", "place", DELETION, "note")
    kinds = (pa.string(), pa.int64(), pa.bool_(), pa.string())
    return pa.table({
        name: pa.array([row[number] for row in rows], kind)
        for number, (name, kind) in enumerate(zip(names, kinds, strict=True))
    })  # fmt: skip


def _lacking(changes):
    return pa.array([p for p, change in enumerate(changes) if change[0] != "delete" and change[-1] is None], pa.int64())


def _one_by_one(changes, stored):
    """The rows after the changes, and the places of those that lack a value. A change that lacks one changes nothing."""
    rows, rejected = dict(stored), set()
    for place, change in enumerate(changes):
        if change[0] == "delete":
            rows[change[1]] = None
            continue
        old, new, value = change[1], change[-2], change[-1] and f"{change[-1]}-{place}"
        value = value or rows.get(old)
        if value is None:
            rejected.add(place)
            continue
        rows[old] = None
        rows[new] = value
    return rows, rejected


def _complete(changes, stored):
    rows = _rows(changes)

    def look_up(keys, names):
        assert names == ["note"]
        found = [key for key in keys["key"].to_pylist() if key in stored]
        return pa.table(
            {"key": pa.array(found, pa.string()), "note": pa.array([stored[key] for key in found], pa.string())}
        )

    result = completed(rows, {"note": _lacking(changes).to_numpy()}, ["key"], "place", look_up)
    kept = [number for number in range(rows.num_rows) if result.kept[number]]
    last = {rows["key"][number].as_py(): number for number in kept}
    filled = result.filled(rows, pa.array([*last.values()], pa.int64()).to_numpy())
    return dict(zip(last, filled["note"].to_pylist(), strict=True)), set(result.rejected)


@given(_CHANGES, _STORED)
def test_the_rows_are_those_of_changes_one_by_one(changes, stored):
    expected, unknown = _one_by_one(changes, stored)
    found, rejected = _complete(changes, stored)
    assert rejected <= unknown
    for key, value in found.items():
        assert value == expected.get(key), key
    for key in {*expected} - {*found}:
        assert expected[key] == stored.get(key)


def test_a_rejected_move_leaves_the_old_row():
    found, rejected = _complete([("move", "a", "b", None)], {})
    assert (found, rejected) == ({}, {0})


def test_a_change_that_a_whole_row_follows_is_not_rejected():
    found, rejected = _complete([("put", "a", None), ("put", "a", "full")], {})
    assert (found, rejected) == ({"a": "full-1"}, set())


def test_a_value_goes_along_with_its_key():
    found, rejected = _complete(
        [("move", "a", "b", None), ("put", "b", None), ("move", "b", "c", None), ("put", "a", "full")], {"a": "old-1"}
    )
    assert (found, rejected) == ({"a": "full-3", "b": None, "c": "old-1"}, set())


def test_what_follows_a_deletion_has_no_row_before():
    found, rejected = _complete([("delete", "a"), ("put", "a", None)], {"a": "old-1"})
    assert (found, rejected) == ({"a": None}, {1})


def test_many_changes_of_one_key_take_few_steps():
    changes = [("put", "a", None)] * 50_000
    assert _complete(changes, {"a": "old-1"}) == ({"a": "old-1"}, set())
    assert len(_complete(changes, {})[1]) == 50_000
