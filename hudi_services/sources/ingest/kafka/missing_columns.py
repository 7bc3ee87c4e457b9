"""Columns of the table that messages of a topic lack: null in their rows. Pure.

In JSON without a schema, a null may be a column that is not there. So its name is searched: in some messages of each number of
members, and in all of them once one lacks it.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.display import counted
from hoodie.model.changes import AFTER, OP
from hoodie.schema.nested import one_chunk
from hoodie.write.change_rows import UPSERTS
from hudi_services.sources.cdc.messages.contract import Decoded
from hudi_services.sources.cdc.messages.encodings import content_of

_QUOTE, _COLON = b'":'
_SEARCHED = 100  # messages of each number of members in which a name is searched first


def lacking(decoded: Decoded, messages: pa.Table, known: pa.Schema, *, names_nulls: bool) -> dict[str, np.ndarray]:
    """Return the numbers of the messages that lack each of the `known` columns. With `names_nulls` messages in JSON name every
    column, also one that is null."""
    changes = decoded.changes
    changes = changes.filter(pc.and_(pc.is_in(changes[OP], value_set=pa.array(UPSERTS)), pc.is_valid(changes[AFTER])))
    if not changes.num_rows:
        return {}
    numbers = changes["number"].to_numpy()
    image = changes[AFTER].combine_chunks()
    values = dict(zip((column.name for column in image.type.fields), image.flatten(), strict=True))
    search = _NameSearch(messages["value"]) if names_nulls else None
    result = {}
    for name in known.names:
        lacks = numbers if name not in values else numbers[:0]
        if name in values and name in decoded.absent:
            lacks = numbers[np.isin(numbers, decoded.absent[name])]
        if search is not None and name in values and values[name].null_count:
            nulls = numbers[values[name].is_null().to_numpy(zero_copy_only=False)]
            lacks = np.concatenate([lacks, search.without(name, np.setdiff1d(nulls, decoded.described))])
        if len(lacks):
            result[name] = np.unique(lacks)
    return result


def places_text(messages: pa.Table, numbers: np.ndarray) -> str:
    """Return how many messages these are, and where the first one is, in words."""
    partition, offset = (messages[name][int(numbers[0])].as_py() for name in ("partition", "offset"))
    return f"{counted(len(numbers), 'message')}, the first one with offset {offset} of partition {partition}"


class _NameSearch:
    """Searches names in messages that are JSON."""

    def __init__(self, values: pa.ChunkedArray) -> None:
        self._values = values
        self._members: np.ndarray | None = None

    def without(self, name: str, numbers: np.ndarray) -> np.ndarray:
        """Return those of the messages with these numbers that do not have a name."""
        if not len(numbers):
            return numbers
        if self._members is None:
            self._members = _names_of(one_chunk(self._values))
        of_messages = self._members[numbers]
        result = [np.zeros(0, numbers.dtype)]
        for members in np.flatnonzero(np.bincount(of_messages)):
            alike = numbers[of_messages == members]
            some = alike[np.unique(np.linspace(0, len(alike) - 1, _SEARCHED).astype(int))]
            if len(self._lacking(name, some)):
                result.append(self._lacking(name, alike))
        return np.concatenate(result)

    def _lacking(self, name: str, numbers: np.ndarray) -> np.ndarray:
        texts = self._values.take(pa.array(numbers))
        has = pc.invert(pc.starts_with(pc.binary_slice(texts, 0, 1), b"{"))
        for written in {json.dumps(name), json.dumps(name, ensure_ascii=False)}:
            has = pc.or_(has, pc.match_substring(texts, written.encode()))
        lacks: np.ndarray = numbers[~has.to_numpy()]
        return lacks


def _names_of(values: pa.Array) -> np.ndarray:
    """The number of names in each text of JSON, roughly."""
    offsets, content = content_of(values)
    names = np.flatnonzero((content[:-1] == _QUOTE) & (content[1:] == _COLON))
    return np.diff(np.searchsorted(names, offsets))
