"""Rows of a file in the types that are declared or were guessed; those that do not fit go to the quarantine with their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.cache import cached_property
from hudi_services.entry.feed.model import Feed
from hudi_services.runtime.json_values import json_row_values, json_value
from hudi_services.sources.ingest.exact_cast import ExactFit
from hudi_services.sources.ingest.files.code_check import CodeCheck
from hudi_services.sources.ingest.files.csv_rows import with_nulls, without_null_texts
from hudi_services.sources.ingest.files.declaration import as_moments, defaults, in_utc, is_moment
from hudi_services.sources.ingest.files.numbers import is_number, marks, readable
from hudi_services.sources.ingest.files.text import RejectText
from hudi_services.sources.ingest.source import Where
from hudi_services.sources.ingest.typed_columns import typed

_NOTED = re.compile(r"'([^']*) (\((?:its decimal mark is .|in hexadecimal)\))'")


@dataclass(frozen=True)
class Fitting:
    """Gives rows the types of `schema`; columns that get theirs `later` stay as they are, texts of CSV made readable for it."""

    schema: pa.Schema
    feed: Feed
    file_format: str
    later: frozenset[str] = frozenset()
    codes: CodeCheck = field(default_factory=CodeCheck)

    def fitted(self, rows: pa.Table, where: Where, reject: RejectText) -> tuple[pa.Table, Where]:
        """The rows that fit, in `schema`, and their places. `where` returns the places of all rows."""
        texts = self._without_nulls(rows) if self.file_format == "csv" else rows
        readable = self._in_utc(self._readable(texts))
        fields = [column for column in self.schema if column.name not in self.later]
        cast, bad, reasons = typed(readable, pa.schema(fields), self._exact)
        codes = self.codes.misfits(texts, cast, self.feed.rename) if self.file_format == "csv" else {}
        cast = self._with_defaults(cast)
        unchanged = {
            name: readable[name] if name in readable.column_names else pa.nulls(rows.num_rows) for name in self.later
        }
        cast = pa.table({name: unchanged[name] if name in unchanged else cast[name] for name in self.schema.names})
        places_of_bad = np.flatnonzero(bad).tolist()
        why = {place: self._explained(why, rows, place) for place, why in zip(places_of_bad, reasons, strict=True)}
        why = {**codes, **why}
        for name in self._required:
            for place in np.flatnonzero(pc.is_null(cast[name]).to_numpy()).tolist():
                why.setdefault(place, f"column {name} has no value, and is declared with nullable: false")
        if not why:
            return cast, where
        wrong = sorted(why)
        for place, at, row in zip(wrong, where(wrong), json_row_values(rows.take(pa.array(wrong))), strict=True):
            reject(row, f"{at}: {why[place]}")
        good = np.ones(rows.num_rows, dtype=bool)
        good[wrong] = False
        return cast.filter(pa.array(good)), partial(_among, where, np.flatnonzero(good))

    def _without_nulls(self, rows: pa.Table) -> pa.Table:
        """Rows of CSV with null for the texts that stand for it."""
        for column in self.schema:
            place = rows.schema.get_field_index(column.name)
            if place < 0 or not pa.types.is_string(rows.schema.field(place).type):
                continue
            texts, words = rows.column(place), self.feed.csv.null_texts_of(column.name)
            if words:
                texts = with_nulls(texts, words)
            if not _is_text(column.type) and self.feed.csv.null_texts is None:
                texts = without_null_texts(texts)
            if texts is not rows.column(place):
                rows = rows.set_column(place, column.name, texts)
        return rows

    def _readable(self, rows: pa.Table) -> pa.Table:
        for column in self.schema:
            place = rows.schema.get_field_index(column.name)
            if place < 0 or not pa.types.is_string(rows.schema.field(place).type) or _is_text(column.type):
                continue
            texts = rows.column(place)
            if self.file_format == "csv":
                texts = readable(texts, column.type, self.feed.csv)
            if column.name in self.feed.columns and self._is_typed(column.name) and is_moment(column.type):
                texts = in_utc(texts)
            rows = rows.set_column(place, column.name, texts)
        return rows

    def _in_utc(self, rows: pa.Table) -> pa.Table:
        for name, fit in self._exact.items():
            place = rows.schema.get_field_index(name)
            if place >= 0:
                column = rows.column(place)
                rows = rows.set_column(place, name, column.cast(as_moments(column.type, fit.kind)))
        return rows

    @cached_property
    def _exact(self) -> dict[str, ExactFit]:
        """The declared columns of Parquet files, which have types of their own: no value may become another one."""
        if self.file_format != "parquet":
            return {}
        return {name: ExactFit(self.schema.field(name).type) for name in self.feed.columns if self._is_typed(name)}

    def _with_defaults(self, rows: pa.Table) -> pa.Table:
        for name, value in self._defaults.items():
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, rows.schema.field(place), pc.fill_null(rows.column(place), value))
        return rows

    @cached_property
    def _defaults(self) -> dict[str, pa.Scalar]:
        result = {name: value for name, value in defaults(self.feed).items() if self._is_typed(name)}
        return {name: value.cast(self.schema.field(name).type) for name, value in result.items()}

    def _explained(self, reason: str, rows: pa.Table, place: int) -> str:
        """The reason with the value, and the marks that make a number of it. Some of Arrow's reasons lack the value, and some
        show the note on a number (see `readable`) as its part."""
        reason = _NOTED.sub(r"'\1' \2", reason)
        names = [name for name in rows.column_names if reason.startswith(f"column {name}: ")]
        if not names:
            return reason
        name = max(names, key=len)
        value = str(json_value(rows[name][place]))
        reason = reason if value in reason else f"{reason} ({value!r})"
        is_csv_number = self.file_format == "csv" and is_number(self.schema.field(name).type)
        key = marks(value, self.feed.csv) if is_csv_number else None
        return reason if key is None else f"{reason}; {key} reads it"

    def _is_typed(self, name: str) -> bool:
        return name in self.schema.names and name not in self.later

    @cached_property
    def _required(self) -> list[str]:
        return [name for name, column in self.feed.columns.items() if not column.nullable and name in self.schema.names]


def _among(where: Where, row_numbers: np.ndarray, places: Sequence[int]) -> Sequence[str]:
    """The places of rows among those that were kept."""
    return where(row_numbers[list(places)].tolist())


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))
