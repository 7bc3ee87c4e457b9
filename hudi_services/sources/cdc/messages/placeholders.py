"""Values that a connector did not get: it writes a marker in their place, which must never reach a row.

PostgreSQL leaves long values out of its log where an update did not change them. Such a value is that of the row before, if the
message has it, and otherwise that of the row that the table has (`Decoded.unavailable`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import uuid
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.changes import INSERT, Changes, Outcome

MARKER = "__debezium_unavailable_value"
_POINT = struct.Struct("<BIdd")
_SHAPES = tuple(
    struct.pack("<I", system) + shape
    for system, shape in (
        (0, _POINT.pack(1, 1, -99999999, -99999999)),
        (4326, bytes.fromhex("0101000020E6100000000000FC83D797C1000000FC83D797C1")),
        (4326, bytes.fromhex("0101000020E61000000C21E7FDFF7F66401842CEFBFF7F5640")),
    )
)
"""The points that the connector writes for a point, a geometry and a geography, in the bytes of `encodings.geometries`."""


@dataclass(frozen=True)
class Marker:
    """The marker, by the connector's `unavailable.value.placeholder`: text, or bytes after `hex:`.

    Raises ConfigError for one that is empty, and for digits that are no bytes.
    """

    placeholder: str = MARKER
    bytes: bytes = field(init=False)

    def __post_init__(self) -> None:
        octets = self.placeholder.encode()
        if self.placeholder.startswith("hex:"):
            try:
                octets = bytes.fromhex(self.placeholder.removeprefix("hex:"))
            except ValueError:
                octets = b""
        if not octets:
            raise ConfigError(
                "The marker `unavailable` is empty, or no hexadecimal digits",
                found=repr(self.placeholder)[:100],
                fix="give the connector's unavailable.value.placeholder",
            )
        object.__setattr__(self, "bytes", octets)

    @property
    def texts(self) -> tuple[str, ...]:
        """The marker in columns of text: as it is, as bytes in base64 or in digits, and as JSON that was an hstore."""
        text, octets = self.bytes.decode(errors="replace"), self.bytes
        encoded = [encode(octets).decode() for encode in (base64.b64encode, base64.urlsafe_b64encode)]
        pair = json.dumps({text: text}, separators=(",", ":"), ensure_ascii=False)
        return tuple(dict.fromkeys((text, *encoded, octets.hex(), pair)))

    @property
    def uuid(self) -> str:
        """The marker in arrays of UUIDs: Java's UUID of its bytes."""
        return str(uuid.UUID(bytes=hashlib.md5(self.bytes, usedforsecurity=False).digest(), version=3))

    def marks(self, values: pa.Array) -> np.ndarray | None:
        """Return true for values that are the marker, None where no value is."""
        is_marker = self._marks(values)
        if is_marker is None:
            return None
        result: np.ndarray = is_marker.fill_null(False).to_numpy(zero_copy_only=False)
        return result if result.any() else None

    def _marks(self, values: pa.Array) -> pa.Array | None:
        kind = values.type
        if pa.types.is_string(kind):
            return _among(values, pa.array(self.texts))
        if pa.types.is_binary(kind):
            return _among(values, pa.array((self.bytes, *_SHAPES), pa.binary()))
        if pa.types.is_map(kind):
            return self._lists(pa.ListArray.from_arrays(values.offsets, values.keys), values.is_valid())
        return self._lists(values, values.is_valid()) if pa.types.is_list(kind) else None

    def _lists(self, values: pa.ListArray, valid: pa.Array) -> pa.Array | None:
        inside = values.type.value_type
        if pa.types.is_string(inside):
            lists: list[list[object]] = [[text] for text in (*self.texts, self.uuid)]
        elif pa.types.is_binary(inside):
            lists = [[self.bytes]]
        elif pa.types.is_integer(inside):
            lists = [[*np.frombuffer(self.bytes, np.int8).tolist()]]
        else:
            return None
        return pc.and_(
            valid, pa.array(reduce(np.logical_or, (_equal(values, pa.array(items, inside)) for items in lists)))
        )


def without_marker(changes: Changes, marker: Marker, outcome: Outcome, *, are_rows: bool = False) -> Changes:
    """Return changes in which no value is the `marker`. It is null in rows before.

    A value after the change that no row before has is null, too, and noted in the outcome. Inserts with such values are
    rejected, unless the messages `are_rows`, each of which may be an update.
    """
    names = [field.name for field in changes.after.type.fields]
    before = dict(zip((field.name for field in changes.before.type.fields), changes.before.flatten(), strict=True))
    after = dict(zip(names, changes.after.flatten(), strict=True))
    marked_before = {
        name: column_marks for name, values in before.items() if (column_marks := marker.marks(values)) is not None
    }
    marked = {
        name: column_marks for name, values in after.items() if (column_marks := marker.marks(values)) is not None
    }
    if not marked and not marked_before:
        return changes
    for name, marks in marked_before.items():
        before[name] = _if_else(marks, pa.scalar(None, before[name].type), before[name])
    accepted = np.ones(len(changes.numbers), bool)
    inserts = pc.equal(changes.ops, INSERT).to_numpy(zero_copy_only=False) & (not are_rows)
    for name, marks in marked.items():
        values, old = after[name], before.get(name)
        usable = old is not None and old.type == values.type
        after[name] = _if_else(marks, old if usable else pa.scalar(None, values.type), values)
        unresolved = marks & ~_valid(after[name])
        outcome.reject(changes.numbers[unresolved & inserts], _new_row(name))
        accepted &= ~(unresolved & inserts)
        if (stored := unresolved & ~inserts).any():
            outcome.unavailable[name].append(changes.numbers[stored])
    images = (_struct(changes.before, before), _struct(changes.after, after))
    return Changes(changes.numbers, changes.ops, *images).filter(accepted)


def _new_row(name: str) -> str:
    return (
        f"the connector did not send {name!r} of a new row. It writes an update of the key as delete and insert: "
        "ALTER TABLE ... REPLICA IDENTITY FULL at the source"
    )


def _struct(like: pa.StructArray, columns: dict[str, pa.Array]) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(columns.values()), fields=list(like.type.fields), mask=like.is_null())


def _if_else(marks: np.ndarray, one: pa.Array | pa.Scalar, other: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(marks), one, other)


def _valid(values: pa.Array) -> np.ndarray:
    valid: np.ndarray = values.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _among(values: pa.Array, marked: pa.Array) -> pa.Array | None:
    """True for values that are one of the `marked`. None where no value has the length of one, which is faster to see."""
    lengths = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    return pc.is_in(values, value_set=marked) if np.isin(lengths, pc.binary_length(marked)).any() else None


def _equal(values: pa.ListArray, items: pa.Array) -> np.ndarray:
    """True for lists that have just these items, of which there is at least one."""
    result: np.ndarray = (
        pc.equal(pc.list_value_length(values), len(items)).fill_null(False).to_numpy(zero_copy_only=False)
    )
    if result.any():
        inside = pc.list_flatten(values.filter(pa.array(result)))
        item_numbers = np.tile(np.arange(len(items)), int(result.sum()))
        same = pc.equal(inside, items.take(pa.array(item_numbers))).fill_null(False).to_numpy(zero_copy_only=False)
        result[result] = same.reshape(-1, len(items)).all(axis=1)
    return result
