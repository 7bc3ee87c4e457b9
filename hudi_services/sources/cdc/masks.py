"""Masks of columns: values that leave no trace in the lake. They are applied before anything is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ConfigError
from hoodie.model.changes import AFTER, BEFORE
from hudi_services.sources.cdc.credentials import password_of
from hudi_services.sources.database_pool import DatabasePool

Mask = Literal["mask", "hash", "drop"]
MASKED = "***"
_POOL = DatabasePool({"threads": "1", "enable_external_access": "false"})  # DuckDB hashes columns, not values
KEY = "hudi_services.cdc.masks"
"""The extra metadata of commits that holds `Masks.text`."""


@dataclass(frozen=True)
class Masks:
    """Masks by the names of columns: `mask` writes `***` for text and null for other values, `hash` writes the SHA-256
    of `secret` and the value in hexadecimal digits, `drop` leaves the column out. Nulls stay null.

    Values that are equal have equal hashes, so hashed columns still join and may be keys. With `only` some columns all others are
    dropped, also those that the server adds later. Masks `of_many` tables, whose columns are named in small letters, are for each
    column of that name with any capitals. A table need not have it.
    """

    columns: Mapping[str, Mask] = field(default_factory=dict)
    secret: str = field(default="", repr=False)
    of_many: bool = False
    only: frozenset[str] = frozenset()

    def of(self, name: str) -> Mask | None:
        """Return the mask of a column, None where it has none."""
        known_as = name.lower() if self.of_many else name
        return "drop" if self.only and known_as not in self.only else self.columns.get(known_as)

    @property
    def are_none(self) -> bool:
        """True if all columns stay as they are."""
        return not (self.columns or self.only)

    @property
    def text(self) -> str:
        """The text that commits hold of the masks: columns, and a digest that changes with the secret. Empty without masks."""
        if self.are_none:
            return ""
        hashed = "hash" in self.columns.values()
        digest = sha256(f"masks of {len(self.secret)}:{self.secret}".encode()).hexdigest()[:12] if hashed else ""
        chosen = {"only": sorted(self.only)} if self.only else {}
        return json.dumps({"columns": dict(sorted(self.columns.items())), "secret": digest, **chosen})

    def check(self, names: Iterable[str], key: Iterable[str], table: str) -> None:
        """Raise ConfigError for a column that the table does not have, and for a key that rows would share."""
        known = set(names)
        if not self.of_many and (unknown := sorted({*self.columns, *self.only} - known)):
            raise ConfigError(
                f"The table {table} has no column {unknown[0]!r} to mask"
                if unknown[0] in self.columns
                else f"The table {table} has no column {unknown[0]!r} to load",
                found=f"columns {', '.join(sorted(known))}",
                fix="correct the name: it has to have the server's capitals",
            )
        if hidden := sorted(name for name in key if self.of(name) == "drop" and name not in self.columns):
            raise ConfigError(
                f"The column {hidden[0]!r} is a part of the key of {table}, and `columns` does not have it",
                fix=f"add {hidden[0]} to `columns`",
            )
        if masked := sorted(name for name in key if self.of(name) in ("mask", "drop")):
            raise ConfigError(
                f"The column {masked[0]!r} is a part of the key of {table}, so it cannot be masked",
                fix=f"hash it: `{masked[0]}: hash` keeps keys apart",
            )

    def kept(self, schema: pa.Schema, inputs: frozenset[str] = frozenset()) -> pa.Schema:
        """Return the columns that are not dropped, with the types of the server, and those in `inputs` (in small letters)."""
        return pa.schema(
            [column for column in schema if self.of(column.name) != "drop" or column.name.lower() in inputs]
        )

    def schema(self, schema: pa.Schema, inputs: frozenset[str] = frozenset()) -> pa.Schema:
        """Return the columns after the masks. `inputs` are as in `kept`."""
        return pa.schema([self._field(column) for column in self.kept(schema, inputs)])

    def batch(self, rows: pa.RecordBatch, inputs: frozenset[str] = frozenset()) -> pa.RecordBatch:
        """Return rows after the masks. `inputs` are as in `kept`."""
        if self.are_none:
            return rows
        schema = self.schema(rows.schema, inputs)
        return pa.record_batch([self._values(column.name, rows[column.name]) for column in schema], schema=schema)

    def changes(self, changes: pa.Table, inputs: frozenset[str] = frozenset()) -> pa.Table:
        """Return changes with images after the masks. `inputs` are as in `kept`."""
        for image in () if self.are_none else (BEFORE, AFTER):
            masked = self.images(changes[image], inputs)
            changes = changes.set_column(changes.schema.get_field_index(image), pa.field(image, masked.type), masked)
        return changes

    def images(self, images: pa.ChunkedArray, inputs: frozenset[str] = frozenset()) -> pa.ChunkedArray:
        """Return rows in structs after the masks. Structs that are null stay null. `inputs` are as in `kept`."""
        if self.are_none:
            return images
        fields = list(self.schema(pa.schema(list(images.type)), inputs))
        chunks = [
            pa.StructArray.from_arrays(
                [self._values(column.name, chunk.field(column.name)) for column in fields],
                fields=fields,
                mask=chunk.is_null(),
            )
            for chunk in images.chunks
        ]
        return pa.chunked_array(chunks, pa.struct(fields))

    def _field(self, column: pa.Field) -> pa.Field:
        return column.with_type(pa.string()) if self.of(column.name) == "hash" else column

    def _values(self, name: str, values: pa.Array) -> pa.Array:
        mask = self.of(name)
        if mask == "mask":
            if not pa.types.is_string(values.type):
                return pa.nulls(len(values), values.type)
            return pc.if_else(pc.is_valid(values), pa.scalar(MASKED), pa.scalar(None, pa.string()))
        return self._hashes(values) if mask == "hash" else values

    def _hashes(self, values: pa.Array) -> pa.Array:
        bytes_ = values if pa.types.is_binary(values.type) else values.cast(pa.string()).cast(pa.binary())
        with _POOL.session() as duck:
            duck.register("rows", pa.table({"value": bytes_}))
            hashes = duck.sql(
                "SELECT sha256(encode(?) || value) AS hash FROM rows", params=[f"{len(self.secret)}:{self.secret}:"]
            ).to_arrow_table()
        return hashes["hash"].combine_chunks().cast(pa.string())


NO_MASKS = Masks()


def source_masks(
    subject: str,
    columns: Mapping[str, Mask],
    server: str,
    hash_key: str | None,
    environ: Mapping[str, str],
    only: Iterable[str] = (),
) -> Masks:
    """Return masks whose hashes have the key in the connection `hash_key` of a server.

    Raises ConfigError about `subject` where a hash has no key.
    """
    if "hash" not in columns.values():
        return Masks(columns, only=frozenset(only))
    if hash_key is None:
        raise ConfigError(
            f"{subject} hashes columns, and the server {server!r} has no hash_key",
            fix="name a connection whose password is the key, such as `hash_key: lake_hashes`. Keep it: another key makes "
            "other hashes",
        )
    return Masks(columns, password_of(hash_key, environ), only=frozenset(only))
