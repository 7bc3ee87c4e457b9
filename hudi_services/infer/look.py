"""Looks at a folder: a sample is taken, and loaded into a table that is thrown away, as an ingestion would load it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import SchemaConflictError, SourceError
from hoodie.schema.normalise import fits_avro
from hudi_services.feed.arrow import type_text
from hudi_services.feed.model import Feed
from hudi_services.infer.columns import roles_of
from hudi_services.infer.dialect import Dialect, csv_dialect, json_dialect
from hudi_services.infer.entry import Finding
from hudi_services.infer.paths import date_pattern
from hudi_services.infer.sample import Sample, take_sample
from hudi_services.ingest.files.source import FileBatch, FilesSource
from hudi_services.ingest.files.text import is_no_text
from hudi_services.ingest.request import IngestRequest
from hudi_services.ingest.run import run_ingest
from hudi_services.ingest.shape.duck import opened
from hudi_services.ingest.shape.shape import Shape

_REASONS = 3  # that are shown
_DIGITS = 18  # digits of a decimal; a table can have 38, which leaves none for sums and products in SQL
_ROOM = 1000  # times as great as the greatest of the sample


def look_at(folder: str, file_format: str | None, name: str | None) -> Finding:
    """Raises SourceError or SchemaConflictError for a folder that no entry would load."""
    with TemporaryDirectory() as place:
        (copy := Path(place) / "sample").mkdir()
        sample = take_sample(folder, file_format, copy)
        sample = sample.without(_without_header(sample))
        while True:
            _check_some(sample)
            dialect, renamed = _look(sample.file_format, list(sample.heads.values()))
            found = _loaded(copy, sample.file_format, dialect, renamed, Path(place) / f"table-{len(sample.broken)}")
            if not found.broken:
                break
            # What is broken may have decided how the files are read.
            sample = sample.without(
                {path: found.broken[each.name] for path, each in sample.heads.items() if each.name in found.broken}
            )
        rows = found.rows
        with opened() as duck:
            roles = roles_of(rows, duck)
        return Finding(
            name or _name(folder),
            folder,
            sample.file_format,
            len(sample.files),
            len(sample.heads),
            rows.num_rows,
            sample.whole,
            date_pattern([file.path for file in sample.files]),
            dialect,
            {each.name: _type(rows[each.name], sample.file_format != "parquet") for each in rows.schema},
            roles,
            renamed,
            found.reasons,
            sample.others,
            sample.broken,
        )


def _look(file_format: str, heads: Sequence[Path]) -> tuple[Dialect, dict[str, str]]:
    """How the files are written, and other names for columns."""
    looks = {"csv": csv_dialect, "json": json_dialect}.get(file_format)
    dialect = looks(heads) if looks is not None else Dialect()
    return dialect, usable_names(_parquet_names(heads) if file_format == "parquet" else dialect.names)


def _without_header(sample: Sample) -> dict[str, str]:
    """The files whose names of columns are no text, and these."""
    broken = {}
    for path, head in sample.heads.items():
        names = _look(sample.file_format, [head])[0].names
        if any(map(is_no_text, names)):
            broken[path] = f"the names {', '.join(map(repr, names))}"
    return broken


def _check_some(sample: Sample) -> None:
    if not sample.heads:
        path, found = next(iter(sample.broken.items()))
        raise SourceError(
            f"None of the {sample.file_format} files of {sample.folder} that were looked at can be read",
            found=f"{path}: {found}",
            fix="name their format with --format, or deliver them again",
        )


def usable_names(names: Iterable[str]) -> dict[str, str]:
    """Other names for columns that a table cannot have so: what Avro does not take, twins that differ in case, Hudi's own."""
    taken: set[str] = set()
    renamed = {}
    for name in dict.fromkeys(names):
        signs = (sign if fits_avro(f"_{sign}") else " " for sign in name)
        clean = name if fits_avro(name) else "_".join("".join(signs).split()).strip("_")
        clean = clean.lstrip("_") if clean.lower().startswith("_hoodie_") else clean
        clean = clean if fits_avro(clean) else f"column_{clean}".rstrip("_")
        new = clean
        for number in count(2):
            if new.lower() not in taken:
                break
            new = f"{clean}_{number}"
        taken.add(new.lower())
        if new != name:
            renamed[name] = new
    return renamed


def _type(column: pa.ChunkedArray, guessed: bool) -> str:
    """Decimals have room for greater numbers than those of the sample; the guess has all the room there is."""
    kind = column.type
    if pa.types.is_null(kind):
        return "void"
    if guessed and pa.types.is_decimal(kind) and kind.scale < _DIGITS:
        most = pc.max(pc.abs(column)).as_py() or 0
        kind = pa.decimal128(_DIGITS if most < 10 ** (_DIGITS - kind.scale) / _ROOM else 38, kind.scale)
    return type_text(kind)


def _parquet_names(heads: Sequence[Path]) -> list[str]:
    return [name for path in heads for name in pq.read_schema(path).names]


@dataclass(frozen=True)
class _Loaded:
    """The rows of a sample in the types that they get, and why some are none; and why files are `broken`, by their names."""

    rows: pa.Table
    reasons: Sequence[str]
    broken: Mapping[str, str]


def _loaded(copy: Path, file_format: str, dialect: Dialect, renamed: Mapping[str, str], table: Path) -> _Loaded:
    """Files that cannot be read, or contradict themselves, are only told."""
    said = {"rename": renamed, "quarantine": {"files": "skip"}}
    feed = Feed.model_validate({**({file_format: dialect.said} if dialect.said else {}), **said})
    shape = Shape.of(feed)
    source = FilesSource(str(copy), file_format, feed=feed, later=shape.later)
    options = {"hoodie.table.name": "sample", "hoodie.clean.automatic": "false"}
    request = IngestRequest(str(table), source, "bulk_insert", max_bad_share=1.0, options=options, shape=shape)
    nothing = pa.table({})
    try:
        with _quiet():
            done = run_ingest(request, LocalEngine())
    except SchemaConflictError:
        if not (broken := _contradicting(request)):
            raise
        return _Loaded(nothing, (), broken)
    if done.files_skipped:
        return _Loaded(nothing, (), _skipped(request))
    rows = HoodieTable.open(str(table), engine=LocalEngine()).read()
    quarantined = table.parent.glob(f"{table.name}.quarantine/*/*.jsonl")
    lines = [line for path in quarantined for line in path.read_text().splitlines()]
    reasons = list(dict.fromkeys(json.loads(line)["reason"] for line in lines))
    shown = reasons[:_REASONS] + [f"… and {len(reasons) - _REASONS} other reasons"] * (len(reasons) > _REASONS)
    return _Loaded(rows.select([each for each in rows.schema.names if not each.startswith("_hoodie_")]), shown, {})


def _batch(request: IngestRequest, name: str = "") -> FileBatch:
    """The files of a sample, or one of them."""
    source = request.source
    assert isinstance(source, FilesSource)
    named = source.feed.model_copy(update={"pattern": (name,)}) if name else source.feed
    return replace(source, feed=named).discover(None, request.places, start_fresh=True)


def _skipped(request: IngestRequest) -> dict[str, str]:
    with _quiet():
        opened, _ = _batch(request).opened(None, LocalEngine())
    return {path: each.reason for path, each in opened.plan.broken.items()}


def _contradicting(request: IngestRequest) -> dict[str, str]:
    """The files of which not even their own rows go together."""
    broken = {}
    for item in _batch(request).items:
        try:
            with _quiet():
                _batch(request, item.path).opened(None, LocalEngine())
        except SchemaConflictError as error:
            broken[item.path] = error.found or error.what
    return broken


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the ingestion's warnings of files by the names that they have in the sample."""
    logger = logging.getLogger("hudi_services.ingest.files.source")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _name(folder: str) -> str:
    """A table's name of a folder's."""
    last = re.sub(r"\W+", "_", folder.rstrip("/").rpartition("/")[2], flags=re.ASCII).strip("_")
    return last if re.match(r"[A-Za-z_]", last) else f"t_{last}".rstrip("_")
