"""Messages of Debezium in JSON, `debezium-json`.

Types are those that the schema in each message names. Without a schema they are those of the target, and new columns are guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.nested import one_chunk
from hudi_services.sources.cdc.messages import envelopes
from hudi_services.sources.cdc.messages.changes import Outcome
from hudi_services.sources.cdc.messages.connect import ConnectType
from hudi_services.sources.cdc.messages.contract import Decoded, Statement
from hudi_services.sources.cdc.messages.debezium_changes import (
    CHANGE,
    NO_CHANGE,
    OTHER_TABLE,
    PLACE,
    SCHEMA_CHANGE,
    TOMBSTONE,
    Assembly,
    Envelope,
    envelope_of,
    of_table,
    payload_type,
    shape_of,
    with_value,
)
from hudi_services.sources.cdc.messages.isolation import some
from hudi_services.sources.cdc.messages.json_objects import JsonObjects
from hudi_services.sources.cdc.messages.json_values import FaultError, parsed
from hudi_services.sources.cdc.messages.key_rows import KeyRows, written_type
from hudi_services.sources.cdc.messages.open_rows import OpenRows
from hudi_services.sources.cdc.messages.payload_tails import read_heads, tails_of
from hudi_services.sources.cdc.messages.placeholders import MARKER
from hudi_services.sources.cdc.messages.plain_columns import DECIMALS, UNITS, ValueFormat, check_choice


@dataclass(frozen=True)
class DebeziumJson:
    """The format `debezium-json`.

    `table` (as db.table, or schema.table) names the one whose changes are wanted, where a topic has several: all others are
    counted. `unavailable` is the connector's unavailable.value.placeholder.

    Messages without a schema do not say what a number or text is, so `decimals` (text or bytes) and `timestamps` (ms, us or ns)
    name how the connector writes those columns of the target. Raises ConfigError for others.
    """

    table: str | None = None
    unavailable: str = MARKER
    decimals: str | None = None
    timestamps: str | None = None

    def __post_init__(self) -> None:
        check_choice("decimals", self.decimals, DECIMALS)
        check_choice("timestamps", self.timestamps, UNITS)

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold."""
        outcome = Outcome()
        values, places = with_value(messages, outcome)
        decoding = _Decoding(outcome, messages["value"], one_chunk(messages["key"]), known, self)
        for envelope in envelopes.envelopes(values, places, outcome.errors):
            decoding.add(envelope)
        return outcome.decoded()


@dataclass(frozen=True)
class _Decoding:
    outcome: Outcome
    values: pa.ChunkedArray
    keys: pa.Array
    known: pa.Schema | None
    settings: DebeziumJson

    @property
    def _assembly(self) -> Assembly:
        keys = KeyRows(self.outcome, self.keys, self.known)
        return Assembly(
            self.outcome,
            lambda numbers, envelope: keys.rows(numbers, envelope.before),
            self.settings.unavailable,
            self.settings.table,
            lambda number: _source_of(self.values[number].as_py()),
        )

    def add(self, envelope: envelopes.Envelope) -> None:
        try:
            written = written_type(envelope.schema) if envelope.schema is not None else None
        except ValueError as error:
            self.outcome.reject(envelope.places, str(error))
            return
        if written is None:
            self._bare(envelope)
            return
        shape = shape_of(frozenset(written.fields))
        if shape == CHANGE:
            self._changes(envelope, written)
        elif shape is None:
            self.outcome.reject(envelope.places, NO_CHANGE)
        else:
            self._others(envelope, shape)

    def _changes(self, parsed_envelope: envelopes.Envelope, written: ConnectType) -> None:
        try:
            envelope = envelope_of(written, self.known, json=True)
        except FaultError as error:
            self.outcome.reject(parsed_envelope.places, str(error))
            return
        self.outcome.described.append(parsed_envelope.places)
        kind = envelope.raw(source=self.settings.table is not None)
        values, places = parsed_envelope.values, parsed_envelope.places
        objects, left = read_heads(kind, values, places, tails_of(values, parsed_envelope.begin, parsed_envelope.end))
        texts = parsed_envelope.texts_of(some(values, np.flatnonzero(left)))
        rest = JsonObjects(kind, self.outcome.errors).read(texts, places[left])
        for numbers, payloads in (*objects, *rest):
            self._assembly.add(numbers, payloads, envelope)

    def _bare(self, envelope: envelopes.Envelope) -> None:
        """Messages without a schema. Those that may have an operation are read at once."""
        tails = tails_of(envelope.values, envelope.begin, envelope.end)
        if self.settings.table is not None:  # the columns of other tables would be taken for its
            tails = tails.of_table(self.settings.table)
        changes = tails.certain
        others = envelope.texts_of(envelope.values.filter(pa.array(~changes)))
        changes[~changes] = self._are_changes(others, envelope.places[~changes])
        if not changes.any():
            return
        rows = np.flatnonzero(changes)
        settings = self.settings
        reader = OpenRows(
            lambda row: payload_type(row, row, source=True),
            ("before", "after"),
            self.known,
            ValueFormat(settings.decimals, settings.timestamps, days=True),
            self.outcome.errors,
            first=lambda kind, values, places: read_heads(kind, values, places, tails.at(rows)),
            texts=envelope.texts_of,
        )
        row, objects = reader.read(some(envelope.values, rows), envelope.places[rows])
        for numbers, payloads in objects:
            self._assembly.add(numbers, payloads, Envelope(row, row))

    def _are_changes(self, texts: pa.Array, places: np.ndarray) -> np.ndarray:
        """True for texts that may be changes of the table that is wanted. All others are counted, or rejected."""
        changes: np.ndarray = pc.match_substring(texts, '"op"').to_numpy(zero_copy_only=False)
        self._apart(texts.filter(pa.array(~changes)), places[~changes])
        if self.settings.table is None or not changes.any():
            return changes
        others = []
        reader = JsonObjects(pa.struct([("op", pa.string()), ("source", PLACE)]), {}, unknown="ignore")
        for numbers, payloads in reader.read(texts.filter(pa.array(changes)), np.flatnonzero(changes)):
            has = pc.is_valid(pc.struct_field(payloads, "op")).to_numpy(zero_copy_only=False)
            others.append(numbers[has & ~of_table(payloads, self.settings.table)])
        for numbers in others:
            changes[numbers] = False
            self.outcome.ignored[OTHER_TABLE] += len(numbers)
        return changes

    def _apart(self, texts: pa.Array, places: np.ndarray) -> None:
        for number, text in zip(places, texts.to_pylist(), strict=True):
            try:
                payload = parsed(b'{"m":' + text).get("m")
            except FaultError as error:
                self.outcome.reject(np.array([number]), str(error))
                continue
            if payload is None:
                self.outcome.ignored[TOMBSTONE] += 1
                continue
            shape = shape_of(frozenset(payload)) if isinstance(payload, dict) else None
            if shape is None:
                self.outcome.reject(np.array([number]), NO_CHANGE)
            else:
                self._other(int(number), payload, shape)

    def _others(self, envelope: envelopes.Envelope, shape: str) -> None:
        for number, text in zip(envelope.places, envelope.texts.to_pylist(), strict=True):
            try:
                self._other(int(number), parsed(b'{"m":' + text).get("m") or {}, shape)
            except FaultError as error:
                self.outcome.reject(np.array([number]), str(error))

    def _other(self, number: int, payload: dict[str, object], shape: str) -> None:
        if shape == SCHEMA_CHANGE and payload.get("ddl"):
            self.outcome.statements.append(Statement(number, str(payload["ddl"])))
        else:
            self.outcome.ignored[shape] += 1


def _source_of(message: bytes) -> dict[str, Any]:
    """The source of a message, with the envelope of the schema or without it."""
    payload = parsed(message)
    return (payload.get("payload") or payload).get("source") or {}
