"""Payloads of Debezium in two parts: the rows, and the tail from the source on, which differs in its digits alone.

Each text is `HEAD,"source":{...}, ...}}`. If the head, closed by a brace, is JSON, and the tail after an opening brace is, then
both are JSON together. So Arrow reads only heads, which are half as long, and Python reads one tail of each kind. A text for
which this is not certain is left to the reader of whole texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.encodings import content_of, pieces
from hudi_services.sources.cdc.messages.json_objects import JsonObjects, is_deep
from hudi_services.sources.cdc.messages.json_values import FaultError, parsed

_MARK = b',"source":{'
_KINDS = 16  # kinds of tails that are looked for: by length, operation and texts
_BEFORE_MARK = np.frombuffer(b"}l", np.uint8)
"""Bytes before the mark: the end of a row, or of null."""
_NONE = -1
_ZERO, _NINE = ord("0"), ord("9")


@dataclass(frozen=True)
class Tails:
    """The tails of texts. `kinds` has the number of each text's tail, -1 for a text that has to be read as a whole.

    `payloads` are the members `op` and `source` of each kind, `sizes` its bytes.
    """

    kinds: np.ndarray
    payloads: list[dict[str, Any]]
    sizes: list[int]

    def at(self, rows: np.ndarray) -> Tails:
        """Return those of some texts."""
        return Tails(self.kinds[rows], self.payloads, self.sizes)

    @property
    def certain(self) -> np.ndarray:
        """True for texts whose tail is known."""
        flags: np.ndarray = self.kinds != _NONE
        return flags


def tails_of(texts: pa.Array) -> Tails:
    """Return the tails of texts as `JsonObjects.read` takes them."""
    offsets, content = content_of(texts)
    result = Tails(np.full(len(texts), _NONE), [], [])
    remaining = np.arange(len(texts))
    for _ in range(_KINDS):
        if not len(remaining):
            break
        first = int(remaining[0])
        place = content[offsets[first] : offsets[first + 1]].tobytes().rfind(_MARK)
        size = int(offsets[first + 1] - offsets[first]) - place
        marked = _marked(content, offsets, remaining, size) if place > 0 else np.zeros(len(remaining), bool)
        if marked[0]:
            rows = remaining[marked]
            ends = offsets[rows + 1]
            matrix = np.frombuffer(pieces(content, ends - size, ends).buffers()[2], np.uint8, len(rows) * size)
            same, varying = _same_kind(matrix.reshape(-1, size))
            payload = _payload(matrix[:size].tobytes(), varying)
            if payload is not None:
                result.kinds[rows[same]] = len(result.payloads)
                result.payloads.append(payload)
                result.sizes.append(size)
                marked[marked] = same
            else:
                marked[1:] = False
        else:
            marked[0] = True
        remaining = remaining[~marked]
    return result


def _marked(content: np.ndarray, offsets: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
    """True for rows that have the mark `size` bytes before their end, and a value before it."""
    begins = offsets[rows + 1] - size
    inside = begins > offsets[rows]
    at = np.where(inside, begins, 1)
    result: np.ndarray = inside & np.isin(content[at - 1], _BEFORE_MARK)
    for place, byte in enumerate(_MARK):
        result &= content[at + place] == byte
    return result


def _same_kind(tails: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """True for tails that differ from the first one in digits alone, and the columns of these digits."""
    first = tails[0]
    columns = np.flatnonzero((tails != first).any(axis=0))
    expected, values = first[columns], tails[:, columns]
    is_digit = (first >= _ZERO) & (first <= _NINE)
    begins = is_digit & ~np.concatenate([[False], is_digit[:-1]]) & np.concatenate([is_digit[1:], [False]])
    nonzero = (begins & (first != _ZERO))[columns]  # a number of several digits does not begin with a zero
    digits = (values >= _ZERO + nonzero.astype(np.uint8)) & (values <= _NINE)
    same = ((values == expected) | (digits & is_digit[columns])).all(axis=1)
    return same, columns[is_digit[columns]]


def _payload(tail: bytes, varying: np.ndarray) -> dict[str, Any] | None:
    """The operation and source of a tail. None where it is not certain that all tails with other digits have the same."""
    other = np.frombuffer(tail, np.uint8).copy()
    other[varying] = np.where(other[varying] == _ZERO + 1, _ZERO + 2, _ZERO + 1)
    try:
        one, two = (parsed(b'{"m":{' + text[1:]) for text in (tail, other.tobytes()))
    except FaultError:
        return None
    payload = one.get("m")
    if b"\\u" in tail.lower() or is_deep(tail) or [*one] != ["m"] or not isinstance(payload, dict):
        return None
    if {"before", "after"} & set(payload) or _kept(payload) != _kept(two["m"]) or [*_names(one)] != [*_names(two)]:
        return None
    kept = _kept(payload)
    texts = [kept["op"], *kept["source"].values()]
    return kept if type(kept["op"]) is str and all(type(text) in (str, type(None)) for text in texts) else None


def _kept(payload: dict[str, Any]) -> dict[str, Any]:
    source = payload["source"]
    return {"op": payload.get("op"), "source": {name: source.get(name) for name in ("db", "schema", "table")}}


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inside in value.items():
            yield name
            yield from _names(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _names(inside)


def read_heads(
    kind: pa.StructType, texts: pa.Array, places: np.ndarray, tails: Tails
) -> tuple[list[tuple[np.ndarray, pa.StructArray]], np.ndarray]:
    """Return payloads of a type with the numbers of their texts, and true for the texts that are not among them."""
    rows = np.flatnonzero(tails.certain)
    left = np.ones(len(texts), bool)
    if not len(rows):
        return [], left
    offsets, content = content_of(texts)
    begins, ends = offsets[rows], offsets[rows + 1] - np.array(tails.sizes)[tails.kinds[rows]]
    heads = pieces(content, begins, ends).cast(pa.binary())
    heads = pc.binary_join_element_wise(heads, b"}}", b"")
    images = pa.struct([kind.field(name) for name in ("before", "after")])
    rest = [part for part in kind if part.name not in ("before", "after")]
    constant = pa.array(tails.payloads, pa.struct(rest))
    result = []
    for some, structs in JsonObjects(images, {}).read_certain(heads, rows):
        parts = dict(zip(("before", "after"), structs.flatten(), strict=True))
        taken = constant.take(pa.array(tails.kinds[some]))
        parts |= dict(zip((part.name for part in rest), taken.flatten(), strict=True))
        result.append(
            (places[some], pa.StructArray.from_arrays([parts[part.name] for part in kind], fields=list(kind)))
        )
        left[some] = False
    return result, left
