"""Values that a connector did not get: it writes a marker in their place, which must never reach a row.

PostgreSQL leaves long values out of its log where an update did not change them. The value is then taken from the row before. A
change whose message does not have that row cannot be expressed, and is rejected.
"""

from __future__ import annotations

import base64

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.changes import Changes, Outcome

MARKER = "__debezium_unavailable_value"


def without_marker(changes: Changes, marker: str, outcome: Outcome) -> Changes:
    """Return changes in which no value is the `marker`. It is null in rows before."""
    names = [field.name for field in changes.after.type.fields]
    before = dict(zip((field.name for field in changes.before.type.fields), changes.before.flatten(), strict=True))
    marked_before = {name: marks for name, values in before.items() if (marks := _marks(values, marker)) is not None}
    for name, marks in marked_before.items():
        before[name] = pc.if_else(pa.array(marks), pa.scalar(None, before[name].type), before[name])
    after = dict(zip(names, changes.after.flatten(), strict=True))
    lost = np.zeros(len(changes.numbers), bool)
    touched = False
    for name, values in after.items():
        marks = _marks(values, marker)
        if marks is None:
            continue
        touched = True
        old = before.get(name)
        there = old.is_valid().to_numpy(zero_copy_only=False) if old is not None else np.zeros(len(marks), bool)
        outcome.reject(
            changes.numbers[marks & ~there],
            f"the connector did not get the column {name!r}, and the message has no row before that has it: "
            "ALTER TABLE ... REPLICA IDENTITY FULL at the source",
        )
        lost |= marks & ~there
        if old is not None and old.type == values.type:
            after[name] = pc.if_else(pa.array(marks), old, values)
    if not touched and not marked_before:
        return changes
    return Changes(changes.numbers, changes.ops, _struct(changes.before, before), _struct(changes.after, after)).filter(
        ~lost
    )


def _struct(like: pa.StructArray, columns: dict[str, pa.Array]) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(columns.values()), fields=list(like.type.fields), mask=like.is_null())


def _marks(values: pa.Array, marker: str) -> np.ndarray | None:
    """True for values that are the marker, None where no value is."""
    kind = values.type
    if pa.types.is_string(kind):
        encoded = base64.b64encode(marker.encode()).decode()  # bytes in a column whose type nothing declares
        marks = pc.or_(pc.equal(values, marker), pc.equal(values, encoded))
    elif pa.types.is_binary(kind):
        marks = pc.equal(values, marker.encode())
    elif pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
        single = pc.equal(pc.list_value_length(values), 1)
        first = pc.list_element(pc.if_else(single, values, pa.scalar([""], kind)), 0)
        marks = pc.and_(single, pc.equal(first, marker))
    elif pa.types.is_map(kind):
        texts = pa.ListArray.from_arrays(values.offsets, values.keys)
        marks = pa.array(_marks(texts, marker)) if _marks(texts, marker) is not None else None
    else:
        return None
    if marks is None or not pc.any(marks).as_py():
        return None
    result: np.ndarray = marks.fill_null(False).to_numpy(zero_copy_only=False)
    return result
