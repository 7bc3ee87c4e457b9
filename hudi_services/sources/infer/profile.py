"""Looks at a folder: a sample is taken, and loaded into a table that is thrown away, as an ingestion would load it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie import HoodieTable
from hoodie.config.operations import operation_named
from hoodie.engine import LocalEngine
from hoodie.errors import SchemaConflictError, SourceError
from hudi_services.entry.feed.arrow import type_text
from hudi_services.entry.feed.model import Csv, Feed
from hudi_services.sources.infer.columns import roles_of
from hudi_services.sources.infer.dialect import Dialect, csv_dialect, json_dialect
from hudi_services.sources.infer.entry import Finding
from hudi_services.sources.infer.feed_comparison import blanks_around, check_one_feed, lacking, strangers
from hudi_services.sources.infer.json_days import with_days
from hudi_services.sources.infer.majority_type import exponents, mostly_numbers, torn_columns
from hudi_services.sources.infer.names import usable_names
from hudi_services.sources.infer.null_words import null_words
from hudi_services.sources.infer.paths import date_pattern
from hudi_services.sources.infer.sample import Sample, take_sample
from hudi_services.sources.infer.selection import Selection, split_pattern, stem
from hudi_services.sources.infer.table_check import check_no_table
from hudi_services.sources.ingest.files.source import FileBatch, FilesSource
from hudi_services.sources.ingest.files.text import is_no_text
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from hudi_services.sources.ingest.shape.duck import opened
from hudi_services.sources.ingest.shape.shape import Shape

_REASONS = 3  # bad rows that are shown
_DIGITS = 18  # digits of a decimal; a table can have 38, which leaves none for sums and products in SQL
_ROOM = 1000  # times as great as the greatest of the sample


def look_at(path: str, file_format: str | None, name: str | None) -> Finding:
    """Look at a folder, or at the files of a pattern. Raises SourceError or SchemaConflictError for files that no entry would
    load, such as those of a table."""
    folder, pattern = split_pattern(path)
    check_no_table(folder)
    with TemporaryDirectory() as place:
        (copy := Path(place) / "sample").mkdir()
        sample = take_sample(folder, pattern, file_format, copy)
        names = {path: _names(sample.selection, [head]) for path, head in sample.heads.items()}
        sample = sample.without(_without_header(sample.selection, names))
        sample = sample.without(blanks_around({path: names[path] for path in sample.heads}))
        while True:
            _check_some(sample)
            dialect, renamed = _look(sample.selection, list(sample.heads.values()))
            try:
                result = _settled(copy, sample.selection.file_format, dialect, renamed)
            except SourceError as error:
                raise SourceError(error.what.replace(str(copy), folder), found=error.found, fix=error.fix) from None
            if not result.broken:
                break
            # The broken files may have decided how the files are read.
            sample = sample.without(
                {path: result.broken[head.name] for path, head in sample.heads.items() if head.name in result.broken}
            )
        columns = {path: names[path] for path in sample.heads if names[path]}
        if pattern is not None:
            check_one_feed(pattern, columns)
        rows = result.rows
        with opened() as duck:
            roles = roles_of(rows, duck)
        return Finding(
            name or _name((stem(pattern) if pattern is not None else "") or folder),
            folder,
            sample.selection.file_format,
            len(sample.selection.files),
            len(sample.heads),
            rows.num_rows,
            sample.whole,
            date_pattern([file.path for file in sample.selection.files]),
            replace(dialect, options={**dialect.options, **result.null_words}),
            {
                column.name: _type(rows[column.name], sample.selection.file_format != "parquet")
                for column in rows.schema
            },
            roles,
            renamed,
            _reasons(result.bad, sample.heads),
            sample.selection.others,
            sample.broken,
            sample.empty,
            result.mostly,
            result.untyped,
            [file.modified_ms for file in sample.selection.files],
            sample.selection.patterns,
            strangers(columns),
            exponents=exponents(rows) if sample.selection.file_format == "csv" else {},
            is_of_pattern=pattern is not None and bool(name or stem(pattern)),
            lacked=_lacked(sample.selection, columns),
        )


def _look(selection: Selection, heads: Sequence[Path]) -> tuple[Dialect, dict[str, str]]:
    """The form of the files, and other names for columns."""
    dialect = _dialect(selection, heads)
    is_parquet = selection.file_format == "parquet"
    return dialect, usable_names(_parquet_names(heads) if is_parquet else dialect.names)


def _dialect(selection: Selection, heads: Sequence[Path]) -> Dialect:
    if selection.file_format == "csv":
        return csv_dialect(heads, "\t" if selection.is_tabbed else None)
    return json_dialect(heads) if selection.file_format == "json" else Dialect()


def _names(selection: Selection, heads: Sequence[Path]) -> list[str]:
    """The names of the columns of some files. Without a header there are none."""
    return _parquet_names(heads) if selection.file_format == "parquet" else _dialect(selection, heads).names


def _lacked(selection: Selection, columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The columns that files lack. Objects of JSON leave out what they do not have, and files of other feeds are named by
    themselves."""
    others = strangers(columns)
    of_feed = {path: names for path, names in columns.items() if path not in others}
    return lacking(of_feed) if selection.file_format != "json" else {}


def _without_header(selection: Selection, names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The text files whose names of columns are no text, and these."""
    return {
        path: f"the names {', '.join(map(repr, file_names))}"
        for path, file_names in names.items()
        if selection.file_format != "parquet" and any(map(is_no_text, file_names))
    }


def _check_some(sample: Sample) -> None:
    if not sample.heads:
        path, reason = next(iter(sample.broken.items()))
        raise SourceError(
            f"None of the {sample.selection.file_format} files of {sample.selection.folder} that were looked at can be read",
            found=f"{path}: {reason}",
            fix="name their format with --format, or deliver them again",
        )


def _type(column: pa.ChunkedArray, guessed: bool) -> str:
    """Decimals have room for greater numbers than those of the sample; the guess has all the room there is."""
    kind = column.type
    if guessed and pa.types.is_decimal(kind) and kind.scale < _DIGITS:
        most = pc.max(pc.abs(column)).as_py() or 0
        kind = pa.decimal128(_DIGITS if most < 10 ** (_DIGITS - kind.scale) / _ROOM else 38, kind.scale)
    return type_text(kind)


def _parquet_names(heads: Sequence[Path]) -> list[str]:
    return [name for path in heads for name in pq.read_schema(path).names]


@dataclass(frozen=True)
class _Loaded:
    """The `rows` of a sample in their new types, and the quarantine's entries of those that do not fit (`bad`).

    `broken` has the reasons by the names of files. `torn` are columns that are text in some files and another type in others,
    `mostly` those that are numbers but for a few values, `untyped` the columns and fields, dotted, that have no value.
    `null_words` is a key of `source.csv` that the loads need.
    """

    rows: pa.Table = field(default_factory=lambda: pa.table({}))
    bad: Sequence[Mapping[str, str]] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    torn: Sequence[str] = ()
    mostly: Collection[str] = ()
    untyped: Sequence[str] = ()
    null_words: Mapping[str, Any] = field(default_factory=dict)


def _settled(copy: Path, file_format: str, dialect: Dialect, renamed: Mapping[str, str]) -> _Loaded:
    """All files loaded, and once more where a closer look at the values shows other types."""
    result = _loaded(copy, file_format, dialect, renamed, {})
    if result.torn:
        result = _loaded(copy, file_format, dialect, renamed, dict.fromkeys(result.torn, "string"))
    if result.broken or file_format == "parquet":
        return result
    old = {name: old_name for old_name, name in renamed.items()}
    if file_format == "csv":
        return _with_numbers(copy, result, dialect, renamed, old)
    days = with_days(result.rows.schema, dialect.days, old)
    types = {old.get(name, name): type_text(kind) for name, kind in days.items()}
    reloaded = _loaded(copy, file_format, dialect, renamed, types) if days else result
    return reloaded if not reloaded.broken and len(reloaded.bad) == len(result.bad) else result


def _with_numbers(
    copy: Path, roles: _Loaded, dialect: Dialect, renamed: Mapping[str, str], old: Mapping[str, str]
) -> _Loaded:
    """The files of a CSV folder loaded again: words such as n/a in columns of other types are nulls.

    A few other values that are no numbers do not make a column text: their rows are bad ones.
    """
    csv = Csv.model_validate(dialect.options)
    with opened() as duck:
        words, kinds = null_words(roles.rows, csv, duck)
    numbers = mostly_numbers(roles.rows.drop_columns(list(words)), csv)
    if not numbers and not words:
        return roles
    texts = dict.fromkeys(roles.torn, "string") | {old.get(name, name): "string" for name in words}
    types = {old.get(name, name): type_text(kind) for name, kind in {**numbers, **kinds}.items()}
    nulls = {"null_values": {old.get(name, name): null_texts for name, null_texts in words.items()}} if words else {}
    dialect = replace(dialect, options={**dialect.options, **nulls})
    reloaded = _loaded(copy, "csv", dialect, renamed, {**texts, **types})
    return replace(reloaded, mostly=numbers, null_words=nulls)


def _reasons(bad: Sequence[Mapping[str, str]], heads: Mapping[str, Path]) -> list[str]:
    """Lines for people: the first bad rows, each with its file."""
    paths = {head.name: path for path, head in heads.items()}
    lines = [f"{paths[rejection['file']]}, {rejection['reason']}" for rejection in bad[:_REASONS]]
    return lines + [f"… and {len(bad) - _REASONS:,} more rows"] * (len(bad) > _REASONS)


def _loaded(
    copy: Path, file_format: str, dialect: Dialect, renamed: Mapping[str, str], types: Mapping[str, str]
) -> _Loaded:
    """Load the sample. Files that cannot be read, or contradict themselves, are listed in `broken`. `types` are those of some
    columns."""
    signs = {file_format: dialect.options} if dialect.options else {}
    declared = {"schema": types, "undeclared": "keep"} if types else {}
    feed = Feed.model_validate({**signs, **declared, "rename": renamed, "quarantine": {"files": "skip"}})
    shape = Shape.of(feed)
    source = FilesSource(str(copy), file_format, feed=feed, later=shape.later)
    options = {"hoodie.table.name": "sample", "hoodie.clean.automatic": "false"}
    table = Path(mkdtemp(dir=copy.parent)) / "table"
    request = IngestRequest(
        str(table), source, operation_named("bulk_insert"), max_bad_share=1.0, options=options, shape=shape
    )
    try:
        with _quiet():
            result = run_ingest(request, LocalEngine())
    except SchemaConflictError:
        broken, schemas = _alone(request)
        torn = torn_columns(schemas) if file_format == "csv" and not broken else ()
        if not broken and not torn:
            raise
        return _Loaded(broken=broken, torn=torn)
    if result.files_skipped:
        return _Loaded(broken=_skipped(request))
    rows = HoodieTable.open(str(table), engine=LocalEngine()).read()
    quarantined = table.parent.glob(f"{table.name}.quarantine/*/*.jsonl")
    bad = [json.loads(line) for path in sorted(quarantined) for line in path.read_text().splitlines()]
    names = [column for column in rows.schema.names if not column.startswith("_hoodie_")]
    places = {
        renamed.get(name, name): place for place, name in enumerate(dict.fromkeys(dialect.names if types else ()))
    }
    selected = rows.select(sorted(names, key=lambda name: places.get(name, len(places))))
    return _Loaded(selected, bad, untyped=result.columns_left_out)


def _batch(request: IngestRequest, name: str = "") -> FileBatch:
    """The files of a sample, or one of them."""
    source = request.source
    assert isinstance(source, FilesSource)
    named = source.feed.model_copy(update={"pattern": (name,)}) if name else source.feed
    return replace(source, feed=named).discover(None, request.places, start_fresh=True)


def _skipped(request: IngestRequest) -> dict[str, str]:
    with _quiet():
        opened, _ = _batch(request).opened(None, LocalEngine())
    return {path: broken.reason for path, broken in opened.plan.broken.items()}


def _alone(request: IngestRequest) -> tuple[dict[str, str], list[pa.Schema]]:
    """The files whose own rows contradict each other, and the columns of the others."""
    broken, schemas = {}, []
    for item in _batch(request).items:
        try:
            with _quiet():
                schemas.append(_batch(request, item.path).opened(None, LocalEngine())[1])
        except SchemaConflictError as error:
            broken[item.path] = error.found or error.what
    return broken, schemas


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the ingestion's warnings, which name files as they are called in the sample."""
    logger = logging.getLogger("hudi_services.sources.ingest.files.source")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _name(folder: str) -> str:
    """The name of a table, made of that of the folder."""
    last = re.sub(r"\W+", "_", folder.rstrip("/").rpartition("/")[2], flags=re.ASCII).strip("_")
    return last if re.match(r"[A-Za-z_]", last) else f"t_{last}".rstrip("_")
