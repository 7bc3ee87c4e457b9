"""The envelope `{"schema": ..., "payload": ...}` of Connect's JSON converter, cut from messages without parsing each.

Messages of one table begin with the same bytes: the schema, which is longer than what it describes. It is parsed once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.json_values import FaultError, parsed

_DECODER = json.JSONDecoder()
_BEGINS = r'^\s*\{\s*"(schema|payload)"\s*:'
_FIRST_NAME = re.compile(rb'[ \t\n\r]*\{[ \t\n\r]*"([^"\\]*)"[ \t\n\r]*:')
_NAME = re.compile(r'\s*([{,])\s*"(schema|payload)"\s*:\s*')
_END = re.compile(r"\s*\}\s*")


@dataclass(frozen=True)
class Envelope:
    """Texts with one schema, which is None for those without an envelope.

    Each is a value from `begin` on, with `end` behind it. `places` are the row numbers of their messages.
    """

    schema: bytes | None
    places: np.ndarray
    values: pa.Array
    begin: int = 0
    end: bytes = b""

    @cached_property
    def texts(self) -> pa.Array:
        """Texts that begin with the payload and end with the brace of the object around it."""
        return self.texts_of(self.values)

    def texts_of(self, values: pa.Array) -> pa.Array:
        """Return the texts of some of the values."""
        if self.begin and len(values):
            longest = pc.max(pc.binary_length(values)).as_py()  # without an end Arrow 26 asks for negative memory
            values = pc.binary_slice(values, self.begin, longest)
        return pc.binary_join_element_wise(values, self.end, b"") if self.end else values


def envelopes(values: pa.Array, places: np.ndarray, errors: dict[int, str]) -> Iterator[Envelope]:
    """Yield the texts of an array of binary without nulls.

    `errors` gets the place of each text that is no JSON, and the reason.
    """
    wrapped = _are_wrapped(values)
    bare = ~wrapped
    if bare.any():
        yield Envelope(None, places[bare], values if bare.all() else values.filter(pa.array(bare)), end=b"}")
    closed = pc.ends_with(values, b"}").to_numpy(zero_copy_only=False)
    remaining = np.flatnonzero(wrapped)
    while len(remaining):
        first = values[int(remaining[0])].as_py()
        try:
            begin, end, schema = _payload(first)
        except (ValueError, RecursionError) as error:
            errors[int(places[remaining[0]])] = str(error) if isinstance(error, FaultError) else f"no JSON: {error}"
            remaining = remaining[1:]
            continue
        if schema is None or end != len(first) - 1:  # the payload is not the last member, or there is no envelope
            yield Envelope(schema, places[remaining[:1]], pa.array([first[begin:end] + b"}"], pa.binary()))
            remaining = remaining[1:]
            continue
        chosen = values.take(pa.array(remaining)) if len(remaining) < len(values) else values
        same = pc.starts_with(chosen, first[:begin]).to_numpy(zero_copy_only=False) & closed[remaining]
        yield Envelope(schema, places[remaining[same]], chosen if same.all() else chosen.filter(pa.array(same)), begin)
        remaining = remaining[~same]


def _are_wrapped(values: pa.Array) -> np.ndarray:
    """True for texts that begin as envelopes do."""
    first = _FIRST_NAME.match(values[0].as_py()) if len(values) else None
    if first is not None and pc.all(pc.starts_with(values, first[0])).as_py():
        return np.full(len(values), first[1] in (b"schema", b"payload"))
    wrapped: np.ndarray = pc.match_substring_regex(values.cast(pa.binary()), _BEGINS).to_numpy(zero_copy_only=False)
    return wrapped


def _payload(message: bytes) -> tuple[int, int, bytes | None]:
    """Return where the payload begins and ends, and the text of the schema, None for null and without an envelope.

    Raises ValueError for what is no JSON.
    """
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        raise FaultError(f"bytes that are no UTF-8: {error.reason} at {error.start}") from None
    spans: dict[str, tuple[int, int]] = {}
    at = 0
    while (name := _NAME.match(text, at)) is not None and (name[1] == "{") == (not spans) and name[2] not in spans:
        _, at = _DECODER.raw_decode(text, name.end())
        spans[name[2]] = (name.end(), at)
    if _END.fullmatch(text, at) is None or set(spans) != {"schema", "payload"}:
        parsed(message)  # raises for no JSON
        return 0, len(message), None  # an object that has another meaning of these names
    begin, end = (len(text[:place].encode()) for place in spans["payload"])
    schema = text[slice(*spans["schema"])]
    return begin, end, None if schema == "null" else schema.encode()
