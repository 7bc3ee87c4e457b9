"""Partition paths from partition columns, vectorised (format notes, section 1.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
from hoodie.keygen.shared_places import sharing
from hoodie.keygen.text import key_text, readable_text
from hoodie.keygen.timestamps import TimestampFolders
from hoodie.schema import find_field, values_of

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NAME_BYTES = 255  # a folder's name on every file system that tables lie on
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"

# Hudi's PartitionPathEncodeUtils (after Hive's FileUtils) escapes these as %XX.
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
        RecordKeyError for a column that is missing, and for a value that makes no folder of its own (`..`, `a//b`, a colon, NUL,
        more than 255 bytes; with `slash_dates` any value that is not a day).
        """
        if not self.fields:
            return pa.chunked_array([pa.repeat("", table.num_rows)])
        parts = [self._folders(self._texts(table, field), field) for field in self.fields]
        return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, "/")

    def unusable(self, table: pa.Table) -> pa.ChunkedArray:
        """Boolean, never null: the rows for which `of` raises because of their values.

        Raises RecordKeyError where no row has a path: for a column that is missing, or of a type that makes none.
        """
        result = pa.chunked_array([pa.repeat(False, table.num_rows)])
        for flags, _ in self.flaws(table):
            result = pc.or_(result, flags)
        return result

    def flaws(self, table: pa.Table) -> Iterator[tuple[pa.ChunkedArray, str]]:
        """For each reason that a value may have for making no path: the rows (boolean, never null), and the reason with what
        to do. Raises as `unusable`."""
        for field in self.fields:
            values = self._values(table, field)
            if self._is_timestamp(field):
                assert self.timestamps is not None
                texts, bad = self.timestamps.read(values, field)
            else:
                texts, bad = readable_text(values, field)
            yield bad, f"{field} has no text that can be read"
            flawed: dict[_Flaw, list[str | None]] = {}
            for text in pc.unique(texts).to_pylist():
                flaw = self._flaw(field, text)
                if flaw is not None:
                    flawed.setdefault(flaw, []).append(text)
            for flaw, flawed_texts in flawed.items():
                # Texts that could not be made are null here, which in itself is not a flaw of a value.
                yield (
                    pc.is_in(texts, value_set=pa.array(flawed_texts, pa.string())),
                    f"{field} is {flaw.problem}: {flaw.fix}",
                )

    @property
    def may_collide(self) -> bool:
        """Return whether rows with other values may have one path: of several columns one may hold a slash."""
        return len(self.fields) > 1 and self.may_nest

    def colliding(self, table: pa.Table, keys: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
        """Boolean, never null: true where another row with the same `keys` has other values and the same path.

        Hudi escapes no slash: `a/b/c` is (`a/b`, `c`) and (`a`, `b/c`). Values without a text of their own, such as null and the
        empty text, are one, and so are times of one folder.
        """
        if not pc.any(self.mistakable(table), min_count=0).as_py():
            return pa.chunked_array([pa.repeat(False, table.num_rows)])
        texts = [self._folder_texts(table, field) for field in self.fields]
        named = [
            pc.binary_join_element_wise(f"{field}=", text, "") for field, text in zip(self.fields, texts, strict=True)
        ]
        paths = pc.binary_join_element_wise(*(named if self.hive_style else texts), "/")
        return sharing([*keys, paths], texts)

    def mistakable(self, table: pa.Table) -> pa.ChunkedArray:
        """Boolean, never null: true where other values could have the path too."""
        result = pa.chunked_array([pa.repeat(False, table.num_rows)])
        for field in self.fields if self.may_collide else ():
            if not self._is_timestamp(field):
                result = pc.or_(result, pc.match_substring(self._folder_texts(table, field), "/"))
        return result

    def _folder_texts(self, table: pa.Table, field: str) -> pa.ChunkedArray:
        """The texts of which folders are made, also of values that make none."""
        values = self._values(table, field)
        if self._is_timestamp(field):
            assert self.timestamps is not None
            texts, _ = self.timestamps.read(values, field)
        else:
            texts, _ = readable_text(values, field)
        filled = pc.fill_null(texts, "")
        return pc.if_else(pc.equal(pc.binary_length(filled), 0), DEFAULT_PARTITION, filled)

    @property
    def may_nest(self) -> bool:
        """Return whether the path of one row may lie below that of another: values may hold slashes."""
        plain = frozenset(self.fields) - self.timestamp_fields
        return bool(plain) and not self.url_encode and not self.slash_dates

    def check(self) -> None:
        """Raises ConfigError for options of timestamps that cannot be, RecordKeyError when they make no folder names."""
        if self.timestamps is not None:
            self._folder(min(self.timestamp_fields), self.timestamps.check())

    def _is_timestamp(self, field: str) -> bool:
        return self.timestamps is not None and field in self.timestamp_fields

    def _values(self, table: pa.Table, field: str) -> pa.ChunkedArray:
        if find_field(table.schema, field) is None:
            raise RecordKeyError(
                f"Partition column {field!r} is missing",
                found=f"columns {', '.join(table.schema.names)}",
                fix="add the column",
            )
        values = values_of(table, field)
        if pa.types.is_timestamp(values.type) and not self._is_timestamp(field):
            raise RecordKeyError(
                f"Column {field!r} cannot be a partition column",
                found=f"type {values.type}: Hudi cannot read the folder names that it makes of timestamps",
                fix="partition by a date or a string made of it",
            )
        return values

    def _texts(self, table: pa.Table, field: str) -> pa.ChunkedArray:
        values = self._values(table, field)
        if self._is_timestamp(field):
            assert self.timestamps is not None
            return self.timestamps.texts(values, field)
        return key_text(values, field)

    def _folders(self, texts: pa.ChunkedArray, field: str) -> pa.ChunkedArray:
        # Partitions are few: the folder of each distinct text is made once.
        encoded = pc.dictionary_encode(texts, null_encoding="encode")
        chunks = []
        for chunk in encoded.chunks:
            folders = pa.array([self._folder(field, value) for value in chunk.dictionary.to_pylist()], pa.string())
            chunks.append(folders.take(chunk.indices))
        return pa.chunked_array(chunks, pa.string())

    def _folder(self, field: str, value: str | None) -> str:
        flaw = self._flaw(field, value)
        if flaw is not None:
            raise RecordKeyError(
                f"Partition column {field!r} has a value that is {flaw.problem}", found=f"{value!r:.200}", fix=flaw.fix
            )
        return self._folder_name(field, value)

    def _folder_name(self, field: str, value: str | None) -> str:
        if self.slash_dates:
            return (value or "").replace("-", "/")
        text = value or DEFAULT_PARTITION
        if self.url_encode:
            text = escape_path_name(text)
        return f"{field}={text}" if self.hive_style else text

    def _flaw(self, field: str, value: str | None) -> _Flaw | None:
        """Why a value has no folder; None when it has one."""
        if self.slash_dates:
            # Hudi's own operations make different folders of null and empty values, and no reader could read their parts.
            return None if value is not None and _DAY.fullmatch(value) else _NO_DAY
        text = value or DEFAULT_PARTITION
        steps = self._folder_name(field, value).split("/")
        # Hadoop's paths cannot hold a colon; they drop or resolve the other steps, and Hudi then no longer finds the rows.
        colon = ":" in text and not self.url_encode
        if colon or not {"", ".", ".."}.isdisjoint(steps) or steps[0] == ".hoodie":
            return _NO_FOLDER
        if "\0" in text or any(len(step.encode()) > _NAME_BYTES for step in steps):
            return _NO_NAME
        return None


@dataclass(frozen=True, slots=True)
class _Flaw:
    problem: str
    fix: str


_NO_DAY = _Flaw(
    "no day",
    "correct the value, or load into a table without hoodie.datasource.write.slash.separated.date.partitioning",
)
_NO_FOLDER = _Flaw(
    "no folder name",
    "correct the value, or create the table with hoodie.datasource.write.partitionpath.urlencode=true",
)
_NO_NAME = _Flaw("no folder name, with a zero byte or more than 255 bytes", "correct the value")


def escape_path_name(text: str) -> str:
    """Percent-encode characters that a folder name cannot have, as Hive and Hudi do."""
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)
