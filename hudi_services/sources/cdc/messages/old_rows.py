"""Rows before updates, of formats whose messages have the row after and only the old values of columns that changed.

An old value that is null is not the same as a column that did not change. Arrow's readers make both null, so messages that may
have a null among their old values are looked at one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.json_values import FaultError, parsed

_NULLS = r'(?s)"old"\s*:.*:\s*null'
_TEXT = r'"(?:[^"\\]|\\.)*"'
_ROW = rf"\{{(?:\s*{_TEXT}\s*:\s*(?:{_TEXT}|[-+.0-9eE]+|true|false)\s*,?)*\s*\}}"
_WITHOUT = rf'"old"\s*:\s*(?:null|{_ROW}|\[(?:\s*(?:null|{_ROW})\s*,?)*\s*\])'
"""Old values that are no objects and not null."""


def null_members(texts: pa.Array, places: np.ndarray) -> dict[int, list[frozenset[str]]]:
    """Return the columns whose old value is null, by the places of updates: for each row of the message a set of names."""
    maybe = pc.match_substring_regex(texts, _NULLS).to_numpy(zero_copy_only=False)
    texts, places, maybe = texts.filter(pa.array(maybe)), places[maybe], maybe[maybe]
    once = pc.equal(pc.count_substring(texts, '"old"'), 1)  # a document in a column may have a member of this name
    maybe &= ~pc.and_(once, pc.match_substring_regex(texts, _WITHOUT)).to_numpy(zero_copy_only=False)
    result = {}
    for place, text in zip(places[maybe], texts.filter(pa.array(maybe)).to_pylist(), strict=True):
        try:
            old = parsed(b'{"m":' + text)["m"].get("old")
        except FaultError:
            continue  # its reader rejects it
        result[int(place)] = [_nulls(row) for row in (old if isinstance(old, list) else [old])]
    return result


def _nulls(row: Any) -> frozenset[str]:
    return frozenset(name for name, value in row.items() if value is None) if isinstance(row, dict) else frozenset()


def rows_before(
    after: pa.StructArray, old: pa.StructArray, nulls: Iterable[tuple[int, frozenset[str]]]
) -> pa.StructArray:
    """Return the rows `after` with the `old` values in place of theirs. `nulls` are rows, and their columns that were null."""
    values = dict(zip((part.name for part in old.type.fields), old.flatten(), strict=True))
    emptied: dict[str, list[int]] = defaultdict(list)
    for row, names in nulls:
        for name in names:
            emptied[name].append(row)
    columns = []
    for part, column in zip(after.type.fields, after.flatten(), strict=True):
        joined = pc.coalesce(values[part.name], column)
        if part.name in emptied:
            mask = np.zeros(len(after), bool)
            mask[emptied[part.name]] = True
            joined = pc.if_else(pa.array(mask), pa.scalar(None, part.type), joined)
        columns.append(joined)
    return pa.StructArray.from_arrays(columns, fields=list(after.type.fields), mask=after.is_null())
