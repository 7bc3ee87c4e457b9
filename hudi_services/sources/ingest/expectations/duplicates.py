"""Values that are in several rows: rows are sent to buckets by a hash of the values, which the engine keeps on disk where they
are many, and each bucket is counted by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.engine import Engine
from hoodie.engine.base import Block, Split
from hoodie.errors import ConfigError
from hoodie.formats.murmur import murmur2
from hoodie.schema import find_field, values_of
from hoodie.write.worker.rows import split_by
from hudi_services.runtime.json_values import json_row_values
from hudi_services.sources.ingest.expectations.tally import Tally, Tallying

_TALLY = "@tally"
_BUCKET = 64 << 20  # bytes of source that one bucket is made for: its keys are a part of them


@dataclass(frozen=True)
class Repeated:
    """The number of values that several rows have, the number of these rows, and one of the values."""

    values: int = 0
    rows: int = 0
    example: str | None = None

    def __add__(self, other: Repeated) -> Repeated:
        example = self.example if self.example is not None else other.example
        return Repeated(self.values + other.values, self.rows + other.rows, example)


def check_unique_columns(names: Iterable[str], schema: pa.Schema) -> None:
    """Raises ConfigError for columns that the rows do not have, or whose values cannot be compared."""
    for name in names:
        field = find_field(schema, name)
        if field is None or _has_no_text(field.type):
            schema_text = f"type {field.type}" if field is not None else f"columns {', '.join(schema.names)}"
            raise ConfigError(
                f"`expect.unique` names the column {name!r}, which cannot be compared",
                found=schema_text,
                fix="correct `expect` of the source; nothing was loaded",
            )


def tally_and_repeated(
    splits: list[Split], tallying: Tallying, columns: tuple[str, ...], engine: Engine
) -> tuple[list[Tally], Repeated]:
    """The tallies of splits, and the values of `columns` together that several rows have. Rows with a null in them count as
    different."""
    size = engine.input_size(splits)
    count = max(engine.parallelism, -(-size // _BUCKET))
    buckets = engine.exchange_inputs([(_Values(tallying, columns, count), splits)], count)
    counts = buckets.map(_Count(columns))
    tallies = [Tally(**json.loads(text)) for texts, _ in counts for text in texts]
    return tallies, sum((repeated for _, repeated in counts), Repeated())


@dataclass(frozen=True)
class _Values:
    """Task function: a split's batches -> the values of the columns by their hash, and the tally, for the first bucket."""

    tallying: Tallying
    columns: tuple[str, ...]
    buckets: int

    def __call__(self, _number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        counter = self.tallying.counter()
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            counter.add(rows)
            keys = pa.table({name: values_of(rows, name) for name in self.columns}).drop_null()
            if keys.num_rows:
                yield from split_by(keys, _hashes(keys) % np.uint32(self.buckets), self.buckets)
        yield 0, pa.table({_TALLY: [json.dumps(asdict(counter.tally))]})


@dataclass(frozen=True)
class _Count:
    """Task function: a bucket -> the tallies in it, and the values that several of its rows have."""

    columns: tuple[str, ...]

    def __call__(self, _bucket: int, tables: Iterator[pa.Table]) -> tuple[list[str], Repeated]:
        tallies: list[str] = []
        keys: list[pa.Table] = []
        for table in tables:
            if _TALLY in table.schema.names:
                tallies += table[_TALLY].to_pylist()  # one for each split
            else:
                keys.append(table)
        if not keys:
            return tallies, Repeated()
        groups = pa.concat_tables(keys).group_by(list(self.columns)).aggregate([([], "count_all")])
        several = groups.filter(pc.greater(groups["count_all"], 1))
        if not several.num_rows:
            return tallies, Repeated()
        first = json_row_values(several.select(list(self.columns)).slice(0, 1))[0]
        example = ", ".join(f"{name} {value!r}" for name, value in first.items())
        return tallies, Repeated(several.num_rows, pc.sum(several["count_all"]).as_py(), example)


def _hashes(keys: pa.Table) -> np.ndarray:
    texts = [pc.cast(column, pa.string()) for column in keys.columns]
    joined = texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, "\x1f")
    hashes: np.ndarray = murmur2(joined, 0)
    return hashes


def _has_no_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
