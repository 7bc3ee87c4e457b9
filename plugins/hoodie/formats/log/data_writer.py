"""Data blocks of log files: whole Parquet files, or Avro records (format notes, section 6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from hoodie.formats.avro_rows import avro_block
from hoodie.formats.base_file import BaseFileOptions, BaseFileWriter
from hoodie.formats.log.blocks import BlockType
from hoodie.schema import find_fields


def data_block_type(schema: pa.Schema, ordering: Iterable[str]) -> BlockType:
    """Parquet, but Avro where an ordering field is text: in Parquet blocks Hudi 1.2.0 misreads it (format notes, section 7.3)."""
    text = any(pa.types.is_string(field.type) for field in find_fields(schema, ordering))
    return BlockType.AVRO_DATA if text else BlockType.PARQUET_DATA


@dataclass(frozen=True)
class DataBlocks:
    """How the data blocks of one log file are encoded. `schema` and `avro_schema` include the meta columns.

    `constants` are the utf8 columns with one value in all rows, which rows come without, as `rows_schema` says (see also
    `BaseFileOptions.constants`).
    """

    kind: BlockType
    schema: pa.Schema
    avro_schema: str
    options: BaseFileOptions
    constants: Mapping[str, str]

    @property
    def rows_schema(self) -> pa.Schema:
        repeated = self.options.constants(self.constants)
        return pa.schema([field for field in self.schema if field.name not in repeated])

    def encode(self, rows: pa.Table) -> bytes:
        """The content of a block with these rows."""
        return self._avro(rows) if self.kind is BlockType.AVRO_DATA else self._parquet(rows)

    def _avro(self, rows: pa.Table) -> bytes:
        values = self.options.constants(self.constants)
        repeated = {name: pa.repeat(pa.scalar(value, pa.string()), rows.num_rows) for name, value in values.items()}
        columns = [repeated[name] if name in repeated else rows[name] for name in self.schema.names]
        return avro_block(pa.table(columns, schema=self.schema))

    def _parquet(self, rows: pa.Table) -> bytes:
        sink = pa.BufferOutputStream()
        writer = BaseFileWriter(sink, self.schema, self.avro_schema, self.options, self.constants)
        writer.write(rows)
        writer.finish(None)
        content: bytes = sink.getvalue().to_pybytes()
        return content
