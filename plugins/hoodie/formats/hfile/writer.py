"""Writing HFiles in one pass: entries come sorted, a block is kept in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import RecordKeyError
from hoodie.formats.hfile.blocks import NO_BLOCK, Codec, Magic, encode_block
from hoodie.formats.hfile.entries import ENTRY_OVERHEAD, KEY_TAIL, MAX_KEY, encode_entries
from hoodie.formats.hfile.index import IndexEntry, encode_root, with_tail
from hoodie.formats.hfile.trailer import Trailer, encode_info, encode_trailer
from hoodie.storage.base import File

BLOCK_SIZE = 1024 * 1024
"""Bytes of entries in a data block before compression: `hoodie.hfile.block.size`."""

_PIECE = 32 * 1024 * 1024  # bytes of entries that are encoded at once
_LONG = 8


class HFileWriter:
    """Writes one HFile to `sink`: `write` any number of times, then `finish`."""

    def __init__(
        self, sink: File, where: str, *, codec: Codec = Codec.GZ, block_size: int = BLOCK_SIZE, created_ms: int = 0
    ) -> None:
        """`where` names the file in errors; `created_ms` since 1970 is kept in its file info."""
        self._sink = sink
        self._where = where
        self._codec = codec
        self._block_size = block_size
        self._created_ms = created_ms
        self._position = 0
        self._total = 0  # bytes before compression
        self._previous: dict[Magic, int] = {}
        self._index: list[IndexEntry] = []
        self._pending: list[pa.Buffer] = []
        self._pending_size = 0
        self._first_key = b""
        self._last_key: bytes | None = None
        self._count = 0
        self._key_bytes = 0
        self._value_bytes = 0

    def write(self, entries: pa.RecordBatch | pa.Table) -> None:
        """Append entries: columns `key` and `value`, binary or utf8, keys ascending by their bytes.

        Raises RecordKeyError for keys that do not ascend, occur twice, are null or longer than 32767 bytes, and for values that
        are null.
        """
        for batch in entries.to_batches() if isinstance(entries, pa.Table) else [entries]:
            keys, values = batch["key"].cast(pa.binary()), batch["value"].cast(pa.binary())
            if len(keys):
                self._check(keys, values)
                for start, length in _pieces(keys, values):
                    self._add(keys.slice(start, length), values.slice(start, length))

    def finish(self, info: Mapping[str, bytes] | None = None, meta_blocks: Mapping[str, bytes] | None = None) -> None:
        """Write what is left, `meta_blocks`, the index, the file info with `info`, and the trailer; the sink stays open."""
        self._flush()
        metas = []
        for name in sorted(meta_blocks or {}):
            offset, size = self._block(Magic.META, (meta_blocks or {})[name])
            metas.append(IndexEntry(offset, size, name.encode()))
        root = encode_root(self._index)
        load_on_open, _ = self._block(Magic.ROOT_INDEX, root)
        self._block(Magic.ROOT_INDEX, encode_root(metas))
        info_offset, _ = self._block(Magic.FILE_INFO, encode_info({**self._statistics(), **(info or {})}))
        trailer = Trailer(
            codec=self._codec,
            load_on_open_offset=load_on_open,
            file_info_offset=info_offset,
            entry_count=self._count,
            data_index_count=len(self._index),
            meta_index_count=len(metas),
            index_levels=1,
            data_index_size=len(root),
            total_bytes=self._total,
            first_data_offset=self._index[0].offset if self._index else 0,
            last_data_offset=self._index[-1].offset if self._index else 0,
        )
        self._sink.write(encode_trailer(trailer))

    def _check(self, keys: pa.Array, values: pa.Array) -> None:
        if keys.null_count or values.null_count:
            raise self._refusal("a null key or value", "give every entry a key and a value")
        if pc.max(pc.binary_length(keys)).as_py() > MAX_KEY:
            raise self._refusal(f"a key of more than {MAX_KEY} bytes", "shorten the record key")
        first = keys[0].as_py()
        if self._last_key is not None and first <= self._last_key:
            raise self._out_of_order(self._last_key, first)
        falls = np.flatnonzero(pc.less_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False))
        if len(falls):
            place = int(falls[0])
            raise self._out_of_order(keys[place].as_py(), keys[place + 1].as_py())
        self._last_key = keys[-1].as_py()

    def _out_of_order(self, key: bytes, after: bytes) -> RecordKeyError:
        if key == after:
            return self._refusal(f"the key {_key_text(key)} twice", "keep one entry of each key")
        return self._refusal(
            f"the key {_key_text(after)} after {_key_text(key)}", "sort the entries by the bytes of their keys"
        )

    def _refusal(self, detail: str, fix: str) -> RecordKeyError:
        return RecordKeyError(f"Entries cannot be written to HFile {self._where}", found=detail, fix=fix)

    def _add(self, keys: pa.Array, values: pa.Array) -> None:
        bounds, data = encode_entries(keys, values)
        self._count += len(keys)
        self._key_bytes += pc.sum(pc.binary_length(keys)).as_py()
        self._value_bytes += pc.sum(pc.binary_length(values)).as_py()
        first = 0
        while first < len(keys):
            room = self._block_size - self._pending_size
            last = int(np.searchsorted(bounds, int(bounds[first]) + room, side="right")) - 1
            if last <= first and self._pending:
                self._flush()
                continue
            last = max(last, first + 1)
            if not self._pending:
                self._first_key = keys[first].as_py()
            start, size = int(bounds[first]), int(bounds[last] - bounds[first])
            self._pending.append(data.slice(start, size))
            self._pending_size += size
            if last < len(keys):
                self._flush()
            first = last

    def _flush(self) -> None:
        """Write the pending entries as a data block."""
        if not self._pending:
            return
        offset, size = self._block(Magic.DATA, b"".join(self._pending))
        self._index.append(IndexEntry(offset, size, with_tail(self._first_key)))
        self._pending, self._pending_size = [], 0

    def _block(self, magic: Magic, payload: bytes) -> tuple[int, int]:
        """Write a block; its offset and size."""
        offset = self._position
        block = encode_block(magic, payload, self._codec, self._previous.get(magic, NO_BLOCK))
        self._previous[magic] = offset
        self._sink.write(block)
        self._position += len(block)
        self._total += len(payload)
        return offset, len(block)

    def _statistics(self) -> dict[str, bytes]:
        """File info that HBase's reader expects."""
        keys = self._key_bytes + self._count * (2 + len(KEY_TAIL))
        info = {
            "KEY_VALUE_VERSION": (1).to_bytes(4, "big"),
            "MAX_MEMSTORE_TS_KEY": bytes(_LONG),
            "hfile.AVG_KEY_LEN": (keys // max(1, self._count)).to_bytes(4, "big"),
            "hfile.AVG_VALUE_LEN": (self._value_bytes // max(1, self._count)).to_bytes(4, "big"),
            "hfile.CREATE_TIME_TS": self._created_ms.to_bytes(_LONG, "big"),
        }
        if self._last_key is not None:
            info["hfile.LASTKEY"] = with_tail(self._last_key)
        return info


def _pieces(keys: pa.Array, values: pa.Array) -> Iterator[tuple[int, int]]:
    """Start and number of entries that are encoded at once."""
    sizes = pc.add(pc.binary_length(keys), pc.binary_length(values)).to_numpy().astype(np.int64) + ENTRY_OVERHEAD
    ends = np.cumsum(sizes)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _PIECE, side="right")))
        yield first, last - first
        first = last


def _key_text(key: bytes) -> str:
    return repr(key[:100].decode(errors="replace"))
