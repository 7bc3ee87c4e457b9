"""Messages of Debezium in Avro, `debezium-avro`: Confluent's wire format, with the schemas in a registry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.schema.nested import one_chunk
from hudi_services.sources.cdc.messages.avro_bodies import Bodies, Schemas, bodies
from hudi_services.sources.cdc.messages.changes import Outcome
from hudi_services.sources.cdc.messages.connect_columns import Origin
from hudi_services.sources.cdc.messages.connect_rows import connect_row
from hudi_services.sources.cdc.messages.contract import Decoded, Statement
from hudi_services.sources.cdc.messages.debezium_changes import (
    CHANGE,
    NO_CHANGE,
    SCHEMA_CHANGE,
    Assembly,
    envelope_of,
    shape_of,
    with_value,
)
from hudi_services.sources.cdc.messages.json_values import FaultError
from hudi_services.sources.cdc.messages.placeholders import MARKER


@dataclass(frozen=True)
class DebeziumAvro:
    """The format `debezium-avro`. `registry` has the schemas. The other parameters are those of `debezium-json`."""

    registry: Schemas
    table: str | None = None
    unavailable: str = MARKER

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold. Raises SourceError where the registry cannot be asked."""
        outcome = Outcome()
        values, places = with_value(messages, outcome)
        keys = AvroKeys(outcome, one_chunk(messages["key"]), self.registry, known)
        assembly = Assembly(outcome, lambda numbers, _: keys.rows(numbers), self.unavailable, self.table)
        for body in bodies(values, places, self.registry, outcome.errors):
            self._add(body, known, outcome, assembly)
        return outcome.decoded()

    def _add(self, bodies: Bodies, known: pa.Schema | None, outcome: Outcome, assembly: Assembly) -> None:
        shape = shape_of(frozenset(bodies.written.fields))
        if shape == CHANGE:
            try:
                envelope = envelope_of(bodies.written, known, json=False)
            except FaultError as error:
                outcome.reject(bodies.places, str(error))
                return
            for numbers, payloads in bodies.read(outcome.errors):
                outcome.described.append(numbers)
                assembly.add(numbers, payloads, envelope)
        elif shape is None:
            outcome.reject(bodies.places, NO_CHANGE)
        elif shape == SCHEMA_CHANGE:
            for numbers, payloads in bodies.read(outcome.errors):
                for number, text in zip(numbers, pc.struct_field(payloads, "ddl").to_pylist(), strict=True):
                    outcome.statements.append(Statement(int(number), str(text or "")))
        else:
            outcome.ignored[shape] += len(bodies.places)


@dataclass(frozen=True)
class AvroKeys:
    """The keys of messages. `keys` are an array of binary, with nulls."""

    outcome: Outcome
    keys: pa.Array
    schemas: Schemas
    known: pa.Schema | None

    def rows(self, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """Yield structs of the key columns of messages, and the numbers of these.

        Messages without a key, or with one that is no record, are left out.
        """
        chosen = self.keys.take(pa.array(numbers))
        places = numbers[chosen.is_valid().to_numpy(zero_copy_only=False)]
        errors: dict[int, str] = {}
        for body in bodies(chosen.drop_null(), places, self.schemas, errors):
            if body.written.kind == "struct":
                yield from self._values(body, errors)
        for number, reason in errors.items():
            self.outcome.reject(np.array([number]), f"in the key, {reason}")

    def _values(self, bodies: Bodies, errors: dict[int, str]) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        try:
            row = connect_row(bodies.written, Origin(json=False), self.known)
        except FaultError as error:
            errors.update((int(number), str(error)) for number in bodies.places)
            return
        for numbers, structs in bodies.read(errors):
            yield from row.good_values(numbers, structs, errors)
