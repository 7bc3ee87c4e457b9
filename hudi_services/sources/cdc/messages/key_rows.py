"""Key columns of messages in JSON, with the schema envelope or without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.messages import envelopes
from hudi_services.sources.cdc.messages.changes import Outcome
from hudi_services.sources.cdc.messages.connect import ConnectType, type_of_json
from hudi_services.sources.cdc.messages.connect_columns import Origin
from hudi_services.sources.cdc.messages.connect_rows import Row, connect_row
from hudi_services.sources.cdc.messages.json_objects import JsonObjects
from hudi_services.sources.cdc.messages.json_values import parsed


@lru_cache(maxsize=256)
def written_type(schema: bytes) -> ConnectType:
    """Return the type that the text of a schema describes. Raises ValueError for what is no schema."""
    return type_of_json(parsed(schema))


@dataclass(frozen=True)
class KeyRows:
    """The keys of messages. `keys` are an array of binary, with nulls."""

    outcome: Outcome
    keys: pa.Array
    known: pa.Schema | None

    def rows(self, numbers: np.ndarray, row: Row) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """Yield structs of the key columns of messages, and the numbers of these.

        Keys without a schema are read as columns of `row`. Messages without a key, or with one that is no object, are left out.
        """
        chosen = self.keys.take(pa.array(numbers))
        places = numbers[chosen.is_valid().to_numpy(zero_copy_only=False)]
        errors: dict[int, str] = {}
        for envelope in envelopes.envelopes(chosen.drop_null(), places, errors):
            key = self._row(envelope, row, errors)
            if key is None:
                continue
            for read, structs in JsonObjects(key.raw, errors).read(envelope.texts, envelope.places):
                valid = structs.is_valid().to_numpy(zero_copy_only=False)
                yield from key.good_values(read[valid], structs.filter(pa.array(valid)), errors)
        for number, reason in errors.items():
            self.outcome.reject(np.array([number]), f"in the key, {reason}")

    def _row(self, envelope: envelopes.Envelope, row: Row, errors: dict[int, str]) -> Row | None:
        if envelope.schema is None:
            return row
        try:
            written = written_type(envelope.schema)
            return connect_row(written, Origin(json=True), self.known) if written.kind == "struct" else None
        except ValueError as error:
            errors.update((int(number), str(error)) for number in envelope.places)
            return None
