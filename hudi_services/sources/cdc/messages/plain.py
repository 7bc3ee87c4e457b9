"""Messages that are rows, `json` and `avro`: each is an upsert, and one without a value deletes the row of its key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.nested import one_chunk
from hudi_services.sources.cdc.messages.avro_bodies import Schemas, bodies
from hudi_services.sources.cdc.messages.changes import DELETE, INSERT, Changes, Outcome
from hudi_services.sources.cdc.messages.connect_columns import Origin
from hudi_services.sources.cdc.messages.connect_rows import Row, connect_row
from hudi_services.sources.cdc.messages.contract import Decoded
from hudi_services.sources.cdc.messages.envelopes import Envelope, envelopes
from hudi_services.sources.cdc.messages.json_objects import JsonObjects
from hudi_services.sources.cdc.messages.json_values import FaultError, parsed
from hudi_services.sources.cdc.messages.key_rows import written_type
from hudi_services.sources.cdc.messages.open_rows import OpenRows
from hudi_services.sources.cdc.messages.placeholders import MARKER, Marker, without_marker
from hudi_services.sources.cdc.messages.plain_columns import UNITS, ValueFormat, check_choice

_Rows = Iterator[tuple[np.ndarray, pa.StructArray]]


@dataclass(frozen=True)
class PlainJson:
    """The format `json`. Messages with Connect's schema envelope have its types, others those of the target, then guesses.

    `key_column` is the column of keys that are no objects. `timestamps` is the unit (ms, us or ns) of numbers in columns of
    times, `zone` the time zone of texts which do not say theirs. `deleted` is a column in which true marks a deleted row, such
    as `__deleted`. `unavailable` is the marker for values that Debezium did not get. Raises ConfigError for an unknown unit.
    """

    key_column: str | None = None
    timestamps: str | None = None
    zone: str | None = None
    deleted: str | None = None
    unavailable: str = MARKER

    def __post_init__(self) -> None:
        check_choice("timestamps", self.timestamps, UNITS)

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold."""
        outcome = Outcome()
        deletes = [
            _add(outcome, rows, self.deleted, Marker(self.unavailable))
            for rows in self._read(messages["value"], known, outcome.errors)
        ]
        _add_deletes(outcome, messages, deletes, self.key_column, lambda keys, errors: self._read(keys, known, errors))
        return outcome.decoded()

    def _read(self, column: pa.ChunkedArray, known: pa.Schema | None, errors: dict[int, str]) -> Iterator[_Rows]:
        values = one_chunk(column)
        places = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        for envelope in envelopes(values.drop_null(), places, errors):
            try:
                row, objects = self._objects(envelope, known, errors)
            except ValueError as error:
                errors.update((int(place), str(error)) for place in envelope.places)
                continue
            for numbers, structs in objects:
                yield _good_rows(row, numbers, structs, errors)

    def _objects(
        self, envelope: Envelope, known: pa.Schema | None, errors: dict[int, str]
    ) -> tuple[Row, list[tuple[np.ndarray, pa.StructArray]]]:
        if envelope.schema is None:
            writing = ValueFormat(decimals="text", timestamps=self.timestamps, zone=self.zone)
            return OpenRows(lambda row: row, (), known, writing, errors, lenient=True).read(
                envelope.texts, envelope.places
            )
        written = written_type(envelope.schema)
        if written.kind != "struct":
            raise FaultError(f"a schema of {written.kind} in place of a struct")
        row = connect_row(written, Origin(json=True), known)
        return row, list(JsonObjects(row.raw, errors).read(envelope.texts, envelope.places))


@dataclass(frozen=True)
class PlainAvro:
    """The format `avro`: Confluent's wire format, with the schemas in the `registry`.

    `key_column` is the column of keys that are texts. `deleted` is a column in which true marks a deleted row, `unavailable` the
    marker for values that Debezium did not get.
    """

    registry: Schemas
    key_column: str | None = None
    deleted: str | None = None
    unavailable: str = MARKER

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold. Raises SourceError where the registry cannot be asked."""
        outcome = Outcome()
        deletes = [
            _add(outcome, rows, self.deleted, Marker(self.unavailable))
            for rows in self._read(messages["value"], known, outcome.errors)
        ]
        texts = PlainJson()
        _add_deletes(
            outcome,
            messages,
            deletes,
            self.key_column,
            lambda keys, errors: (self if self.key_column is None else texts)._read(keys, known, errors),
        )
        return outcome.decoded()

    def _read(self, column: pa.ChunkedArray, known: pa.Schema | None, errors: dict[int, str]) -> Iterator[_Rows]:
        values = one_chunk(column)
        places = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        for body in bodies(values.drop_null(), places, self.registry, errors):
            try:
                if body.written.kind != "struct":
                    raise FaultError(f"an Avro schema of {body.written.kind} in place of a record")
                row = connect_row(body.written, Origin(json=False), known)
            except FaultError as error:
                errors.update((int(place), str(error)) for place in body.places)
                continue
            for numbers, structs in body.read(errors):
                yield _good_rows(row, numbers, structs, errors)


def _good_rows(row: Row, numbers: np.ndarray, structs: pa.StructArray, errors: dict[int, str]) -> _Rows:
    """The rows of objects, and null for objects that are null."""
    valid = structs.is_valid().to_numpy(zero_copy_only=False)
    if not valid.all():
        yield numbers[~valid], pa.nulls(int((~valid).sum()), row.type)
    yield from row.good_values(numbers[valid], structs.filter(pa.array(valid)), errors)


def _add(outcome: Outcome, rows: _Rows, deleted: str | None, marker: Marker) -> np.ndarray:
    """Add the changes of rows, and return the numbers of messages without one."""
    deletes = [np.zeros(0, np.int64)]
    for numbers, values in rows:
        if values.null_count:
            deletes.append(numbers)
            continue
        marks = _marks(values, deleted)
        nothing = pa.scalar(None, values.type)
        changes = Changes(
            numbers,
            pc.if_else(marks, DELETE, INSERT),
            pc.if_else(marks, values, nothing),
            pc.if_else(marks, nothing, values),
        )
        outcome.changes.append(without_marker(changes, marker, outcome, are_rows=True))
    return np.concatenate(deletes)


def _marks(values: pa.StructArray, deleted: str | None) -> pa.Array:
    if deleted is None or deleted not in [part.name for part in values.type.fields]:
        return pa.repeat(False, len(values))
    return pc.equal(pc.utf8_lower(pc.struct_field(values, deleted).cast(pa.string())), "true").fill_null(False)


def _add_deletes(
    outcome: Outcome,
    messages: pa.Table,
    deletes: list[np.ndarray],
    key_column: str | None,
    read: Callable[[pa.ChunkedArray, dict[int, str]], Iterator[_Rows]],
) -> None:
    """Add the deletes of messages without a value, by their keys."""
    without = np.flatnonzero(messages["value"].is_null().to_numpy())
    numbers = np.sort(np.concatenate([*deletes, without]))
    if not len(numbers):
        return
    keys = messages["key"].take(pa.array(numbers)).combine_chunks()
    if key_column is not None:
        keys = pa.array([None if key is None else _object(key, key_column) for key in keys.to_pylist()], pa.binary())
    outcome.reject(numbers[keys.is_null().to_numpy(zero_copy_only=False)], "a delete without a key")
    errors: dict[int, str] = {}
    for rows in read(pa.chunked_array([keys]), errors):
        for places, values in rows:
            delete_numbers = numbers[places]
            empty = np.logical_and.reduce([part.is_null().to_numpy(zero_copy_only=False) for part in values.flatten()])
            outcome.reject(delete_numbers[empty], "a delete without a key")
            ops = pa.repeat(DELETE, len(delete_numbers))
            outcome.changes.append(Changes(delete_numbers, ops, values, pa.nulls(len(delete_numbers), values.type)))
    for place, reason in errors.items():
        outcome.reject(numbers[[place]], f"in the key, {reason}. If it is no object, name its column by key_column")


def _object(key: bytes, column: str) -> bytes:
    """A key that may be a bare value as an object."""
    try:
        value = parsed(key)
    except FaultError:
        try:
            return json.dumps({column: key.decode()}).encode()
        except UnicodeDecodeError:
            return key  # its reader rejects it
    return key if isinstance(value, dict) else b"{%s:%s}" % (json.dumps(column).encode(), key)
