"""Partition paths from partition columns, vectorised (format notes, section 1.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
from hoodie.keygen.text import key_text
from hoodie.keygen.timestamps import TimestampFolders
from hoodie.schema import find_field, values_of

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"

# What Hudi's PartitionPathEncodeUtils (after Hive's FileUtils) escapes as %XX.
_ESCAPED = frozenset(map(chr, range(1, 32))) | frozenset("\"#%'*/:=?\\{[]^\x7f")


@dataclass(frozen=True, slots=True)
class PartitionPaths:
    """How a table names the folder of a row. `timestamp_fields` are those of `fields` whose folders `timestamps` makes.

    With `slash_dates` the days `yyyy-MM-dd` of the only field become the folders `yyyy/MM/dd`.
    """

    fields: tuple[str, ...]
    hive_style: bool
    url_encode: bool
    timestamps: TimestampFolders | None = None
    timestamp_fields: frozenset[str] = frozenset()
    slash_dates: bool = False

    def of(self, table: pa.Table) -> pa.ChunkedArray:
        """The partition path of each row (utf8, never null; empty for a table without partitions).

        A null or empty value becomes `__HIVE_DEFAULT_PARTITION__`, in a timestamp column the first moments of 1970. Raises
        RecordKeyError for a column that is missing, and for a value that makes no folder of its own (`..`, `a//b`, a colon; with
        `slash_dates` whatever is no day).
        """
        if not self.fields:
            return pa.chunked_array([pa.repeat("", table.num_rows)])
        parts = [self._part(table, field) for field in self.fields]
        return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, "/")

    def check(self) -> None:
        """Raises ConfigError for options of timestamps that cannot be, RecordKeyError when they make no folder names."""
        if self.timestamps is not None:
            self._folder(min(self.timestamp_fields), self.timestamps.check())

    def _part(self, table: pa.Table, field: str) -> pa.ChunkedArray:
        if find_field(table.schema, field) is None:
            raise RecordKeyError(
                f"Partition column {field!r} is missing",
                found=f"columns {', '.join(table.schema.names)}",
                fix="add the column",
            )
        values = values_of(table, field)
        if self.timestamps is not None and field in self.timestamp_fields:
            return self._folders(self.timestamps.texts(values, field), field)
        if pa.types.is_timestamp(values.type):
            raise RecordKeyError(
                f"Column {field!r} cannot be a partition column",
                found=f"type {values.type}: Hudi cannot read the folder names that it makes of timestamps",
                fix="partition by a date or a string made of it",
            )
        return self._folders(key_text(values, field), field)

    def _folders(self, texts: pa.ChunkedArray, field: str) -> pa.ChunkedArray:
        # Partitions are few: the folder of each distinct text is made once.
        encoded = pc.dictionary_encode(texts, null_encoding="encode")
        chunks = []
        for chunk in encoded.chunks:
            folders = pa.array([self._folder(field, value) for value in chunk.dictionary.to_pylist()], pa.string())
            chunks.append(folders.take(chunk.indices))
        return pa.chunked_array(chunks, pa.string())

    def _folder(self, field: str, value: str | None) -> str:
        if self.slash_dates:
            return _day_folder(field, value)
        text = value or DEFAULT_PARTITION
        if self.url_encode:
            text = escape_path_name(text)
        folder = f"{field}={text}" if self.hive_style else text
        steps = folder.split("/")
        # Hadoop's paths cannot hold a colon; they drop or resolve the other steps, and Hudi then no longer finds the rows.
        if ":" in text or not {"", ".", ".."}.isdisjoint(steps) or steps[0] == ".hoodie":
            raise RecordKeyError(
                f"Partition column {field!r} has a value that is no folder name",
                found=repr(value),
                fix="correct the value, or create the table with hoodie.datasource.write.partitionpath.urlencode=true",
            )
        return folder


def _day_folder(field: str, value: str | None) -> str:
    if value is None or not _DAY.fullmatch(value):
        # Of null and empty values Hudi's own operations make different folders, and none could be told from its parts.
        raise RecordKeyError(
            f"Partition column {field!r} has a value that is no day",
            found=repr(value),
            fix="correct the value, or load into a table without hoodie.datasource.write.slash.separated.date.partitioning",
        )
    return value.replace("-", "/")


def escape_path_name(text: str) -> str:
    """Percent-encode what cannot stand in a folder name, as Hive and Hudi do."""
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)
