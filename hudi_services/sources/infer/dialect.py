"""The form of the CSV or JSON files of a sample. DuckDB examines the lines; encoding and numbers are examined here."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import duckdb

from hoodie.display import counted
from hudi_services.sources.database_pool import DatabasePool
from hudi_services.sources.infer.json_days import paths_of_days
from hudi_services.sources.infer.names import twins, usable_name

_POOL = DatabasePool({"threads": "1"})  # it reads files
_COMMA_NUMBER = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")
_FORMED = re.compile(r"(?=.*\d)[\s\d.,:/+TZ€$%-]*|true|false||\s*", re.IGNORECASE)
"""Numbers, times and truth values. An empty value fits, too."""
_POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")


@dataclass
class Dialect:
    """Differences from the defaults, as keys of `source.csv` or `source.json` (`options`), the reasons for doubt by these keys
    (`unsure`), the names of the columns, and the paths of dates in JSON (`days`)."""

    options: dict[str, Any] = field(default_factory=dict)
    unsure: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    days: frozenset[tuple[str, ...]] = frozenset()


def csv_dialect(heads: Sequence[Path], known: str | None = None) -> Dialect:
    """The dialect of the first file that has lines. Numbers are looked for in all files. `known` is the delimiter if the endings
    of the files say so."""
    dialect = Dialect()
    texts = _texts(heads, dialect)
    if not texts:
        return dialect
    sniffed = _sniffed(texts[0], known)
    delimiter = sniffed["Delimiter"]
    if delimiter != ",":
        dialect.options["delimiter"] = delimiter
    quote = sniffed["Quote"]
    if quote not in ('"', "(empty)"):
        dialect.options["quote"] = quote
    if sniffed["Escape"] not in ("(empty)", quote, '"'):
        dialect.options["escape"] = sniffed["Escape"]
    if titles := _title_lines(_below(texts[0], sniffed["SkipRows"]), delimiter, quote):
        sniffed = {**sniffed, "SkipRows": sniffed["SkipRows"] + titles, "HasHeader": True}
    if sniffed["SkipRows"]:
        dialect.options["skip_rows"] = sniffed["SkipRows"]
        dialect.unsure["skip_rows"] = "lines before the header"
    bodies = [_below(text, sniffed["SkipRows"]) for text in texts]
    files = [_rows(body, delimiter, quote) for body in bodies]
    rows = [row for lines in files for row in lines]
    firsts = [lines[0] for lines in files if lines]
    if not sniffed["HasHeader"] or _begins_with_a_row(files):
        dialect.options["header"] = [f"column_{number}" for number in range(1, len(rows[0]) + 1)]
        dialect.unsure["header"] = "the first line looks like a row; name the columns, or true"
    elif all(first == firsts[0] for first in firsts) and _lacks_names(firsts[0]):
        dialect.options["header"] = _distinct_names(firsts[0])
        dialect.options["skip_rows"] = sniffed["SkipRows"] + 1
        dialect.unsure["header"] = f"in place of the first line, where {_faults(firsts[0])}"
        dialect.unsure.pop("skip_rows", None)
    else:
        dialect.names = [name for first in firsts for name in first]
        if _all_text(files):
            dialect.options["header"] = True
            dialect.unsure["header"] = "each column is text, so the first line may be a row; if it is, name the columns"
    values = [value.strip() for row in rows for value in row]
    commas = [value for value in values if _COMMA_NUMBER.fullmatch(value)]
    if commas and (delimiter != "," or quote != "(empty)"):
        dialect.options["decimal_mark"] = ","
        if any(_POINTS.fullmatch(value) for value in values):
            dialect.options["thousands_mark"] = "."
        elif not all(len(value.rpartition(",")[2]) != 3 for value in commas):
            dialect.unsure["decimal_mark"] = f"as in {commas[0]}; or a mark of thousands?"
    return dialect


def _below(text: str, skipped: int) -> str:
    """The text without its first lines, empty ones too."""
    return "".join(text.splitlines(keepends=True)[skipped:])


def _title_lines(text: str, delimiter: str, quote: str) -> int:
    """The number of lines above the header that have its delimiters, and a title in one column or none. A header has two names at
    least, so that lines of two columns are no such titles."""
    lines = width = 0
    reader = _reader(text, delimiter, quote)
    with suppress(csv.Error):
        for row in reader:
            if len(row) > 2 and sum(map(bool, map(str.strip, row))) < 2 and width in (0, len(row)):
                lines, width = reader.line_num, len(row)
            elif row:
                return lines if len(row) == width and not _is_row(row) else 0
    return 0


def _is_row(names: Sequence[str]) -> bool:
    """True if a line is no header of at least two names: some are missing, numbers or times."""
    return any(map(_FORMED.fullmatch, names))


def _faults(header: Sequence[str]) -> str:
    """The columns without a name, and the names that are there twice, in words."""
    nameless = [str(number) for number, name in enumerate(header, 1) if not name]
    faults = [
        f"{'columns' if nameless[1:] else 'column'} {', '.join(nameless)} {'have' if nameless[1:] else 'has'} no name"
    ]
    return " and ".join([*(faults if nameless else ()), *twins([name for name in header if name])])


def _lacks_names(header: Sequence[str]) -> bool:
    """True if a name is missing, or there twice but for large letters."""
    return "" in header or len({name.lower() for name in header}) < len(header)


def _distinct_names(header: Sequence[str]) -> list[str]:
    """The names of a header as a table may have them, with one for each column that has none, or that of an earlier column."""
    header = [name and usable_name(name) for name in header]
    names: list[str] = []
    taken = {name.lower() for name in header}
    for number, name in enumerate(header, 1):
        earlier = {chosen.lower() for chosen in names}
        if not name or name.lower() in earlier:
            stem, place = (name, 2) if name else ("column", number)
            while f"{stem}_{place}".lower() in taken | earlier:
                place += 1
            name = f"{stem}_{place}"
        names.append(name)
    return names


def _all_text(files: Sequence[list[list[str]]]) -> bool:
    """True if no column has values, such as numbers and times, that differ from the names of a header."""
    rows = [row for lines in files for row in lines[1:]]
    columns = zip_longest(*rows, fillvalue="")
    return bool(rows) and not any(all(map(_FORMED.fullmatch, column)) and any(column) for column in columns)


def _begins_with_a_row(files: Sequence[list[list[str]]]) -> bool:
    """True if the first lines of files whose columns are all text are no header: a header is the same in each file, and none of
    its names comes again as a value of its column."""
    if not _all_text(files):
        return False
    firsts = [lines[0] for lines in files if lines]
    same_width = len({len(first) for first in firsts}) == 1
    if len(firsts) > 1 and same_width and all(len(set(names)) == len(names) for names in zip(*firsts, strict=True)):
        return True
    return any(
        name and name == value
        for lines in files
        for row in lines[1:]
        if row != lines[0]
        for name, value in zip(lines[0], row, strict=False)
    )


def json_dialect(heads: Sequence[Path]) -> Dialect:
    """Lines, or one array a file."""
    dialect = Dialect()
    texts = _texts(heads, dialect)
    if texts and all(text.lstrip().startswith("[") for text in texts):
        dialect.options["layout"] = "array"
    rows = [
        row for text in texts for row in _objects(text, in_array="layout" in dialect.options) if isinstance(row, dict)
    ]
    dialect.names = list(dict.fromkeys(name for row in rows for name in row))
    dialect.days = paths_of_days(rows)
    return dialect


def _objects(text: str, *, in_array: bool) -> list[Any]:
    result = []
    for part in [text] if in_array else text.splitlines():
        with suppress(ValueError, RecursionError):  # the ingestion says what is wrong with it
            read = json.loads(part)
            result += read if isinstance(read, list) else [read]
    return result


def _texts(heads: Sequence[Path], dialect: Dialect) -> list[str]:
    """The texts of files in the encoding of most of them. One other than UTF-8 is an option. Files of another encoding are left
    to the ingestion, which says what is wrong with them."""
    raws = [raw for raw in (path.read_bytes() for path in heads) if raw.strip()]
    by_encoding: dict[str, list[bytes]] = {"ascii": [], "utf-8": [], "utf-16": [], "cp1252": []}
    for raw in raws:
        by_encoding[_encoding(raw)].append(raw)
    plain = by_encoding.pop("ascii")
    chosen = max(by_encoding, key=lambda name: len(by_encoding[name]))  # the first of several
    if chosen == "utf-16" and len(by_encoding[chosen]) <= len(raws) - len(by_encoding[chosen]):
        chosen = max(("utf-8", "cp1252"), key=lambda name: len(by_encoding[name]))
    if chosen != "utf-8":
        dialect.options["encoding"] = chosen
    if chosen == "cp1252":
        others = f". {counted(len(by_encoding['utf-8']), 'file')} in UTF-8 would be read wrongly" * bool(
            by_encoding["utf-8"]
        )
        dialect.unsure["encoding"] = f"it is no UTF-8; cp1252 is the most usual of the others{others}"
    codec = "utf-8-sig" if chosen == "utf-8" else chosen
    readable = {*map(id, by_encoding[chosen]), *(map(id, plain) if chosen != "utf-16" else ())}
    texts = [raw.decode(codec, errors="replace") for raw in raws if id(raw) in readable]
    return [text for text in texts if text.strip()]


def _encoding(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "cp1252"
    return "ascii" if raw.isascii() else "utf-8"


def _sniffed(text: str, known: str | None) -> dict[str, Any]:
    options = f", delim = '{known}'" if known is not None else ""
    with NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        with _POOL.session() as connection:
            try:
                answer = connection.sql(
                    f"FROM sniff_csv($file, all_varchar = true{options})", params={"file": file.name}
                )
                row = answer.fetchall()[0]
            except duckdb.Error:
                return _by_its_header(text, known)
            result = dict(zip(answer.columns, row, strict=True))
            by_header = _by_its_header(text, known)
            alone = not result["SkipRows"] and result["Delimiter"] not in text.partition("\n")[0]
            return by_header if alone and by_header["Delimiter"] in text.partition("\n")[0] else result


def _by_its_header(text: str, known: str | None) -> dict[str, Any]:
    """The dialect if lines differ too much: the delimiter is the most frequent sign of the first line."""
    line = text.splitlines()[0]
    delimiter = known or max(",;\t|", key=line.count)
    return {"Delimiter": delimiter, "Quote": '"', "Escape": "(empty)", "SkipRows": 0, "HasHeader": True}


def _rows(text: str, delimiter: str, quote: str) -> list[list[str]]:
    try:
        return [row for row in _reader(text, delimiter, quote) if row]
    except csv.Error:
        return [line.split(delimiter) for line in text.splitlines() if line]


def _reader(text: str, delimiter: str, quote: str) -> Any:
    quotes: dict[str, Any] = {"quoting": csv.QUOTE_NONE} if quote == "(empty)" else {"quotechar": quote}
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **quotes)
