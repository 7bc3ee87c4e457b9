"""Whole numbers of JSON that 64 bits do not hold. Arrow guesses doubles, which lose their last digits; here they are decimals."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa

from hudi_services.sources.ingest.exact_numbers import may_hold
from hudi_services.sources.ingest.files.json_rows import Lines
from hudi_services.sources.ingest.files.schema_union import common_type, unite

WHOLE = pa.decimal128(38, 0)
_LIMIT = 2**63
_IN_JSON = re.compile(rb"([:\[,]\s*)-?[0-9]{19,}(?=\s*[,}\]])")


@dataclass(frozen=True)
class VastJson:
    """Columns with vast numbers, the numbers of lines that have some, and all lines with 0 in their place."""

    schema: pa.Schema
    numbers: frozenset[int]
    lines: Lines


def vast_json(lines: Lines, rows: pa.Table) -> VastJson | None:
    """The vast numbers of JSON lines whose columns were guessed as `rows`; None when there are none, which is quick to see."""
    if not any(may_hold(column, float(_LIMIT)) for column in rows.columns):
        return None
    result = {
        number: _schema(line) for number, line in zip(lines.numbers, lines.texts, strict=True) if _IN_JSON.search(line)
    }
    schema = unite(result.values(), guessed=True)
    if not schema.names:
        return None
    return VastJson(
        schema, frozenset(result), Lines([_IN_JSON.sub(rb"\g<1>0", line) for line in lines.texts], lines.numbers)
    )


def _schema(line: bytes) -> pa.Schema:
    try:
        kind = _type_of(json.loads(line))
    except ValueError:  # two objects in one line: the reader quarantines what does not fit
        kind = pa.null()
    return pa.schema([] if pa.types.is_null(kind) else list(kind.fields))


def _type_of(value: Any) -> pa.DataType:
    """Its structs and lists down to vast numbers; null for all else."""
    if isinstance(value, dict):
        kinds = {name: _type_of(item) for name, item in value.items()}
        fields = [(name, kind) for name, kind in kinds.items() if not pa.types.is_null(kind)]
        return pa.struct(fields) if fields else pa.null()
    if isinstance(value, list):
        kind = reduce(lambda one, other: common_type(one, other, "", guessed=True), map(_type_of, value), pa.null())
        return kind if pa.types.is_null(kind) else pa.list_(kind)
    vast = isinstance(value, int) and not -_LIMIT <= value < _LIMIT
    return WHOLE if vast else pa.null()
