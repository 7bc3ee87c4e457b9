"""Looks at a folder: a sample is taken, and loaded into a table that is thrown away, as an ingestion would load it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from shutil import rmtree
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
from hudi_services.ingest.files.source import FilesSource
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
        sample = sample.without(_broken(sample, Path(place)))
        if not sample.heads:
            path, found = next(iter(sample.broken.items()))
            raise SourceError(
                f"None of the {sample.file_format} files of {folder} that were looked at can be read",
                found=f"{path}: {found}",
                fix="name their format with --format, or deliver them again",
            )
        dialect, renamed = _look(sample.file_format, list(sample.heads.values()))
        rows, bad = _loaded(copy, sample.file_format, dialect, renamed, Path(place) / "table")
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
            bad,
            sample.others,
            sample.broken,
        )


def _look(file_format: str, heads: Sequence[Path]) -> tuple[Dialect, dict[str, str]]:
    """How the files are written, and other names for columns."""
    looks = {"csv": csv_dialect, "json": json_dialect}.get(file_format)
    dialect = looks(heads) if looks is not None else Dialect()
    return dialect, usable_names(_parquet_names(heads) if file_format == "parquet" else dialect.names)


def _broken(sample: Sample, place: Path) -> dict[str, str]:
    """The files that cannot be loaded even by themselves, and why."""
    broken = {}
    for number, (path, head) in enumerate(sample.heads.items()):
        alone = place / f"alone-{number}"
        alone.mkdir()
        (alone / head.name).symlink_to(head)
        try:
            dialect, renamed = _look(sample.file_format, [head])
            if any(map(is_no_text, dialect.names)):
                raise SourceError("The header is no text", found=f"the names {', '.join(map(repr, dialect.names))}")
            _loaded(alone, sample.file_format, dialect, renamed, place / f"table-{number}")
        except (SourceError, SchemaConflictError) as error:
            broken[path] = error.found or error.what
        rmtree(alone)
    return broken


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


def _loaded(
    copy: Path, file_format: str, dialect: Dialect, renamed: Mapping[str, str], table: Path
) -> tuple[pa.Table, list[str]]:
    """The rows of the sample in the types that they get, and why some are none."""
    feed = Feed.model_validate({**({file_format: dialect.said} if dialect.said else {}), "rename": renamed})
    shape = Shape.of(feed)
    source = FilesSource(str(copy), file_format, feed=feed, later=shape.later)
    options = {"hoodie.table.name": "sample", "hoodie.clean.automatic": "false"}
    request = IngestRequest(str(table), source, "bulk_insert", max_bad_share=1.0, options=options, shape=shape)
    run_ingest(request, LocalEngine())
    rows = HoodieTable.open(str(table), engine=LocalEngine()).read()
    quarantined = table.parent.glob(f"{table.name}.quarantine/*/*.jsonl")
    lines = [line for path in quarantined for line in path.read_text().splitlines()]
    reasons = list(dict.fromkeys(json.loads(line)["reason"] for line in lines))
    shown = reasons[:_REASONS] + [f"… and {len(reasons) - _REASONS} other reasons"] * (len(reasons) > _REASONS)
    return rows.select([each for each in rows.schema.names if not each.startswith("_hoodie_")]), shown


def _name(folder: str) -> str:
    """A table's name of a folder's."""
    last = re.sub(r"\W+", "_", folder.rstrip("/").rpartition("/")[2], flags=re.ASCII).strip("_")
    return last if re.match(r"[A-Za-z_]", last) else f"t_{last}".rstrip("_")
