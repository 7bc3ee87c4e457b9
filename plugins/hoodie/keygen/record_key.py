"""Record keys from key columns, vectorised (format notes, section 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
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
        parts = [
            pc.binary_join_element_wise(f"{field}:", _marked(text), "")
            for field, text in zip(self.fields, texts, strict=True)
        ]
        return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, ",")

    def unusable(self, table: pa.Table) -> pa.ChunkedArray:
        """Boolean, never null: true where no key can be made, as every part of it is null or empty or some part has no text."""
        parts = [readable_text(values_of(table, field), field) for field in self.fields]
        result = _all_blank([texts for texts, _ in parts])
        for _, bad in parts:
            result = pc.or_(result, bad)
        return result


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
