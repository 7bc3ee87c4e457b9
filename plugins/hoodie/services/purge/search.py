"""Search of every file under a table for rows, keys and texts of a purge. Reads, and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.properties.store import PROPERTIES
from hoodie.engine.base import Engine
from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.bootstrap_file import BootstrapFileReader, open_base_file
from hoodie.formats.log import BlockType, LogBlock, read_deletes, read_rows, scan_blocks
from hoodie.keygen import stored_keys
from hoodie.keygen.generator import record_keys
from hoodie.keygen.record_key import RecordKeys
from hoodie.keygen.stored_keys import StoredKeys
from hoodie.model.files import BaseFile
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.names import METADATA_TABLE, BaseFileName, LogFileName, is_data_file
from hoodie.schema import conform, top_level
from hoodie.schema.history import StoredColumns
from hoodie.services.purge import journal, text_search
from hoodie.services.purge.subject import Subject, key_rows, united
from hoodie.services.purge.trace import BLOOM, DELETED_KEYS, KEY_RANGE, NAME, ROWS, TEXT, Trace
from hoodie.storage.base import FileInfo, Storage, walk_files
from hoodie.transaction import quarantine, trash
from hoodie.view import TableState, TableView

_COPIES = re.compile(rf"(?:{re.escape(trash.FOLDER)}/\d+_\d+|{re.escape(quarantine.FOLDER)})/(.+?)(?:~\d+-[0-9a-f]+)?")
"""Copies of data files below `.hoodie`, with the path of before."""

_IMAGES = ("before", "after")


@dataclass(frozen=True)
class SearchedFile:
    """A file to search. `origin` is the path that a copy of a data file had in the table; `base` is set for a base file."""

    info: FileInfo
    origin: str
    base: BaseFile | None = None

    @property
    def partition(self) -> str:
        return self.origin.rpartition("/")[0]

    @property
    def is_log(self) -> bool:
        return not self.origin.startswith(".hoodie/") and LogFileName.parse(self.origin.rpartition("/")[2]) is not None


def is_copy(path: str) -> bool:
    """Return whether a file is a copy that a clean, or a repair, has set aside."""
    match = _COPIES.fullmatch(path)
    return match is not None and is_data_file(match[1].rpartition("/")[2])


def searched_files(view: TableView) -> list[SearchedFile]:
    """Every file under the table, but for those of other tables in its folder and the journals of purges."""
    bases = {base.path: base for group in view.files for base in group.base_files}
    infos = list(walk_files(view.state.storage, ""))
    others = {
        info.path.removesuffix(f"/{PROPERTIES}")
        for info in infos
        if info.path.endswith(f"/{PROPERTIES}") and not info.path.startswith(".hoodie/")
    }
    return [
        _searched(info, bases)
        for info in infos
        if not info.path.startswith(f"{journal.FOLDER}/") and not _is_below(info.path, others)
    ]


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _searched(info: FileInfo, bases: dict[str, BaseFile]) -> SearchedFile:
    copy = _COPIES.fullmatch(info.path)
    origin = copy[1] if copy is not None else info.path
    name = BaseFileName.parse(origin.rpartition("/")[2])
    if name is None or origin.startswith(".hoodie/"):
        return SearchedFile(info, origin)
    partition = origin.rpartition("/")[0]
    base = bases.get(info.path) or BaseFile(partition, name.file_id, name.instant, info)
    return SearchedFile(info, origin, base)


@dataclass(frozen=True)
class SearchResult:
    """The `traces` of a subject in the files of a table, and the data files that were `clean` when they were read."""

    subject: Subject
    traces: list[Trace]
    clean: frozenset[FileInfo]


def search(
    state: TableState, subject: Subject, engine: Engine, clean: frozenset[FileInfo] = frozenset()
) -> SearchResult:
    """The files that hold something of the subject. Reads every file of the table but for the data files that an earlier search
    for this subject has found `clean`, and whose size and time are the same: no writer changes a data file in its place.

    Raises CorruptFileError, MissingFileError, or UnsupportedTableError for a file that cannot be read: then nothing is known.
    """
    whole = searched_files(TableView(state))
    files = [file for file in whole if file.info not in clean]
    task = FileSearch.of(state, subject)
    outcomes = list(zip(files, engine.map(task, files, [file.info.size for file in files]), strict=True))
    without = {file.info for file, trace in outcomes if trace is None and (file.base is not None or file.is_log)}
    still = clean.intersection(file.info for file in whole)
    return SearchResult(subject, [trace for _, trace in outcomes if trace is not None], still.union(without))


@dataclass(frozen=True)
class FileSearch:
    """Task function: a file -> its trace of the subject, None without one."""

    storage: Storage
    subject: Subject
    stored: StoredKeys
    row_keys: RecordKeys
    columns: StoredColumns

    @staticmethod
    def of(state: TableState, subject: Subject) -> FileSearch:
        """The search of the files of a table as it is in `state`."""
        columns = StoredColumns.of(subject.schema, state.schemas)
        stored = stored_keys(state.properties, subject.schema)
        return FileSearch(state.storage, subject, stored, record_keys(state.properties), columns)

    def __call__(self, file: SearchedFile) -> Trace | None:
        kinds: set[str] = set()
        rows, keys = 0, list[pa.Table]()
        if file.base is not None:
            with open_base_file(self.storage, file.base, (), self.columns) as reader:
                kinds |= self._footer(reader, file.partition)
                for batch in self._base_rows(reader):
                    rows += self._matches(batch, file.partition, keys)
        elif file.is_log:
            for block in scan_blocks(self.storage, file.info.path):
                rows += self._block(block, file.partition, keys, kinds)
        if rows:
            kinds.add(ROWS)
        kinds |= self._bytes(file, in_rows=bool(kinds))
        if any(text in file.info.path for text in self.subject.texts):
            kinds.add(NAME)
        return Trace(file.info.path, file.info.size, rows, frozenset(kinds), united(iter(keys))) if kinds else None

    def _matches(self, rows: pa.Table, partition: str, keys: list[pa.Table]) -> int:
        """The number of rows of the subject; the keys of those where the condition is true go to `keys`."""
        matching = rows.filter(self.subject.expression)
        if matching.num_rows:
            keys.append(key_rows(matching, partition))
        subject_keys = self.subject.keys_of(partition)
        others = rows.filter(pc.is_in(rows[RECORD_KEY], subject_keys)) if len(subject_keys) else rows.slice(0, 0)
        if not others.num_rows:
            return int(matching.num_rows)
        return int(matching.num_rows + others.num_rows - others.filter(self.subject.expression).num_rows)

    def _target(self) -> pa.Schema:
        fields = [field.with_nullable(True) for field in self.subject.columns]
        return pa.schema([*fields, pa.field(RECORD_KEY, pa.string())])

    def _base_rows(self, reader: BaseFileReader | BootstrapFileReader) -> Iterator[pa.Table]:
        target = self._target()
        for rows in self.stored.rows(target.names, reader.batches):
            yield conform(rows, target)

    def _footer(self, reader: BaseFileReader | BootstrapFileReader, partition: str) -> set[str]:
        keys, bounds = self.subject.keys_of(partition), reader.key_range()
        if not len(keys) or bounds is None:
            return set()
        kinds = {KEY_RANGE} if pc.any(pc.is_in(pa.array(bounds), keys)).as_py() else set()
        index = reader.key_index()
        if index is not None and index.bloom.contains(keys).any():
            kinds.add(BLOOM)
        return kinds

    def _block(self, block: LogBlock, partition: str, keys: list[pa.Table], kinds: set[str]) -> int:
        if block.kind in (BlockType.COMMAND, BlockType.CORRUPT):
            return 0
        if block.kind is BlockType.DELETE:
            subject_keys = self.subject.keys_of(partition)
            deleted = read_deletes(self.storage, block, ())[RECORD_KEY]
            if len(subject_keys) and pc.any(pc.is_in(deleted, subject_keys)).as_py():
                kinds.add(DELETED_KEYS)
            return 0
        batches = self._images(block) if block.kind is BlockType.CDC_DATA else self._log_rows(block)
        return sum(self._matches(batch, partition, keys) for batch in batches)

    def _log_rows(self, block: LogBlock) -> Iterator[pa.Table]:
        target = self._target()
        renaming = self.columns.in_block(block.instant)
        read = partial(read_rows, self.storage, block, renaming=renaming)
        for rows in self.stored.rows(target.names, read):
            yield conform(rows, target)

    def _images(self, block: LogBlock) -> Iterator[pa.Table]:
        """The rows before and after the changes of a change-data log, or rows of keys alone."""
        target = self._target()
        for rows in read_rows(self.storage, block):
            names = rows.schema.names
            if "record_key" in names:
                yield conform(rows.select(["record_key"]).rename_columns([RECORD_KEY]), target)
            for name in (image for image in _IMAGES if image in names):
                yield self._image(rows[name].combine_chunks().drop_null(), target)

    def _image(self, image: pa.StructArray, target: pa.Schema) -> pa.Table:
        if pa.types.is_null(image.type):
            return target.empty_table()
        rows = pa.Table.from_struct_array(image)
        schema = self.subject.schema
        fields = pa.schema([schema.field(name) for name in top_level(self.row_keys.fields) if name in schema.names])
        keys = self.row_keys.of(conform(rows, fields))
        return conform(rows.append_column(RECORD_KEY, keys), target)

    def _bytes(self, file: SearchedFile, *, in_rows: bool) -> set[str]:
        if in_rows or not self.subject.needles:
            return set()
        path, needles = file.info.path, self.subject.needles
        if text_search.is_decoded(path):
            return {TEXT} if text_search.in_values(self.storage, path, needles) else set()
        hits = text_search.in_bytes(self.storage, path, needles)
        if hits and (file.base is not None or file.is_log):
            hits = [needle for needle in hits if not self._is_of_another(file, needle.decode())]
        return {TEXT} if hits else set()

    def _is_of_another(self, file: SearchedFile, text: str) -> bool:
        """Return whether a value of a row that stays contains the text."""
        return any(text_search.contains(rows, [text.encode()]) for rows in self._all_rows(file))

    def _all_rows(self, file: SearchedFile) -> Iterator[pa.Table]:
        if file.base is not None:
            with open_base_file(self.storage, file.base, (), self.columns) as reader:
                yield from reader.batches()
            return
        for block in scan_blocks(self.storage, file.info.path):
            if block.kind is BlockType.DELETE:
                yield read_deletes(self.storage, block, ())
            elif block.kind not in (BlockType.COMMAND, BlockType.CORRUPT):
                yield from read_rows(self.storage, block)


def in_table(traces: Sequence[Trace]) -> list[Trace]:
    """The traces in data files of partitions."""
    return [
        trace
        for trace in traces
        if not trace.path.startswith(".hoodie/") and is_data_file(trace.path.rpartition("/")[2])
    ]


def in_metadata_table(trace: Trace) -> bool:
    """Return whether a file is of Hudi's metadata table, which any change of the table by this library deletes."""
    return trace.path.startswith(f"{METADATA_TABLE}/")
