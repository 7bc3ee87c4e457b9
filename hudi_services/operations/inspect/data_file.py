"""One base file: its footer, and the facts about its rows in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hoodie.errors import ConfigError
from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.bootstrap_file import open_file
from hoodie.model.meta_columns import COMMIT_TIME
from hudi_services.operations.inspect.page import Column, Facts, Listing, Page
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, size

_SHOWN = 8  # commit times
_COLUMNS = (
    Column("column", "column"),
    Column("type", "type"),
    Column("bytes", "size", size, right=True),
    Column("uncompressed_bytes", "uncompressed", size, right=True, rank=3),
    Column("compression", "compression", rank=3),
    Column("encodings", "encodings", ", ".join, rank=4),
    Column("nulls", "nulls", count, right=True, rank=2),
    Column("minimum", "least", rank=2),
    Column("maximum", "greatest", rank=2),
)


def data_file(look: Look, path: str) -> Page:
    """The file at `path`, relative to the table. Reads the footer, which a file of Lance has not, and the column of commit times.

    Raises ConfigError when there is no such file, CorruptFileError, or UnsafePathError for a path that leads out of the table.
    """
    path = path.removeprefix(f"{look.state.storage.base_path}/")
    if look.storage.info(path) is None:
        raise ConfigError(
            f"Table {look.state.storage.base_path} has no file {path!r}",
            fix="take a path that `hudi-services show files` lists, relative to the table",
        )
    with open_file(look.storage, path) as reader:
        footer = reader.footer
        index = reader.key_index()
        values: dict[str, Any] = {
            "path": path,
            "rows": reader.rows,
            "row_groups": [
                {"rows": group.num_rows, "uncompressed_bytes": group.total_byte_size}
                for group in map(footer.row_group, range(footer.num_row_groups))
            ]
            if footer is not None
            else [],
            "created_by": footer.created_by if footer is not None else None,
            "key_range": [index.minimum, index.maximum] if index is not None else None,
            "bloom_filter": (
                {
                    "type": index.bloom.type_code,
                    "keys": index.bloom.keys,
                    "bits": index.bloom.bits * len(index.bloom.rows),
                    "hashes": index.bloom.hashes,
                }
                if index is not None
                else None
            ),
            "commit_times": _commit_times(reader),
            "columns": _columns(footer) if footer is not None else [],
        }
    return Page(values, [_facts(values), Listing(_COLUMNS, values["columns"], "columns")])


def _commit_times(reader: BaseFileReader) -> dict[str, int]:
    """Commit -> rows that it wrote, by the rows' own meta column; the oldest first. Empty with virtual keys."""
    result: dict[str, int] = {}
    if COMMIT_TIME in reader.schema.names:
        for batch in reader.batches([COMMIT_TIME]):
            for entry in batch[COMMIT_TIME].drop_null().value_counts().to_pylist():
                result[entry["values"]] = result.get(entry["values"], 0) + entry["counts"]
    return dict(sorted(result.items()))


def _columns(footer: Any) -> list[dict[str, Any]]:
    """One row for each Parquet column, with the sums over row groups. Least and greatest are of text as it is, cut
    short."""
    rows: list[dict[str, Any]] = []
    for number in range(footer.num_columns):
        chunks = [footer.row_group(group).column(number) for group in range(footer.num_row_groups)]
        statistics = [chunk.statistics for chunk in chunks if chunk.is_stats_set]
        ranged = [statistic for statistic in statistics if statistic.has_min_max]
        is_complete = len(ranged) == len(chunks) > 0
        declared = footer.schema.column(number)
        rows.append(
            {
                "column": declared.path,
                "type": f"{declared.physical_type} {declared.logical_type}".removesuffix(" None"),
                "bytes": sum(chunk.total_compressed_size for chunk in chunks),
                "uncompressed_bytes": sum(chunk.total_uncompressed_size for chunk in chunks),
                "compression": chunks[0].compression if chunks else None,
                "encodings": sorted({encoding for chunk in chunks for encoding in chunk.encodings}),
                "nulls": sum(statistic.null_count for statistic in statistics)
                if len(statistics) == len(chunks)
                else None,
                "minimum": _short(_extreme(min, ranged)) if is_complete else None,
                "maximum": _short(_extreme(max, ranged)) if is_complete else None,
            }
        )
    return rows


def _extreme(pick: Callable[[Iterable[Any]], Any], ranged: Sequence[Any]) -> Any:
    """The least or greatest value; where Python cannot hold one of them, such as a time of the year 10000, as it is stored."""
    side = pick.__name__
    try:
        return pick(getattr(statistics, side) for statistics in ranged)
    except (OverflowError, ValueError):
        return pick(getattr(statistics, f"{side}_raw") for statistics in ranged)


def _short(value: Any) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _facts(footer: dict[str, Any]) -> Facts:
    bloom, keys, times = footer["bloom_filter"], footer["key_range"], footer["commit_times"]
    newest = [f"{time} ({count(rows)})" for time, rows in list(times.items())[-_SHOWN:]]
    older = f"{len(times) - _SHOWN} older, " if len(times) > _SHOWN else ""
    filtered = f"{bloom['type']}, {size(bloom['bits'] / 8)}, {count(bloom['keys'])} keys" if bloom else "none"
    return Facts(
        [
            ("file", footer["path"]),
            ("rows", f"{count(footer['rows'])} in {count(len(footer['row_groups']))} row groups"),
            ("made by", footer["created_by"] or ""),
            ("keys", f"from {_short(keys[0])} to {_short(keys[1])}" if keys else "no range in the footer"),
            ("bloom filter", filtered),
            ("rows of commits", older + ", ".join(newest) if newest else "not known"),
        ]
    )
