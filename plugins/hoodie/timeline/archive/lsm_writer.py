"""Writing the history of timeline layout 2: a file of level 0 each time, levels merged (format notes, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.formats import avro_file
from hoodie.storage.base import Storage, closing_input
from hoodie.storage.idempotent import create_own
from hoodie.timeline.archive.base import missing, torn
from hoodie.timeline.archive.manifest import HistoryFile, Manifest, Manifests
from hoodie.timeline.archive.writer import ArchiveSettings, Entry, drop
from hoodie.timeline.instant import Action, State

_SCHEMA = pa.schema(
    [
        pa.field("instantTime", pa.string()),
        pa.field("completionTime", pa.string()),
        pa.field("action", pa.string()),
        pa.field("metadata", pa.binary()),
        pa.field("plan", pa.binary()),
        pa.field("version", pa.int32(), nullable=False),
    ],
    metadata={"parquet.avro.schema": avro_file.schema_text("HoodieLSMTimelineInstant"), "writer.model.name": "avro"},
)
_ENTRY_VERSION = 1
_ROW_GROUP = 16 * 1024 * 1024  # bytes of entries that are held at once
_ROWS = 64  # entries that are read at once


class LsmArchiveWriter:
    """A file counts once a manifest names it; until then it has no owner, and the next archiver writes it again."""

    def __init__(self, storage: Storage, folder: str, settings: ArchiveSettings) -> None:
        self._storage = storage
        self._manifests = Manifests(storage, folder)
        self._settings = settings

    def add(self, entries: Sequence[Entry]) -> None:
        manifest = self._manifests.current()
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(sink, _SCHEMA, compression="gzip") as writer:
            for rows in _row_groups(entries):
                writer.write_table(pa.Table.from_pylist([_row(entry) for entry in rows], _SCHEMA))
        data = sink.getvalue().to_pybytes()
        times = [entry.instant.time for entry in entries]
        file = HistoryFile.of(min(times), max(times), 0, len(data))
        if file.name in manifest.names:
            raise torn(self._manifests.path(file.name), "a file of the same range that has not these instants")
        path = self._manifests.path(file.name)
        try:
            create_own(self._storage, path, data)
        except FileExistsError:  # left by an archiver that was killed before it had a manifest
            drop(self._storage, path)
            create_own(self._storage, path, data)
        self._manifests.replace(manifest, (*manifest.files, file))

    def tidy(self) -> int:
        """Merge the oldest files of each level into one of the next, when there are enough; the next level only after this one.
        Then delete old manifests, and files that none of the others names: as in Hudi.
        """
        manifest, merged, level = self._manifests.current(), 0, 0
        for level in count():
            chosen = self._to_merge(manifest, level)
            if not chosen:
                break
            manifest = self._merged(manifest, chosen, level + 1)
            merged += len(chosen)
        self._clean(manifest, self._settings.manifests_retained + level)
        return merged

    def _to_merge(self, manifest: Manifest, level: int) -> list[HistoryFile]:
        """The oldest files of a level, up to a number of files and a sum of bytes; none where they are too few."""
        files = sorted((file for file in manifest.files if file.level == level), key=lambda file: file.least)
        chosen: list[HistoryFile] = []
        if len(files) < self._settings.level_files:
            return chosen
        for file in files:
            chosen.append(file)
            if len(chosen) == self._settings.level_files:
                break
            if sum(file.size for file in chosen) > self._settings.level_file_bytes:
                if len(chosen) > 1:
                    break
                chosen.clear()  # this one is large enough
        least = min((file.least for file in chosen), default=None)
        greatest = max((file.greatest for file in chosen), default=None)
        exists = least and greatest and HistoryFile.of(least, greatest, level + 1, 0).name in manifest.names
        return chosen if len(chosen) > 1 and not exists else []

    def _merged(self, manifest: Manifest, chosen: Sequence[HistoryFile], level: int) -> Manifest:
        least, greatest = min(file.least for file in chosen), max(file.greatest for file in chosen)
        name = HistoryFile.of(least, greatest, level, 0).name
        path = self._manifests.path(name)
        drop(self._storage, path)
        with self._storage.open_output(path) as sink, pq.ParquetWriter(sink, _SCHEMA, compression="gzip") as writer:
            for table in _gathered(self._batches(chosen)):
                writer.write_table(table)
        info = self._storage.info(path)
        if info is None:
            raise missing(path, "the archiver that has just written it")
        merged = {file.name for file in chosen}
        others = [file for file in manifest.files if file.name not in merged]
        return self._manifests.replace(manifest, [*others, HistoryFile.of(least, greatest, level, info.size)])

    def _batches(self, files: Sequence[HistoryFile]) -> Iterator[pa.Table]:
        """The entries of these files, each once."""
        seen_keys: set[tuple[str, str]] = set()
        for file in files:
            path = self._manifests.path(file.name)
            where = f"{self._storage.base_path}/{path}"
            try:
                with closing_input(self._storage, path) as source:
                    for batch in pq.ParquetFile(source).iter_batches(_ROWS, columns=_SCHEMA.names):
                        table = pa.Table.from_batches([batch]).select(_SCHEMA.names).cast(_SCHEMA)
                        keys = list(zip(*(table.column(i).to_pylist() for i in (0, 2)), strict=True))
                        yield table.filter(pa.array([key not in seen_keys for key in keys]))
                        seen_keys.update(keys)
            except FileNotFoundError:
                raise missing(where, "the manifest") from None
            except (pa.ArrowException, KeyError, ValueError) as error:
                raise torn(where, error) from error

    def _clean(self, manifest: Manifest, keep: int) -> None:
        numbers = sorted(self._manifests.numbers(), reverse=True)
        if len(numbers) <= keep:
            return
        kept_manifests = {*numbers[:keep], manifest.number}
        named = {file.name for number in kept_manifests for file in self._manifests.files_of(number)} | manifest.names
        for number in numbers:
            if number not in kept_manifests:
                drop(self._storage, self._manifests.path(f"manifest_{number}"))
        for info in self._storage.list(self._manifests.folder).files:
            if HistoryFile.named(info.name) is not None and info.name not in named:
                drop(self._storage, info.path)


def _row(entry: Entry) -> dict[str, object]:
    instant = entry.instant
    return {
        "instantTime": instant.time,
        "completionTime": instant.completion_time,
        "action": str(instant.action),
        "metadata": entry.completed.body or None,
        "plan": _plan(entry) or None,
        "version": _ENTRY_VERSION,
    }


def _plan(entry: Entry) -> bytes:
    """The plan that Hudi stores: that of a clean or a compaction; for a replacecommit the contents of its inflight file, or of
    its requested one."""
    pending = next((file.instant.action for file in entry.pending), entry.instant.action)
    match pending:
        case Action.CLEAN | Action.COMPACTION | Action.LOG_COMPACTION:
            return entry.body(State.REQUESTED)
        case Action.REPLACE_COMMIT | Action.CLUSTERING:
            return entry.body(State.INFLIGHT) or entry.body(State.REQUESTED)
    return b""


def _row_groups(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    entries_of_group: list[Entry] = []
    size = 0
    for entry in entries:
        entries_of_group.append(entry)
        size += len(entry.completed.body) + sum(len(file.body) for file in entry.pending)
        if size >= _ROW_GROUP:
            yield entries_of_group
            entries_of_group, size = [], 0
    if entries_of_group:
        yield entries_of_group


def _gathered(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Small tables as larger ones, each a row group."""
    tables_of_batch: list[pa.Table] = []
    size = 0
    for table in tables:
        tables_of_batch.append(table)
        size += table.nbytes
        if size >= _ROW_GROUP:
            yield pa.concat_tables(tables_of_batch)
            tables_of_batch, size = [], 0
    if tables_of_batch:
        yield pa.concat_tables(tables_of_batch)
