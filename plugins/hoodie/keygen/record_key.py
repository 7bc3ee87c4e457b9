"""Record keys from key columns, vectorised (format notes, section 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
from hoodie.keygen.shared_places import sharing
from hoodie.keygen.text import key_text, readable_text
from hoodie.schema import find_field, values_of

NULL_PART, EMPTY_PART = "__null__", "__empty__"


@dataclass(frozen=True, slots=True)
class RecordKeys:
    """How a table names its rows.

    With one plain field the key is the value's text; otherwise `field:value` pairs joined by commas. Fields may be dotted.
    """

    fields: tuple[str, ...]
    with_names: bool

    def of(self, table: pa.Table) -> pa.ChunkedArray:
        """The record key of each row (utf8, never null).

        Raises RecordKeyError for a column that is missing, and for rows whose key is null or empty.
        """
        for field in self.fields:
            if find_field(table.schema, field) is None:
                raise RecordKeyError(
                    f"Record key column {field!r} is missing",
                    found=f"columns {', '.join(table.schema.names)}",
                    fix="add the column, or correct hoodie.table.recordkey.fields before the table is created",
                )
        texts = [key_text(values_of(table, field), field) for field in self.fields]
        count = pc.sum(_all_blank(texts)).as_py() or 0
        if count:
            raise RecordKeyError(
                f"Record key {', '.join(self.fields)} is null or empty",
                found=f"{count} of {table.num_rows} rows",
                fix="repair or drop these rows; ingestion can quarantine them",
            )
        if not self.with_names:
            return texts[0]
        return self._joined(texts)

    def unusable(self, table: pa.Table) -> pa.ChunkedArray:
        """Boolean, never null: true where no key can be made, as every part of it is null or empty or some part has no text."""
        texts = [readable_text(values_of(table, field), field)[0] for field in self.fields]
        return pc.or_(_all_blank(texts), self.unstable(table))

    def unstable(self, table: pa.Table) -> pa.ChunkedArray:
        """Boolean, never null: true where some part of the key has no text that is sure (see `readable_text`)."""
        return reduce(pc.or_, (readable_text(values_of(table, field), field)[1] for field in self.fields))

    def colliding(self, table: pa.Table, within: Sequence[pa.ChunkedArray] = ()) -> pa.ChunkedArray:
        """Boolean, never null: true where another row of `table` has other values and the same key, and the same values of the
        columns `within` (a table may hold a key once in each partition).

        Hudi escapes nothing in a key of several columns: `a:x,b:y,b:z` is (`x`, `y,b:z`) and (`x,b:y`, `z`), and the text
        `__null__` is as null. Values are only compared where one holds such a text.
        """
        if not self._ambiguous(table):
            return pa.chunked_array([pa.repeat(False, table.num_rows)])
        texts = [readable_text(values_of(table, field), field)[0] for field in self.fields]
        return sharing([self._joined(texts), *within], texts)

    def mistakable(self, table: pa.Table, keys: pa.ChunkedArray) -> pa.ChunkedArray:
        """Boolean, never null: true where other values could have the key too. `keys` are those of the rows of `table`."""
        result = pa.chunked_array([pa.repeat(False, table.num_rows)])
        for place, field in enumerate(self.fields if len(self.fields) > 1 else ()):
            if place:
                result = pc.or_(result, pc.greater(pc.count_substring(keys, f",{field}:"), 1))
            values = values_of(table, field)
            if pa.types.is_string(values.type):  # no number or date has such a text
                blank = pc.is_in(values, value_set=pa.array([None, "", NULL_PART, EMPTY_PART]))
                result = pc.or_(result, blank)
        return result

    def _ambiguous(self, table: pa.Table) -> bool:
        """True when some value could be read as another part of its key. One of two rows that collide has such a value."""
        marks = pa.array([NULL_PART, EMPTY_PART])
        for place, field in enumerate(self.fields if len(self.fields) > 1 else ()):
            values = values_of(table, field)
            if not pa.types.is_string(values.type):  # no number or date has such a text
                continue
            after = "".join(self.fields[place + 1 : place + 2])
            if pc.any(pc.is_in(values, value_set=marks)).as_py():
                return True
            if after and pc.any(pc.match_substring(values, f",{after}:")).as_py():
                return True
        return False

    def _joined(self, texts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
        parts = [
            pc.binary_join_element_wise(f"{field}:", _marked(text), "")
            for field, text in zip(self.fields, texts, strict=True)
        ]
        return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, ",")


def generated_keys(instant: str, split: int, first_row: int, rows: int) -> pa.Array:
    """Keys for rows of a table without key columns: `<instant>_<split of the input>_<row of the split>` (utf8)."""
    numbers = pc.cast(pa.array(np.arange(first_row, first_row + rows)), pa.string())
    return pc.binary_join_element_wise(f"{instant}_{split}", numbers, "_")


def _marked(text: pa.ChunkedArray) -> pa.ChunkedArray:
    filled = pc.fill_null(text, NULL_PART)
    return pc.if_else(pc.equal(pc.binary_length(filled), 0), EMPTY_PART, filled)


def _all_blank(texts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Boolean, never null: true where all of the texts are null or empty."""
    blanks = (pc.fill_null(pc.equal(pc.binary_length(text), 0), True) for text in texts)
    return reduce(pc.and_, blanks)
