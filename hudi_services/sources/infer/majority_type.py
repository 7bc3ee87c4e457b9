"""Columns of CSV files that are numbers but for a few values: pure."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.entry.feed.model import Csv
from hudi_services.sources.ingest.files.csv_rows import without_null_texts
from hudi_services.sources.ingest.files.numbers import are_codes, exact_type, first_exponent, readable

_SHARE = 0.9  # from this share of the values on the others are mistakes


def mostly_numbers(rows: pa.Table, csv: Csv) -> dict[str, pa.DataType]:
    """The types of the text columns of which nearly all values are numbers, and none a code such as 007.

    `rows` are those of a table that was loaded from CSV files, which `csv` says how to read.
    """
    result = {}
    for field in rows.schema:
        if not pa.types.is_string(field.type):
            continue
        texts = rows[field.name] if csv.null_texts is not None else without_null_texts(rows[field.name])
        if (kind := _number(texts.drop_null(), csv)) is not None:
            result[field.name] = kind
    return result


def _number(texts: pa.ChunkedArray, csv: Csv) -> pa.DataType | None:
    if are_codes(texts):
        return None
    numbers = readable(texts, pa.float64(), csv)
    numbers = numbers.filter(pc.match_substring_regex(numbers, r"^[+-]?[0-9]*\.?[0-9]+$"))
    return exact_type(numbers) if len(texts) and len(numbers) >= _SHARE * len(texts) else None


def exponents(rows: pa.Table) -> dict[str, str]:
    """The text columns whose values are whole numbers but for codes such as 1E5, each with one of these."""
    texts = [column for column in rows.schema if pa.types.is_string(column.type)]
    codes = {column.name: first_exponent(rows[column.name]) for column in texts}
    return {name: code for name, code in codes.items() if code is not None}


def torn_columns(schemas: Sequence[pa.Schema]) -> list[str]:
    """The columns that are text in one file and no text in another one."""
    texts: dict[str, set[bool]] = {}
    for field in (field for schema in schemas for field in schema):
        texts.setdefault(field.name, set()).add(pa.types.is_string(field.type))
    return [name for name, kinds in texts.items() if len(kinds) > 1]
