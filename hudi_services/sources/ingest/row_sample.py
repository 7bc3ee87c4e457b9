"""Rows of a load that are read before it, and those of them that it would put aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice

from hoodie.display import counted
from hoodie.engine import Engine
from hudi_services.sources.ingest.files import text
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.ingest.files.readers import FileSplit
from hudi_services.sources.ingest.load import too_many_bad
from hudi_services.sources.ingest.quarantine import Counts, NoQuarantine, QuarantinedRows, most_frequent
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.rows import CheckedSplit

_MOST_BYTES, _MOST_FILES = 64 << 20, 100


@dataclass(frozen=True)
class _Kept(NoQuarantine):
    """Keeps the bad rows of one task in memory."""

    rows: QuarantinedRows = field(default_factory=QuarantinedRows)

    @contextmanager
    def open(self, number: int) -> Iterator[QuarantinedRows]:
        yield self.rows


@dataclass(frozen=True)
class _Read:
    """Task function: a split -> its rows, counted, and examples of bad ones. With `first` only its first rows are read."""

    first: bool

    def __call__(self, split: CheckedSplit) -> QuarantinedRows:
        kept = _Kept()
        for _ in islice(replace(split, quarantine=kept).delivered(), 1 if self.first else None):
            pass
        kept.rows.lines[:] = [""] * len(kept.rows.lines)  # which only count
        return kept.rows


def sampled(files: Sequence[SourceFile]) -> tuple[SourceFile, ...]:
    """Some of many files, from all places of their order. No more is read of them than a look may read."""
    size = sum(min(file.size, text.BLOCK) for file in files) / max(1, len(files))
    count = max(1, min(_MOST_FILES, len(files), int(_MOST_BYTES / max(1.0, size))))
    return tuple(files[place * len(files) // count] for place in range(count))


def of_each_file(splits: Sequence[CheckedSplit]) -> list[CheckedSplit]:
    """A split for each file, or piece of one that is no larger than a block of text."""
    return [
        replace(split, split=replace(split.split, pieces=(piece,)))
        for split in splits
        if isinstance(split.split, FileSplit)
        for piece in split.split.pieces
        if split.split.file_format != "parquet" or piece.size <= text.BLOCK
    ]


def bad_rows(request: IngestRequest, splits: Sequence[CheckedSplit], engine: Engine, *, first: bool) -> str | None:
    """A line about the rows that the load would put aside, and whether it would fail for them; None if there are none.

    With `first`, of each split only the first rows are read. Raises SourceError for a file that cannot be read.
    """
    read = list(engine.map(_Read(first), splits))
    counts = Counts(
        sum(rows.good + rows.filtered + len(rows.lines) for rows in read),
        sum(rows.filtered for rows in read),
        sum(len(rows.lines) for rows in read),
        most_frequent(rows.examples for rows in read),
    )
    if not counts.bad:
        return None
    if not first or not request.max_bad_share:
        error = too_many_bad(counts, request)
        if error is not None:
            return f"the load would fail: {error}"
    looked_at = (
        f"the first {counted(counts.read, 'row')} of {counted(len(splits), 'file')}"
        if first
        else f"{counts.read:,} rows"
    )
    return f"{counts.bad:,} of {looked_at} would go to the quarantine, such as {counts.example}"
