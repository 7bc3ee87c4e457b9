"""Messages in Confluent's wire format: a zero, the id of the schema in four bytes, a record in Avro."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.messages.avro_types import AvroReader, structs_of
from hudi_services.sources.cdc.messages.connect import ConnectType
from hudi_services.sources.cdc.messages.encodings import content_of
from hudi_services.sources.cdc.messages.isolation import isolate
from hudi_services.sources.cdc.messages.json_values import FaultError

_HEAD = 5  # bytes before the record


class Schemas(Protocol):
    """The schemas of a registry."""

    def schema(self, number: int) -> str | None:
        """Return the text of the Avro schema with this id, None where the registry has none."""


@dataclass(frozen=True)
class Bodies:
    """Records with one schema. `places` are the row numbers of their messages, `starts` and `ends` their places in `content`."""

    reader: AvroReader
    places: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    content: np.ndarray

    @property
    def written(self) -> ConnectType:
        """The type of the records."""
        return self.reader.written

    def read(self, errors: dict[int, str]) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
        """Yield structs and the numbers of their messages. `errors` gets those whose bytes are not as the schema says."""

        def some(rows: np.ndarray) -> pa.StructArray:
            assert self.reader.columns is not None
            first, last = int(self.starts[rows[0]]), int(self.ends[rows[-1]])
            data = self.content[first:last].data
            return structs_of(self.reader.columns.decode(data, self.starts[rows] - first, self.ends[rows] - first))

        def wrong(rows: np.ndarray, error: Exception) -> Iterator[tuple[np.ndarray, pa.StructArray]]:
            errors.update((int(number), "bytes that are not as the schema says") for number in self.places[rows])
            yield from ()

        for rows, structs in isolate(np.arange(len(self.places)), some, wrong):
            yield self.places[rows], structs


def bodies(values: pa.Array, places: np.ndarray, schemas: Schemas, errors: dict[int, str]) -> Iterator[Bodies]:
    """Yield the records of an array of binary without nulls, by their schemas. `errors` gets the others.

    Raises SourceError where the registry cannot be asked.
    """
    offsets, content = content_of(values)
    starts, ends = offsets[:-1], offsets[1:]
    framed = (ends - starts) >= _HEAD
    framed[framed] = content[starts[framed]] == 0
    _reject(errors, places[~framed], "a message that does not begin with a zero and the id of a schema")
    rows = np.flatnonzero(framed)
    heads = content[starts[rows, None] + np.arange(1, _HEAD)] if len(rows) else np.zeros((0, 4), np.uint8)
    numbers = np.ascontiguousarray(heads).view(">u4")[:, 0]
    for number in dict.fromkeys(numbers.tolist()):
        chosen = rows[numbers == number]
        text = schemas.schema(number)
        if text is None:
            _reject(errors, places[chosen], f"the schema {number}, which the registry does not have")
            continue
        try:
            reader = avro_reader(text)
        except FaultError as error:
            _reject(errors, places[chosen], str(error))
            continue
        yield Bodies(reader, places[chosen], starts[chosen] + _HEAD, ends[chosen], content)


def _reject(errors: dict[int, str], places: np.ndarray, reason: str) -> None:
    errors.update((int(place), reason) for place in places)


@lru_cache(maxsize=256)
def avro_reader(text: str) -> AvroReader:
    """Return the reader of a schema. Raises FaultError for one that has no column form."""
    return AvroReader(text)
