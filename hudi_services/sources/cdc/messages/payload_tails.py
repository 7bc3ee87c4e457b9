"""Tails of Debezium's payloads, from the source on: those of one kind differ in digits of their values alone.

Each text is `HEAD,"source":{...}, ...}}`. If the head, closed by a brace, is JSON, and the tail after an opening brace is, then
both are JSON together. So Arrow reads only heads, which are half as long, and Python reads one tail of each kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.debezium_changes import PLACE, of_table
from hudi_services.sources.cdc.messages.encodings import content_of, pieces
from hudi_services.sources.cdc.messages.json_objects import JsonObjects, is_deep
from hudi_services.sources.cdc.messages.json_values import FaultError, parsed

_MARK = b',"source":{'
_OP = b'"op":"'
_KINDS = 32  # kinds of tails that are looked for: by length, operation and texts
_COPIES = 4  # times that a text is compared with tails at most, in the mean
_ROWS = 1024  # compared at once, which the processor's cache holds
_BEFORE_MARK = (b"}", b"l")  # the end of a row, or of null
_NONE = -1
_PLACE = tuple(part.name for part in PLACE)
_PAYLOAD = pa.struct([("op", pa.string()), ("source", PLACE)])
_FIXED = tuple(name.encode() for name in ("op", *_PLACE))
_ZERO = ord("0")
_TOKENS = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[1-9][0-9]+')


@dataclass(frozen=True)
class Kind:
    """Tails whose bytes are at least `lowest`, and at most `span` above it. They begin with the byte before the comma.

    `payload` is the operation and source of all of them.
    """

    lowest: np.ndarray
    span: np.ndarray
    payload: dict[str, Any]

    @property
    def size(self) -> int:
        """The bytes of such a tail."""
        return len(self.lowest)

    @property
    def probes(self) -> tuple[int, int]:
        """The places of two bytes that tails of other sizes, or with another operation, seldom have."""
        return 2, self.lowest.tobytes().rfind(_OP) + len(_OP)

    def of(self, content: np.ndarray, begins: np.ndarray, without: int) -> np.ndarray:
        """Return true for the places at which such a tail begins, `without` its last bytes."""
        size = self.size - without
        lowest, span = self.lowest[:size], self.span[:size]
        windows = np.lib.stride_tricks.sliding_window_view(content, size)
        result = np.zeros(len(begins), bool)
        for at in range(0, len(begins), _ROWS):
            tails = windows[begins[at : at + _ROWS]]
            tails -= lowest  # a byte below it wraps around, so that it is far above it
            inside = tails <= span
            result[at : at + _ROWS] = True if inside.all() else inside.all(axis=1)  # for each row takes twice as long
        return result


@dataclass(frozen=True)
class Tails:
    """The tails of texts. `numbers` has the place of each text's kind in `kinds`, -1 for a text to read as a whole.

    A text is a value from `begin` on, with `end` behind it.
    """

    numbers: np.ndarray
    kinds: list[Kind]
    begin: int = 0
    end: bytes = b""

    def at(self, rows: np.ndarray) -> Tails:
        """Return those of some texts."""
        return replace(self, numbers=self.numbers[rows])

    def of_table(self, table: str) -> Tails:
        """Return those of the table, as db.table or schema.table. Texts of others have to be read as a whole."""
        of_kind = np.append(of_table(self.payloads, table), False)  # the last one is that of _NONE
        return replace(self, numbers=np.where(of_kind[self.numbers], self.numbers, _NONE))

    @property
    def certain(self) -> np.ndarray:
        """True for texts whose tail is known."""
        flags: np.ndarray = self.numbers != _NONE
        return flags

    @property
    def sizes(self) -> np.ndarray:
        """The bytes of a tail of each kind."""
        return np.array([kind.size for kind in self.kinds], np.int64)

    @property
    def payloads(self) -> pa.StructArray:
        """The operation and source of each kind."""
        return pa.array([kind.payload for kind in self.kinds], _PAYLOAD)


def tails_of(values: pa.Array, begin: int = 0, end: bytes = b"") -> Tails:
    """Return the tails of texts as `JsonObjects.read` takes them: each is a value from `begin` on, with `end` behind it.

    All values have at least `begin` bytes.
    """
    offsets, content = content_of(values)
    sizes = np.diff(offsets) - begin + len(end)
    tails = Tails(np.full(len(values), _NONE), [], begin, end)
    remaining, left = np.arange(len(values)), _COPIES * len(values)
    for _ in range(_KINDS):
        if not len(remaining) or left < 0:
            break
        middle = len(remaining) // 2  # the first ones may be of rare kinds, as numbers get more digits
        row = int(remaining[middle])
        kind = _kind(content[offsets[row] + begin : offsets[row + 1]].tobytes() + end)
        if kind is None:
            remaining = np.delete(remaining, middle)
            continue
        begins = offsets[remaining + 1] + len(end) - kind.size
        same = sizes[remaining] > kind.size
        for place in kind.probes:
            same &= content[begins + place] == kind.lowest[place]
        left -= int(same.sum())
        same[same] = kind.of(content, begins[same], len(end))
        tails.numbers[remaining[same]] = len(tails.kinds)
        tails.kinds.append(kind)
        remaining = remaining[~same]
    return tails


def _kind(text: bytes) -> Kind | None:
    """The kind of a text's tail. None where tails with other digits may say something else."""
    place = text.rfind(_MARK)
    if place < 2 or text[place - 1 : place] not in _BEFORE_MARK:
        return None
    tail = text[place - 1 :]
    payload = _payload(b"{" + tail[2:])
    if payload is None:
        return None
    lowest, span = np.frombuffer(tail, np.uint8).copy(), np.zeros(len(tail), np.uint8)
    digits, leading = _digits(tail)
    lowest[digits], span[digits] = _ZERO, 9
    lowest[leading], span[leading] = _ZERO + 1, 8
    return Kind(lowest, span, payload)


def _payload(text: bytes) -> dict[str, Any] | None:
    """The operation and source of a payload without rows. None where JSON could say the same in other ways."""
    try:
        payload = parsed(b'{"m":' + text)["m"]
    except FaultError:
        return None
    if {"before", "after"} & set(payload):
        return None
    source = payload["source"]
    place = {name: source.get(name) for name in _PLACE}
    op = payload.get("op")
    are_texts = type(op) is str and all(type(name) in (str, type(None)) for name in place.values())
    if not are_texts or b"\\u" in text.lower() or is_deep(text):
        return None
    return {"op": op, "source": place}


def _digits(tail: bytes) -> tuple[np.ndarray, list[int]]:
    """True for the digits that may be others in JSON, and the places of those among them that may not be zero.

    Digits of names may not, nor those of the operation and the table.
    """
    content = np.frombuffer(tail, np.uint8)
    digits = (content >= _ZERO) & (content <= _ZERO + 9)
    leading: list[int] = []
    name = b""
    for token in _TOKENS.finditer(tail):
        text, colon = token.groups()
        if colon is not None:
            name = text
        if text is None:
            leading.append(token.start())
        elif colon is not None or name in _FIXED:
            digits[token.start() : token.end()] = False
    return digits, leading


def read_heads(
    kind: pa.StructType, values: pa.Array, places: np.ndarray, tails: Tails
) -> tuple[list[tuple[np.ndarray, pa.StructArray]], np.ndarray]:
    """Return payloads of a type with the numbers of their texts, and true for the texts that are not among them."""
    certain = tails.certain
    rows = np.flatnonzero(certain)
    if not len(rows):
        return [], ~certain
    offsets, content = content_of(values)
    ends = offsets[rows + 1] + len(tails.end) - tails.sizes[tails.numbers[rows]]  # a tail has the last byte of its head
    heads = pieces(content, offsets[rows] + tails.begin, ends + 1)
    images = pa.struct([kind.field(name) for name in ("before", "after")])
    left = np.ones(len(values), bool)
    objects = []
    for read, structs in JsonObjects(images, {}, unknown="error", end=b"}}").read_certain(
        heads.cast(pa.binary()), rows
    ):
        constants = tails.payloads.take(pa.array(tails.numbers[read]))
        parts = {name: pc.struct_field(constants, name) for name in ("op", "source")}
        parts |= {name: pc.struct_field(structs, name) for name in ("before", "after")}
        columns = [parts[part.name] for part in kind]
        objects.append((places[read], pa.StructArray.from_arrays(columns, fields=list(kind))))
        left[read] = False
    return objects, left
