"""A sample of a feed: the heads of a few of its files as files of their own, so that an ingestion can try them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.formats.int96 import open_parquet, utc_schema
from hoodie.storage import Storage, closing_input, open_storage
from hudi_services.sources.infer.selection import Selection, select
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.ingest.files.text import READ_ERRORS, text_input, unreadable

_FILES = 10
_BYTES = 2 * 1024 * 1024  # bytes of text per file
_ROWS = 20_000  # rows of Parquet per file
_ARRAY_BYTES = 64 * 1024 * 1024  # bytes of a JSON array, which cannot be cut


@dataclass(frozen=True)
class Sample:
    """The `heads` of some of the files of a feed, from the oldest name to the newest, by their paths in the folder."""

    selection: Selection
    heads: Mapping[str, Path]
    whole: bool  # whether the heads are all of the files that were taken
    broken: Mapping[str, str]  # why, by the path of the file
    empty: Sequence[str]  # files of 0 bytes, which were passed over

    def without(self, broken: Mapping[str, str]) -> Sample:
        """The sample without the heads of some files that cannot be read."""
        heads = {path: head for path, head in self.heads.items() if path not in broken}
        for path in broken:
            self.heads[path].unlink()
        return replace(self, heads=heads, broken={**self.broken, **broken})


def take_sample(folder: str, pattern: str | None, file_format: str | None, copy: Path) -> Sample:
    """Copies heads into `copy`. Raises SourceError for a folder without files, and for a pattern of several formats."""
    selection = select(folder, pattern, file_format)
    files = selection.files
    storage = open_storage(folder)
    full = [file for file in files if file.size] or files
    sampled = _spread(full)
    is_complete = True
    heads, broken = dict[str, Path](), dict[str, str]()
    for number, file in enumerate(sampled):
        head = copy / f"{number:03}.{selection.file_format}"
        try:
            is_complete &= _head(storage, selection.file_format, file, head)
            heads[file.path] = head
        except READ_ERRORS as error:
            head.unlink(missing_ok=True)
            broken[file.path] = unreadable(storage, file.path, selection.file_format, error).found or str(error)
    empty = [file.path for file in files if not file.size] if full is not files else []
    return Sample(selection, heads, is_complete, broken, empty)


def _spread(files: Sequence[SourceFile]) -> list[SourceFile]:
    """First, last, and some between them."""
    most = min(_FILES, len(files))
    places = {round(number * (len(files) - 1) / max(1, most - 1)) for number in range(most)}
    return [files[place] for place in sorted(places)]


def _head(storage: Storage, file_format: str, file: SourceFile, path: Path) -> bool:
    """Write the head of a file. Returns True if it is all of the file."""
    if file_format == "parquet":
        with closing_input(storage, file.path) as source:
            parquet = open_parquet(source)
            first = next(parquet.iter_batches(batch_size=_ROWS), None)
            rows = pa.Table.from_batches([first] if first is not None else [], parquet.schema_arrow)
            rows = rows.cast(utc_schema(parquet))
            pq.write_table(rows, path)
            return bool(rows.num_rows == parquet.metadata.num_rows)
    with text_input(storage, file.path) as source:
        head = source.read(_BYTES)
        if file_format == "json" and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            head += source.read(_ARRAY_BYTES)
        more = source.read(1)
    path.write_bytes(_whole_lines(head) if more else head)
    return not more


def _whole_lines(head: bytes) -> bytes:
    """The text up to the last end of a line that is not inside quotes."""
    end = head.rfind(b"\n")
    while end > 0 and head.count(b'"', 0, end) % 2:
        end = head.rfind(b"\n", 0, end)
    return head[: end + 1] if end > 0 else head
