"""Files of JSON objects, one a line or in one array: blocks of objects, and these as columns."""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.json as pa_json

from hoodie.schema.nesting import MAX_LEVELS
from hoodie.storage import File
from hudi_services.sources.ingest.exact_numbers import is_changed_json, may_hold
from hudi_services.sources.ingest.files import text
from hudi_services.sources.ingest.files.json_faults import fault_text
from hudi_services.sources.ingest.files.json_text import ValueShape, rewritten, with_maps, without_maps
from hudi_services.sources.ingest.files.text import RejectText, without_mark
from hudi_services.sources.ingest.typed_columns import unknown_field

_START = 4096  # bytes
_LONGEST = 64 * 1024 * 1024  # characters of an object in an array
_NO_TEXT = "changed from string to"  # Arrow on what is no text in a column of text
ARRAY_HINT = "an array in place of an object: a file that is one array of objects needs `json: {layout: array}`"
LINES_HINT = "an object on several lines: write each object in a line of its own"
_DECODER = json.JSONDecoder()
_SIGNS = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]')
_BLANKS = {"": re.compile(r"\s*"), ",": re.compile(r"\s*(?:,\s*)?")}


@dataclass(frozen=True)
class Lines:
    """Texts of objects, and for each the line of the file (from 1) in which it begins."""

    texts: list[bytes]
    numbers: list[int]

    def part(self, start: int, end: int) -> Lines:
        return Lines(self.texts[start:end], self.numbers[start:end])

    def without(self, texts: frozenset[bytes]) -> Lines:
        places = [place for place, line in enumerate(self.texts) if line not in texts]
        return Lines([self.texts[place] for place in places], [self.numbers[place] for place in places])


def line_blocks(source: File, layout: str = "lines") -> Iterator[Lines]:
    """Objects, about a block at a time. Raises UnicodeError for UTF-16, ArrowInvalid for a text that is not an array."""
    if layout == "array":
        yield from _array_blocks(source)
        return
    tail, line = without_mark(source.read(_START)), 1
    while data := source.read(text.BLOCK):
        lines = (tail + data).split(b"\n")
        tail = lines.pop()
        if (block := _not_blank(lines, line)).texts:
            yield block
        line += len(lines)
    if (block := _not_blank(tail.split(b"\n"), line)).texts:
        yield block


def json_tables(
    lines: Lines, schema: pa.Schema | None, reject: RejectText, others: str = "error"
) -> Iterator[tuple[Lines, pa.Table]]:
    """Lines that parse together, and their rows with the columns of `schema`; without one columns and types are guessed.

    Lines that do not parse together are halved until the bad ones are alone, and these are rejected. With a schema, lines that
    have an unknown field are bad, too, unless `others` is "ignore". Text columns of the schema take numbers as they are
    written, and true and false; its maps take objects. With "infer" the types of unknown fields are guessed.
    """
    if not lines.texts:
        return
    try:
        table = _parsed(lines, schema, others)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if len(lines.texts) == 1:
            line = lines.texts[0]
            why = ARRAY_HINT if _is_array(line) else None
            if "unexpected field" in str(error) and schema is not None:
                why = _undeclared(line, schema)
            reject(line.decode(errors="replace"), f"line {lines.numbers[0]}: {why or fault_text(error, line, schema)}")
            return
        half = len(lines.texts) // 2
        yield from json_tables(lines.part(0, half), schema, reject, others)
        yield from json_tables(lines.part(half, len(lines.texts)), schema, reject, others)
    else:
        yield lines, table


def _parsed(lines: Lines, schema: pa.Schema | None, others: str) -> pa.Table:
    """Raises ArrowInvalid or UnicodeDecodeError when one of them does not parse."""
    if any(map(_is_deep, lines.texts)):
        raise pa.ArrowInvalid(
            f"values are nested too deep: a column has at most {MAX_LEVELS} levels, a list counts as two"
        )
    if not all(
        map(_begins_object, lines.texts)
    ):  # Arrow's JSON reader ends the process at a null in place of an object
        raise pa.ArrowInvalid("not a JSON object")
    rows = _parsed_objects(lines, schema, others)
    if rows.num_rows != len(lines.texts) and not all(map(_is_whole, lines.texts)):
        raise pa.ArrowInvalid(LINES_HINT)
    return rows


def _parsed_objects(lines: Lines, schema: pa.Schema | None, others: str) -> pa.Table:
    if schema is None:
        return _read(lines.texts, None, "infer")
    plain = pa.schema([field.with_type(without_maps(field.type)) for field in schema])
    if plain == schema:
        try:
            return _read(lines.texts, schema, others)
        except pa.ArrowInvalid as error:
            if _NO_TEXT not in str(error):
                raise
    value_shape = ValueShape.of(pa.struct(list(schema)))
    return with_maps(_read([rewritten(line, value_shape) for line in lines.texts], plain, others), schema)


def _read(texts: Sequence[bytes], schema: pa.Schema | None, others: str) -> pa.Table:
    data = b"\n".join(texts)
    data.decode()  # Arrow's JSON reader does not check it, and bytes that are not text could never be read again
    return pa_json.read_json(
        io.BytesIO(data),
        read_options=pa_json.ReadOptions(block_size=len(data) + 1, use_threads=False),
        parse_options=pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others),
    )


def layout_hint(lines: Lines) -> str:
    """A hint how to deliver or declare texts of which no line is an object; empty if no hint fits."""
    if any(map(_is_array, lines.texts)):
        return ARRAY_HINT
    return LINES_HINT if any(line.strip() == b"{" for line in lines.texts) else ""


def _is_array(line: bytes) -> bool:
    """True for a line that begins an array."""
    return line.lstrip()[:1] == b"["


def _begins_object(line: bytes) -> bool:
    return line.lstrip()[:1] == b"{"


def _is_whole(line: bytes) -> bool:
    """True for a line of whole objects."""
    try:
        _objects(line)
    except ValueError:
        return False
    return True


def _is_deep(text: bytes) -> bool:
    """True for values that a table cannot hold. Arrow's JSON reader ends the process where they are nested some 10,000 times."""
    if len(text) <= MAX_LEVELS or text.count(b"{") + 2 * text.count(b"[") <= MAX_LEVELS:
        return False
    level = deepest = 0  # the braces of the row count for the value inside
    for sign in _SIGNS.findall(text):
        level += {b"{": 1, b"[": 2, b"}": -1, b"]": -2}.get(sign, 0)
        deepest = max(deepest, level)
    return deepest > MAX_LEVELS


def exact_json_tables(
    lines: Lines,
    schema: pa.Schema,
    reject: RejectText,
    others: str = "error",
    misfit: Callable[[bytes], str | None] | None = None,
) -> Iterator[tuple[Lines, pa.Table]]:
    """Rows with the columns of `schema`. Lines whose numbers its floats would change are rejected, too, and those for which
    `misfit` returns a reason.

    A line may hold several objects: then it is listed once for each of its rows.
    """
    for block, rows in json_tables(lines, schema, reject, others):
        reasons: dict[bytes, str] = {}
        if misfit is not None:
            reasons = {line: why for line in block.texts if (why := misfit(line)) is not None}
        if any(map(may_hold, rows.columns)):
            changed = [line for line in block.texts if is_changed_json(line, schema)]
            reasons |= dict.fromkeys(changed, "a number that its column of floats would change")
        if not reasons:
            yield _as_often(block, rows.num_rows), rows
            continue
        for line, number in zip(block.texts, block.numbers, strict=True):
            if line in reasons:
                reject(line.decode(), f"line {number}: {reasons[line]}")
        good_blocks = json_tables(block.without(frozenset(reasons)), schema, reject, others)
        yield from ((_as_often(some, rows.num_rows), rows) for some, rows in good_blocks)


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
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field, kind.item_field.with_type(_readable(kind.item_type)))
    return kind


def _undeclared(line: bytes, schema: pa.Schema) -> str | None:
    """The unexpected field, which Arrow does not name; None for one inside a map."""
    try:
        result = unknown_field(pa_json.read_json(io.BytesIO(line)).schema, schema)
    except pa.ArrowException as error:
        return str(error)
    return f"field {result!r} is not among the columns" if result is not None else None


def _not_blank(lines: Sequence[bytes], first: int) -> Lines:
    places = [place for place, line in enumerate(lines) if line.strip()]
    return Lines([lines[place] for place in places], [first + place for place in places])


def _as_often(lines: Lines, rows: int) -> Lines:
    if len(lines.texts) == rows:
        return lines
    counts = [_objects(line) for line in lines.texts]
    return Lines(
        [line for line, count in zip(lines.texts, counts, strict=True) for _ in range(count)],
        [number for number, count in zip(lines.numbers, counts, strict=True) for _ in range(count)],
    )


def _objects(line: bytes) -> int:
    """The number of objects in one line."""
    result, at, all_of_it = 0, 0, line.decode().strip()
    while at < len(all_of_it):
        _, at = _DECODER.raw_decode(all_of_it, at)
        at += len(all_of_it[at:]) - len(all_of_it[at:].lstrip())
        result += 1
    return result


def _array_blocks(source: File) -> Iterator[Lines]:
    """The objects of one array, each joined into one line, as it may be written on several."""
    reader = codecs.getincrementaldecoder("utf-8")()
    data = reader.decode(without_mark(source.read(_START)))
    block, line, opened, ended = Lines([], []), 1, False, False
    while True:
        more = source.read(text.BLOCK)
        data += reader.decode(more, final=not more)
        at = 0
        while True:
            at, line = _after_blanks(data, at, line, "," if block.texts or opened else "")
            if at == len(data):
                break
            if ended:
                raise pa.ArrowInvalid(f"line {line}: {data[at : at + 20]!r} follows the end of the array")
            if not opened:
                if data[at] != "[":
                    raise pa.ArrowInvalid(f"line {line}: {data[at : at + 20]!r} is no start of an array of objects")
                opened, at = True, at + 1
            elif data[at] == "]":
                ended, at = True, at + 1
            else:
                end = _end_of_value(data, at, line, last=not more)
                if end is None:
                    break
                value = data[at:end]
                block.texts.append(value.replace("\r", " ").replace("\n", " ").encode())
                block.numbers.append(line)
                at, line = end, line + value.count("\n")
        data = data[at:]
        if block.texts:
            yield block
            block = Lines([], [])
        if not more:
            break
    if not ended:
        raise pa.ArrowInvalid(f"the array does not end: line {line} is the last one" if opened else "an empty file")


def _after_blanks(data: str, at: int, line: int, comma: str) -> tuple[int, int]:
    match = _BLANKS[comma].match(data, at)
    assert match is not None
    return match.end(), line + match[0].count("\n")


def _end_of_value(data: str, at: int, line: int, *, last: bool) -> int | None:
    """None where more has to be read."""
    try:
        _, end = _DECODER.raw_decode(data, at)
    except (ValueError, RecursionError) as error:
        if not last and len(data) - at < _LONGEST:
            return None
        raise pa.ArrowInvalid(
            f"the object that begins in line {line} is not valid JSON, or does not end: {error}"
        ) from None
    # A number at the end of what was read may go on.
    return None if end == len(data) and not last else end
