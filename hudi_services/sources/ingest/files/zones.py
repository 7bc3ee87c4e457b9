"""Times in JSON with and without a zone: Arrow guesses one type for both, and moves those with a zone to UTC."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.ingest.files.json_rows import Lines, json_tables, readable

_ZONED = r"[T ].*(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"


def with_zones(lines: Lines, guessed: pa.Schema) -> pa.Schema:
    """The columns guessed of `lines`, with moments in UTC where all times of a column have a zone, and text where some have."""
    timed = [field for field in guessed if _has_times(field.type)]
    if not timed:
        return guessed
    for _, texts in json_tables(lines, readable(pa.schema(timed)), _ignore, others="ignore"):
        for field in timed:
            kind = _with_zone(field.type, texts[field.name])
            guessed = guessed.set(guessed.get_field_index(field.name), field.with_type(kind))
    return guessed


def _has_times(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_has_times(field.type) for field in kind.fields)
    if pa.types.is_list(kind):
        return _has_times(kind.value_type)
    return bool(pa.types.is_timestamp(kind))


def _with_zone(kind: pa.DataType, texts: pa.ChunkedArray | pa.Array) -> pa.DataType:
    if pa.types.is_struct(kind):
        fields = [
            field.with_type(_with_zone(field.type, pc.struct_field(texts, n))) for n, field in enumerate(kind.fields)
        ]
        return pa.struct(fields)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_with_zone(kind.value_type, pc.list_flatten(texts))))
    if not pa.types.is_timestamp(kind):
        return kind
    zoned = pc.match_substring_regex(texts, _ZONED)
    if not pc.any(zoned).as_py():
        return kind
    return pa.timestamp(kind.unit, "UTC") if pc.all(zoned).as_py() else pa.string()


def _ignore(_text: object, _reason: str) -> None:
    """All lines were parsed before."""
