"""Texts of CSV and JSON that are codes, such as 007, in columns of numbers.

A first load keeps a column with such texts as text, if the registry does not declare it. Another one would make numbers of them,
and of different codes one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.model import Feed
from hudi_services.runtime.json_values import json_value
from hudi_services.sources.ingest.files.numbers import is_number
from hudi_services.sources.ingest.typed_columns import cast_text

_BLANKS = r"[\s\v\p{Z}\x1c-\x1f]*"  # which are left out around numbers
_PADDED = rf"^{_BLANKS}[+-]?0[0-9]+{_BLANKS}$"
_CODE = rf"^{_BLANKS}(?:\+|-?0[0-9])"
_QUOTED = re.compile(rb':\s*"(?:\+|-?0[0-9]|[0-9]+[eE])')  # in a line of JSON
_CODE_OR_EXPONENT = rf"{_CODE}|^{_BLANKS}[0-9]+[eE][0-9]+{_BLANKS}$"


@dataclass(frozen=True)
class CodeCheck:
    """Checks the columns, by their names in the files, whose type is that of the table alone, and those of the record key.

    Whole numbers that begin with a further 0 are codes in all of them. A sign + and exponents such as 1E5 are so in the columns
    of keys, partitions and order alone (`strict`): elsewhere they are other ways to write the same number.
    """

    columns: frozenset[str] = frozenset()
    strict: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of(
        cls, feed: Feed, known: frozenset[str], later: frozenset[str], strict: frozenset[str], keys: frozenset[str]
    ) -> CodeCheck:
        """Columns that the feed casts `later` have the type that the user wants, and so have those that it declares.

        But `infer` declares all columns, and two codes of a key that are one number would be one row. So columns of the record
        key (`keys`) are checked unless they are cast.
        """
        declared = frozenset(feed.columns)
        return cls((known - declared | declared & keys) - later, strict)

    def misfits(self, texts: pa.Table, cast: pa.Table, renamed: Mapping[str, str]) -> dict[int, str]:
        """The places of rows with such a text, and why, among `texts` and the same rows `cast` to the types of the table."""
        misfits: dict[int, str] = {}
        for column in cast.schema:
            place = texts.schema.get_field_index(column.name)
            if place < 0 or column.name not in self.columns or not is_number(column.type):
                continue
            are_codes = pc.match_substring_regex(texts.column(place), self._form(column))
            if not pc.any(are_codes).as_py():
                continue
            name = renamed.get(column.name, column.name)
            for row in np.flatnonzero(pc.fill_null(are_codes, False).to_numpy()).tolist():
                number = cast[column.name][row]
                if number.is_valid:
                    code = texts.column(place)[row].as_py()
                    misfits.setdefault(row, _reason(name, code, number, is_fixed=column.name in self.strict))
        return misfits

    def json_misfit(self, line: bytes, schema: pa.Schema, renamed: Mapping[str, str]) -> str | None:
        """The reason why an object of JSON is no row: a string that its column of decimals takes for a number. None: it is one.

        Other columns of numbers take no strings of JSON.
        """
        if _QUOTED.search(line) is None:
            return None
        try:
            row = json.loads(line)
        except ValueError:  # several objects in one line, which are not checked one by one
            return None
        for column in schema:
            text = row.get(column.name)
            if column.name not in self.columns or not isinstance(text, str) or not pa.types.is_decimal(column.type):
                continue
            if pc.match_substring_regex(pa.scalar(text), self._form(column)).as_py():
                name = renamed.get(column.name, column.name)
                number = pa.scalar(text).cast(column.type)
                return _reason(name, text, number, is_fixed=column.name in self.strict)
        return None

    def _form(self, column: pa.Field) -> str:
        if column.name not in self.strict:
            return _PADDED
        return _CODE if pa.types.is_integer(column.type) else _CODE_OR_EXPONENT


def _reason(name: str, text: str, number: pa.Scalar, *, is_fixed: bool) -> str:
    """The remedy, too. No ALTER changes a column of keys, partitions or order (`is_fixed`)."""
    change = f"say ALTER TABLE … ALTER COLUMN {name} TYPE string"
    if is_fixed:
        change = f"load into a new table, with `cast: {{{name}: string}}`"
    number_text = (
        f"{text!r} would be the number {json_value(number)}: say `{cast_text(name, number.type)}` in the source"
    )
    return f"column {name}: {number_text} if it is one; if it is a code, {change}"
