"""Listing of a table's files in Hudi's metadata table (format notes, section 8): its partition `files`, read from base HFiles
and HFile blocks of logs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock
from hoodie.errors import CorruptTableError
from hoodie.formats.hfile import decode_records, open_hfile
from hoodie.formats.log import BlockType, LogBlock, read_deletes, read_rows
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.names import METADATA_TABLE
from hoodie.model.time import Time
from hoodie.storage import ListingCache, Storage
from hoodie.storage.base import Listing
from hoodie.timeline import Action
from hoodie.view.log_blocks import valid_blocks
from hoodie.view.state import TableState, load_state
from hoodie.view.table_view import TableView

FILES = "files"
_PARTITIONS = "__all_partitions__"  # the key of the record that names the partitions
_NO_PARTITION = "."  # the key of a table's own folder
_OWN = "0000"  # what the times begin with at which it is made: they are of no instant of the table
_READERS = 8
ENTRIES = pa.schema([("partition", pa.string()), ("name", pa.string()), ("size", pa.int64()), ("deleted", pa.bool_())])
_MAP = pa.map_(pa.string(), pa.struct([("size", pa.int64()), ("isDeleted", pa.bool_())]))


@dataclass(frozen=True)
class MetadataListing:
    """The files of a table as its metadata table has them, at one moment."""

    partitions: frozenset[str]  # those that it names
    files: pa.Table  # partition, name (string), size (int64, bytes), of each file one row, in no order
    last: (
        Time | None
    )  # the newest instant of the table that it has taken in; None: none since it was made from a listing


def read_metadata_table(storage: Storage, clock: Clock, pending: Collection[Time]) -> MetadataListing | None:
    """The files of every partition; None where there is no metadata table.

    `pending` are the pending instants of the table itself: their entries in the metadata table do not count yet, as in Hudi.
    Records merge as Hudi's do: of a file the largest size since it was last deleted.

    Raises CorruptFileError, CorruptTableError, MissingFileError, UnsupportedTableError.
    """
    own = ListingCache(storage, METADATA_TABLE)
    if own.list("") == Listing():
        return None
    state = load_state(own, clock)
    alive = valid_entries(_all_entries(own, state, frozenset(pending)))
    of_partitions = pc.equal(alive["partition"], _PARTITIONS)
    taken_in = (i.time for i in state.timeline.completed(Action.DELTA_COMMIT) if not i.time.startswith(_OWN))
    return MetadataListing(
        frozenset(_folder(name) for name in alive.filter(of_partitions)["name"].to_pylist()),
        _without_dots(alive.filter(pc.invert(of_partitions))),
        max(taken_in, default=None),
    )


def valid_entries(entries: pa.Table) -> pa.Table:
    """The valid state after entries in sequence (columns `ENTRIES`): `partition`, `name` and `size` of each file that is not
    deleted, with the largest size since it last was."""
    entries = entries.append_column("place", pa.array(np.arange(entries.num_rows)))
    deletions = entries.filter(entries["deleted"]).group_by(["partition", "name"]).aggregate([("place", "max")])
    additions = entries.filter(pc.invert(entries["deleted"])).join(deletions, ["partition", "name"])
    since = additions.filter(pc.fill_null(pc.greater(additions["place"], additions["place_max"]), fill_value=True))
    alive = since.group_by(["partition", "name"]).aggregate([("size", "max")])
    return alive.select(["partition", "name", "size_max"]).rename_columns(["partition", "name", "size"])


def _all_entries(storage: Storage, state: TableState, pending: Collection[Time]) -> pa.Table:
    """All entries of all records in the order in which they were written."""
    tables: list[pa.Table] = [ENTRIES.empty_table()]
    for file_slice in TableView(state, partitions=[FILES]).latest():
        tables.extend(_base(storage, file_slice))
        blocks = [b for b in valid_blocks(storage, state.timeline, file_slice) if b.instant not in pending]
        with ThreadPoolExecutor(_READERS) as pool:
            read = pool.map(lambda block: _block(storage, block), blocks)
            for block, entries in zip(blocks, read, strict=True):
                if block.kind is BlockType.DELETE:  # deletions of whole records
                    tables = [t.filter(pc.invert(pc.is_in(t["partition"], entries["partition"]))) for t in tables]
                else:
                    tables.append(entries)
    return pa.concat_tables(tables)


def _base(storage: Storage, file_slice: FileSlice) -> Iterator[pa.Table]:
    if file_slice.base_file is None:
        return
    path = file_slice.base_file.path
    with open_hfile(storage, path) as reader:
        schema = reader.info.get("schema")
        if schema is None and reader.entry_count:
            raise _no_records(storage, path, "its file info has no schema")
        for entries in reader.scan():
            yield _entries(storage, decode_records(entries, (schema or b"").decode(errors="replace"), path), path)


def _block(storage: Storage, block: LogBlock) -> pa.Table:
    if block.kind is BlockType.DELETE:
        keys = read_deletes(storage, block, ())[RECORD_KEY]
        return pa.table({"partition": keys})
    return pa.concat_tables(
        [ENTRIES.empty_table(), *(_entries(storage, r, block.path) for r in read_rows(storage, block))]
    )


def _entries(storage: Storage, records: pa.Table, path: str) -> pa.Table:
    """The entries of records, one row each. Raises CorruptTableError for records of another kind."""
    try:
        keys = records["key"].combine_chunks().cast(pa.string())
        maps = records["filesystemMetadata"].combine_chunks().cast(_MAP)
    except (KeyError, pa.ArrowException) as error:
        raise _no_records(storage, path, str(error)) from error
    bounds = maps.offsets.to_numpy()
    start, count = int(bounds[0]), int(bounds[-1] - bounds[0])
    owner = pa.array(np.repeat(np.arange(len(maps)), np.diff(bounds)))
    values = maps.items.slice(start, count)
    columns = [keys.take(owner), maps.keys.slice(start, count), values.field("size"), values.field("isDeleted")]
    entries = pa.table(columns, schema=ENTRIES)
    return entries.filter(maps.is_valid().take(owner)) if maps.null_count else entries


def _no_records(storage: Storage, path: str, detail: str) -> CorruptTableError:
    return CorruptTableError(
        f"{storage.base_path}/{path} holds no records of a metadata table",
        found=detail,
        fix="switch the metadata table off, as any change of the table by this library does; Hudi's next write makes it again",
    )


def _folder(name: str) -> str:
    return "" if name == _NO_PARTITION else name


def _without_dots(files: pa.Table) -> pa.Table:
    partitions = pc.if_else(pc.equal(files["partition"], _NO_PARTITION), "", files["partition"])
    return files.set_column(0, "partition", partitions)
