"""Words for a missing value, such as n/a, in CSV columns that otherwise hold numbers or times."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.model import Csv
from hudi_services.sources.infer.majority_type import mostly_numbers
from hudi_services.sources.infer.time_formats import fitting_formats
from hudi_services.sources.ingest.files.csv_rows import NULL_TEXTS, with_nulls
from hudi_services.sources.ingest.shape.duck import Duck

_WORD = r"(?i)^\s*(?:n/?a|n\.a\.?|null|none|nil|-{1,3}|\?|#n/?a|\\n|\(null\)|<null>)\s*$"
_DEFAULTS = frozenset(NULL_TEXTS.to_pylist())
_KINDS = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.bool_())


def null_words(rows: pa.Table, csv: Csv, duck: Duck) -> tuple[dict[str, list[str]], Mapping[str, pa.DataType]]:
    """The words that each text column of `rows` has in place of values, and the types of its other values.

    A column whose other values are texts has none: there `-` may be a text like others. The type of times in other forms than
    ISO's is left out, as `timestamps` gives it.
    """
    words: dict[str, list[str]] = {}
    kinds: dict[str, pa.DataType] = {}
    for field in rows.schema if csv.null_values is None else ():
        column = rows[field.name]
        null_texts = _words(column) if pa.types.is_string(field.type) else []
        values = with_nulls(column, null_texts).drop_null() if null_texts else column
        if not null_texts or not len(values):
            continue
        kind = _kind(values, csv)
        if kind is None and not fitting_formats(values.combine_chunks(), duck):
            continue
        if kind is not None and set(null_texts) <= _DEFAULTS:  # null in such a column without a word
            continue
        words[field.name] = null_texts
        if kind is not None:
            kinds[field.name] = kind
    return words, kinds


def _words(column: pa.ChunkedArray) -> list[str]:
    """The distinct words: few."""
    unique = pc.unique(column).drop_null()
    result: list[str] = unique.filter(pc.match_substring_regex(unique, _WORD)).to_pylist()
    return sorted({word.strip() for word in result})


def _kind(values: pa.ChunkedArray, csv: Csv) -> pa.DataType | None:
    number = mostly_numbers(pa.table({"values": values}), csv).get("values")
    if number is not None:
        return number
    for kind in _KINDS:
        try:
            pc.cast(pc.utf8_trim_whitespace(values), kind)
        except pa.ArrowInvalid:
            continue
        return kind
    return None
