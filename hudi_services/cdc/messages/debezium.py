"""Messages of Debezium in JSON, `debezium-json`. Types are those that the schema in each message names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from hudi_services.cdc.messages import envelopes
from hudi_services.cdc.messages.changes import Outcome
from hudi_services.cdc.messages.connect import ConnectType, type_of_json
from hudi_services.cdc.messages.connect_columns import Origin
from hudi_services.cdc.messages.connect_rows import Row, connect_row
from hudi_services.cdc.messages.contract import Decoded, Statement
from hudi_services.cdc.messages.debezium_changes import (
    CHANGE,
    NO_CHANGE,
    SCHEMA_CHANGE,
    TOMBSTONE,
    Assembly,
    envelope_of,
    shape_of,
    with_value,
)
from hudi_services.cdc.messages.isolation import isolate, some
from hudi_services.cdc.messages.json_objects import JsonObjects
from hudi_services.cdc.messages.json_values import FaultError, parsed
from hudi_services.cdc.messages.placeholders import MARKER


@dataclass(frozen=True)
class DebeziumJson:
    """The format `debezium-json`.

    `table` (as db.table, or schema.table) names the one whose changes are wanted, where a topic has several: all others are
    counted. `unavailable` is the connector's unavailable.value.placeholder.
    """

    table: str | None = None
    unavailable: str = MARKER

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold."""
        outcome = Outcome()
        values, places = with_value(messages, outcome)
        decoding = _Decoding(outcome, messages["key"].combine_chunks(), known, self)
        for found in envelopes.envelopes(values, places, outcome.errors):
            decoding.add(found)
        return outcome.decoded()


@dataclass(frozen=True)
class _Decoding:
    outcome: Outcome
    keys: pa.Array
    known: pa.Schema | None
    settings: DebeziumJson

    def add(self, found: envelopes.Envelope) -> None:
        try:
            written = written_type(found.schema) if found.schema is not None else None
        except ValueError as error:
            self.outcome.reject(found.places, str(error))
            return
        if written is None:
            self._bare(found)
            return
        shape = shape_of(frozenset(written.fields))
        if shape == CHANGE:
            self._changes(found, written)
        elif shape is None:
            self.outcome.reject(found.places, NO_CHANGE)
        else:
            self._others(found, shape)

    def _changes(self, found: envelopes.Envelope, written: ConnectType) -> None:
        try:
            envelope = envelope_of(written, self.known, json=True)
        except FaultError as error:
            self.outcome.reject(found.places, str(error))
            return
        assembly = Assembly(self.outcome, self._key_rows, self.settings.unavailable, self.settings.table)
        for numbers, payloads in JsonObjects(envelope.raw, self.outcome.errors).read(found.texts, found.places):
            assembly.add(numbers, payloads, envelope)

    def _bare(self, found: envelopes.Envelope) -> None:
        """Messages without a schema."""
        for number, text in zip(found.places, found.texts.to_pylist(), strict=True):
            try:
                payload = parsed(b'{"m":' + text).get("m")
            except FaultError as error:
                self.outcome.reject(np.array([number]), str(error))
                continue
            if payload is None:
                self.outcome.ignored[TOMBSTONE] += 1
                continue
            shape = shape_of(frozenset(payload)) if isinstance(payload, dict) else None
            if shape in (None, CHANGE):
                self.outcome.reject(np.array([number]), NO_CHANGE if shape is None else "a change without its schema")
            else:
                self._other(int(number), payload, str(shape))

    def _others(self, found: envelopes.Envelope, shape: str) -> None:
        for number, text in zip(found.places, found.texts.to_pylist(), strict=True):
            try:
                self._other(int(number), parsed(b'{"m":' + text).get("m") or {}, shape)
            except FaultError as error:
                self.outcome.reject(np.array([number]), str(error))

    def _other(self, number: int, payload: dict[str, object], shape: str) -> None:
        if shape == SCHEMA_CHANGE and payload.get("ddl"):
            self.outcome.statements.append(Statement(number, str(payload["ddl"])))
        else:
            self.outcome.ignored[shape] += 1

    def _key_rows(self, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """The key columns of messages. Those without a key, or with one that is no struct, are left out."""
        chosen = self.keys.take(pa.array(numbers))
        places = numbers[chosen.is_valid().to_numpy(zero_copy_only=False)]
        for found in envelopes.envelopes(chosen.drop_null(), places, self.outcome.errors):
            row = self._key_row(found)
            if row is None:
                continue
            for read, structs in JsonObjects(row.raw, self.outcome.errors).read(found.texts, found.places):
                yield from self._keys_of(row, read, structs)

    def _keys_of(
        self, row: Row, numbers: np.ndarray, structs: pa.StructArray
    ) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        for rows, keys in isolate(
            np.arange(len(numbers)),
            lambda rows: row.values(some(structs, rows)),
            lambda rows, error: self._no_key(numbers[rows], error),
        ):
            yield numbers[rows], keys

    def _key_row(self, found: envelopes.Envelope) -> Row | None:
        try:
            written = written_type(found.schema) if found.schema is not None else None
            if written is None or written.kind != "struct":
                return None
            return connect_row(written, Origin(json=True), self.known)
        except ValueError as error:
            self.outcome.reject(found.places, f"in the key, {error}")
            return None

    def _no_key(self, numbers: np.ndarray, error: Exception) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        self.outcome.reject(numbers, f"in the key, {error}")
        yield from ()


@lru_cache(maxsize=256)
def written_type(schema: bytes) -> ConnectType:
    """Return the type that the text of a schema describes. Raises ValueError for what is no schema."""
    return type_of_json(parsed(schema))
