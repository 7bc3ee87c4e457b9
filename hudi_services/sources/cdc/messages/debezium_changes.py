"""Changes of rows in Debezium's envelope, in JSON or Avro: `before`, `after`, `op` and `source`.

Operations are c, r (a row of the snapshot), u, d and t (TRUNCATE, a statement). Other messages have their own shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.nested import one_chunk
from hudi_services.sources.cdc.messages.changes import DELETE, Changes, Outcome, widened, without_images
from hudi_services.sources.cdc.messages.connect import ConnectType
from hudi_services.sources.cdc.messages.connect_columns import Origin
from hudi_services.sources.cdc.messages.connect_rows import Row, connect_row
from hudi_services.sources.cdc.messages.contract import Statement
from hudi_services.sources.cdc.messages.isolation import isolate, some
from hudi_services.sources.cdc.messages.json_values import FaultError
from hudi_services.sources.cdc.messages.placeholders import Marker, without_marker

CHANGE, HEARTBEAT, TRANSACTION, SCHEMA_CHANGE = "change", "heartbeat", "transaction", "schema change"
TOMBSTONE, OTHER_TABLE = "tombstone", "other table"
_OPS = {"c": "i", "r": "i", "u": "u", "d": "d"}
PLACE = pa.struct([("db", pa.string()), ("schema", pa.string()), ("table", pa.string())])
_MYSQL = ("io.debezium.connector.mysql.Source", "io.debezium.connector.mariadb.Source")
NO_CHANGE = "no change of Debezium: it has no op. Rows that ExtractNewRecordState has made have the format json or avro"


def shape_of(names: frozenset[str]) -> str | None:
    """Return what a message with these members is, None for what is not of Debezium."""
    if {"op", "after"} <= names:
        return CHANGE
    if "ddl" in names:
        return SCHEMA_CHANGE
    if {"status", "id"} <= names:
        return TRANSACTION
    return HEARTBEAT if names == {"ts_ms"} else None


def payload_type(before: pa.StructType, after: pa.StructType, *, source: bool) -> pa.StructType:
    """Return the type of payloads with these rows."""
    fields = [("op", pa.string()), ("before", before), ("after", after)]
    return pa.struct([*fields, ("source", PLACE)] if source else fields)


@dataclass(frozen=True)
class Envelope:
    """The envelope of one table: how its rows are read, before and after a change."""

    before: Row
    after: Row

    def raw(self, *, source: bool) -> pa.StructType:
        """Return the type in which payloads are read, with the names of the table or without them, which is faster."""
        return payload_type(self.before.raw, self.after.raw, source=source)


def envelope_of(written: ConnectType, known: pa.Schema | None, *, json: bool) -> Envelope:
    """Return the envelope that a schema describes. Raises FaultError for one that the known columns do not fit."""
    after = written.fields["after"]
    before = written.fields.get("before", after)
    if before.kind != "struct" or after.kind != "struct":
        raise FaultError("an envelope whose rows are not structs")
    source = written.fields.get("source")
    origin = Origin(json, source is not None and source.name in _MYSQL)
    return Envelope(connect_row(before, origin, known, whole=False), connect_row(after, origin, known))


def of_table(payloads: pa.StructArray, table: str) -> np.ndarray:
    """Return true for payloads of the table, as db.table or schema.table."""
    matches = np.zeros(len(payloads), bool)
    if "source" not in [field.name for field in payloads.type.fields]:
        return matches
    source = pc.struct_field(payloads, "source")
    if "table" not in [field.name for field in source.type.fields]:
        return matches
    names = pc.struct_field(source, "table")
    for part in ("db", "schema"):
        if part in [field.name for field in source.type.fields]:
            full = pc.binary_join_element_wise(pc.struct_field(source, part), names, ".")
            matches |= pc.equal(full, table).fill_null(False).to_numpy(zero_copy_only=False)
    return matches


@dataclass(frozen=True)
class Assembly:
    """Makes changes of payloads.

    `keys` gives the key columns of messages, by their row numbers, `source` the source of a message whose payload was read
    without it.
    """

    outcome: Outcome
    keys: Callable[[np.ndarray, Envelope], Iterator[tuple[np.ndarray, pa.StructArray]]]
    marker: str
    table: str | None  # as db.table or schema.table
    source: Callable[[int], dict[str, Any]] = lambda _: {}

    def add(self, numbers: np.ndarray, payloads: pa.StructArray, envelope: Envelope) -> None:
        """Add the changes of payloads, structs of `Envelope.raw` or with more fields. Null ones are tombstones."""
        valid = payloads.is_valid().to_numpy(zero_copy_only=False)
        if not valid.all():
            self.outcome.ignored[TOMBSTONE] += int((~valid).sum())
            numbers, payloads = numbers[valid], payloads.filter(pa.array(valid))
        numbers, payloads = self._of_table(numbers, payloads)
        ops = pc.struct_field(payloads, "op")
        known = pc.is_in(ops, value_set=pa.array([*_OPS])).to_numpy(zero_copy_only=False)
        if not known.all():
            self._others(numbers[~known], payloads.filter(pa.array(~known)))
            numbers, payloads = numbers[known], payloads.filter(pa.array(known))
        for _, changes in isolate(
            np.arange(len(numbers)),
            lambda rows: _changes(numbers[rows], some(payloads, rows), envelope),
            lambda rows, error: self.outcome.reject_rows(numbers[rows], error),
        ):
            changes = without_images(self._with_keys(changes, envelope), self.outcome)
            self.outcome.changes.append(without_marker(changes, Marker(self.marker), self.outcome))

    def _of_table(self, numbers: np.ndarray, payloads: pa.StructArray) -> tuple[np.ndarray, pa.StructArray]:
        """Those of the table, if one is named. All others are counted."""
        if self.table is None:
            return numbers, payloads
        no_change = pc.struct_field(payloads, "op").is_null().to_numpy(zero_copy_only=False)
        matches = no_change | of_table(payloads, self.table)
        if matches.all():
            return numbers, payloads
        self.outcome.ignored[OTHER_TABLE] += int((~matches).sum())
        return numbers[matches], payloads.filter(pa.array(matches))

    def _others(self, numbers: np.ndarray, payloads: pa.StructArray) -> None:
        for number, payload in zip(numbers, payloads.to_pylist(), strict=True):
            op = payload["op"]
            if op == "t":
                source = payload.get("source") or self.source(int(number))
                name = ".".join(part for part in (source.get("db"), source.get("schema"), source.get("table")) if part)
                self.outcome.statements.append(Statement(int(number), f"TRUNCATE TABLE {name}".strip()))
            elif op == "m":
                self.outcome.ignored["logical message"] += 1
            else:
                reason = NO_CHANGE if op is None else f"the operation {op!r:.20}, which is not c, r, u, d, t or m"
                self.outcome.reject(np.array([number]), reason)

    def _with_keys(self, changes: Changes, envelope: Envelope) -> Changes:
        """The changes, with the key as the row before in deletes that have none."""
        deletes = pc.equal(changes.ops, DELETE).to_numpy(zero_copy_only=False)
        bare = deletes & changes.before.is_null().to_numpy(zero_copy_only=False)
        if not bare.any():
            return changes
        before, has_key_row = changes.before, np.zeros(len(bare), bool)
        parts = [before]
        places = np.arange(len(bare))
        total = len(bare)
        for numbers, keys in self.keys(changes.numbers[bare], envelope):
            rows = np.searchsorted(changes.numbers, numbers)
            places[rows] = total + np.arange(len(rows))
            total += len(rows)
            has_key_row[rows] = True
            parts.append(widened(keys, before.type))
        joined = pa.concat_arrays(parts).take(pa.array(places))
        return Changes(changes.numbers, changes.ops, joined, changes.after)


def with_value(messages: pa.Table, outcome: Outcome) -> tuple[pa.Array, np.ndarray]:
    """Return the values of messages that have one, and their row numbers. The others are tombstones, and are counted."""
    values = one_chunk(messages["value"])
    if not values.null_count:
        return values, np.arange(len(values))
    outcome.ignored[TOMBSTONE] += values.null_count
    return values.drop_null(), np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))


def _changes(numbers: np.ndarray, payloads: pa.StructArray, envelope: Envelope) -> Changes:
    ops = pc.struct_field(payloads, "op")
    places = pc.index_in(ops, value_set=pa.array([*_OPS]))
    return Changes(
        numbers,
        pa.array([*_OPS.values()]).take(places),
        envelope.before.values(pc.struct_field(payloads, "before")),
        envelope.after.values(pc.struct_field(payloads, "after")),
    )
