"""How the data files of an instant are encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from hoodie.formats.base_file import BaseFileOptions
from hoodie.schema import arrow_to_avro, with_meta_columns


@dataclass(frozen=True)
class FileFormat:
    """`schema` is that of all columns in the files, meta columns first; `avro_schema` the same as Avro's JSON, as in footers
    and block headers."""

    schema: pa.Schema
    avro_schema: str
    options: BaseFileOptions

    @classmethod
    def of(cls, columns: pa.Schema, table_name: str, options: BaseFileOptions) -> Self:
        """The format of files that hold these data columns."""
        schema = with_meta_columns(columns)
        return cls(schema, arrow_to_avro(schema, table_name), options)
