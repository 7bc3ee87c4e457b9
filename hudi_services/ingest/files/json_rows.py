"""Files of JSON objects, one a line: blocks of lines, and these as columns."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.json as pa_json

from hoodie.storage import File
from hudi_services.ingest.exact import is_changed_json, may_hold
from hudi_services.ingest.files import text
from hudi_services.ingest.files.text import RejectText, without_mark

_START = 4096  # bytes


def line_blocks(source: File) -> Iterator[list[bytes]]:
    """Lines of text, about a block at a time. Raises UnicodeError for UTF-16."""
    rest = without_mark(source.read(_START))
    while data := source.read(text.BLOCK):
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        yield [line for line in lines if line.strip()]
    last = [line for line in rest.split(b"\n") if line.strip()]
    if last:
        yield last


def json_tables(
    lines: list[bytes], schema: pa.Schema | None, reject: RejectText, others: str = "error"
) -> Iterator[tuple[list[bytes], pa.Table]]:
    """Lines that parse together, and their rows with the columns of `schema`; without one columns and types are guessed.

    Where lines do not parse together they are halved until the bad ones stand alone: those are rejected. With a schema such
    are those with a field that it lacks, too, unless `others` is "ignore".
    """
    if not lines:
        return
    data = b"\n".join(lines)
    try:
        data.decode()  # Arrow's JSON reader does not check it, and text that is none could never be read again
        found = pa_json.read_json(
            io.BytesIO(data),
            read_options=pa_json.ReadOptions(block_size=len(data) + 1, use_threads=False),
            parse_options=pa_json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else others
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if len(lines) == 1:
            reject(lines[0].decode(errors="replace"), str(error))
            return
        half = len(lines) // 2
        yield from json_tables(lines[:half], schema, reject, others)
        yield from json_tables(lines[half:], schema, reject, others)
    else:
        yield lines, found


def exact_json_tables(lines: list[bytes], schema: pa.Schema, reject: RejectText) -> Iterator[pa.Table]:
    """Rows with the columns of `schema`. Lines whose numbers its floats would change are rejected, too."""
    for held, rows in json_tables(lines, schema, reject):
        changed = [line for line in held if is_changed_json(line, schema)] if any(map(may_hold, rows.columns)) else []
        if not changed:
            yield rows
            continue
        for line in changed:
            reject(line.decode(), "a number that its column of floats would change")
        bad = frozenset(changed)
        kept = [line for line in held if line not in bad]
        yield from (rows for _, rows in json_tables(kept, schema, reject))


def readable(schema: pa.Schema) -> pa.Schema:
    """The types as which JSON values are read before they are cast to those of `schema`.

    Arrow's JSON reader takes dates as numbers only, does not check the precision of a decimal that it rescales, and of times with
    a zone makes such without one, and the other way.
    """
    return pa.schema([field.with_type(_readable(field.type)) for field in schema])


def _readable(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_decimal128(kind):
        return pa.decimal128(38, kind.scale)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_readable(field.type)) for field in kind.fields])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_readable(kind.value_type)))
    return kind
