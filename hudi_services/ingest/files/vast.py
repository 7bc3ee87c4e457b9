"""Whole numbers that 64 bits do not hold. Arrow guesses doubles, which lose their last digits; here they are decimals."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.ingest.exact import may_hold
from hudi_services.ingest.files.unite import common_type, unite

WHOLE = pa.decimal128(38, 0)
_LIMIT = 2**63
_IN_JSON = re.compile(rb"([:\[,]\s*)-?[0-9]{19,}(?=\s*[,}\]])")
_IN_CSV = r"^[+-]?[0-9]+$"


@dataclass(frozen=True)
class VastJson:
    """Columns with vast numbers, and the lines with 0 in their place."""

    schema: pa.Schema
    lines: list[bytes]


def vast_json(lines: list[bytes], rows: pa.Table) -> VastJson | None:
    """The vast numbers of JSON lines whose columns were guessed as `rows`; None when there are none, which is quick to see."""
    if not any(may_hold(column, float(_LIMIT)) for column in rows.columns):
        return None
    schemas = [_schema(line) for line in lines if _IN_JSON.search(line)]
    schema = unite(schemas, guessed=True)
    return VastJson(schema, [_IN_JSON.sub(rb"\g<1>0", line) for line in lines]) if schema.names else None


def csv_number_type(texts: pa.ChunkedArray, name: str, guess: pa.ChunkedArray) -> pa.DataType:
    """The type of a CSV column with these `texts` that was guessed as double.

    Raises SchemaConflictError when it has vast whole numbers beside fractions: no type holds both.
    """
    if not may_hold(guess, float(_LIMIT)):
        return guess.type
    texts = pc.utf8_trim_whitespace(texts.drop_null())
    whole = texts.filter(pc.match_substring_regex(texts, _IN_CSV))
    if not len(whole) or not _is_vast(whole):
        return guess.type
    if len(whole) < len(texts):
        return common_type(WHOLE, guess.type, name, guessed=True)
    return WHOLE


def _is_vast(whole: pa.ChunkedArray) -> bool:
    try:
        pc.cast(whole, pa.int64())
    except pa.ArrowInvalid:
        return True
    return False


def _schema(line: bytes) -> pa.Schema:
    try:
        kind = _type_of(json.loads(line))
    except ValueError:  # two objects in one line: the reader quarantines what does not fit
        kind = pa.null()
    return pa.schema([] if pa.types.is_null(kind) else list(kind.fields))


def _type_of(value: Any) -> pa.DataType:
    """Its structs and lists down to vast numbers; null for all else."""
    if isinstance(value, dict):
        kinds = {name: _type_of(each) for name, each in value.items()}
        fields = [(name, kind) for name, kind in kinds.items() if not pa.types.is_null(kind)]
        return pa.struct(fields) if fields else pa.null()
    if isinstance(value, list):
        kind = reduce(lambda one, other: common_type(one, other, "", guessed=True), map(_type_of, value), pa.null())
        return kind if pa.types.is_null(kind) else pa.list_(kind)
    vast = isinstance(value, int) and not -_LIMIT <= value < _LIMIT
    return WHOLE if vast else pa.null()
