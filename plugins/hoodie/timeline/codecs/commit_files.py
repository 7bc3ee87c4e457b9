"""Data files of a commit's body. Decodes no more of a large body than is asked for."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import fastavro

from hoodie.formats import avro_file
from hoodie.formats.varint import encode_zigzag
from hoodie.model.commit import CommitMetadata
from hoodie.model.names import LogFileName
from hoodie.model.time import Time
from hoodie.timeline.codecs.commit import count, load_json, refuse_empty
from hoodie.timeline.name_checks import named_path, reading

Sizes = Mapping[str, int]
"""Names of base and log files -> bytes that they have at least; 0 where the commit does not say, or `LISTED`."""
LISTED = -1
"""In place of the bytes of a log that a stat lists beside its path: it belongs to the commit as long as it is there."""
Written = Mapping[str, Sizes]
"""Partition path -> the base and log files that a commit wrote there."""

_STATS = "partitionToWriteStats"
_SMALL = 1 << 18  # bytes
_FEW = 16  # partitions that are worth looking for one by one
_NOT_AVRO = (ValueError, EOFError, LookupError, TypeError, ArithmeticError, MemoryError)
_PLAIN = re.compile(r"[\w=.:+@/-]+", re.ASCII)  # a partition path that JSON writes in one way only


def written_by(metadata: CommitMetadata, time: Time) -> Written:
    """The files of the commit `time` that was decoded already."""
    partitions: dict[str, list[tuple[str | None, int]]] = {}
    for stat in metadata.stats:
        size = stat.file_size + (stat.log.offset if stat.log is not None else 0)
        # Before table version 8 a log has the instant of its slice, and its stat lists logs of other commits.
        logs = stat.log.log_files if stat.log is not None and f"_{time}.log." in stat.path else ()
        partitions.setdefault(stat.partition, []).extend(_files_of(stat.path, size, logs))
    return {partition: _named(files) for partition, files in partitions.items()}


def looked_up(data: bytes, partitions: Collection[str] | None) -> bool:
    """Return whether `partitions` (None: all) are few enough to be looked for in this body, so that the others are not
    decoded."""
    return partitions is not None and is_large(len(data)) and len(partitions) <= _FEW and "" not in partitions


def is_large(size: int) -> bool:
    """Return whether decoding a whole body of `size` bytes takes more than some milliseconds."""
    return size > _SMALL


def written_json(data: bytes, where: str, partitions: Collection[str] | None) -> Written:
    """The files that a JSON body names, at least those of `partitions`. Raises CorruptTableError or
    UnsafePathError naming `where`."""
    if partitions is not None and looked_up(data, partitions) and all(map(_PLAIN.fullmatch, partitions)):
        text = data.decode(errors="replace")
        if "\\/" not in text:
            with reading(where, "commit"):
                return {partition: _find_json(text, partition) for partition in partitions}
    return _all_of(load_json(data, where), where, beside=False)


def written_avro(data: bytes, where: str, partitions: Collection[str] | None) -> Written:
    """The files that an Avro body names, at least those of `partitions`. Raises CorruptTableError or
    UnsafePathError naming `where`."""
    if partitions is not None and looked_up(data, partitions):
        stats = _stats_schema(data)
        result = {partition: _find_avro(data, partition, stats) for partition in partitions} if stats else {}
        if result and None not in result.values():
            return {partition: sizes or {} for partition, sizes in result.items()}
    return _all_of(avro_file.decode(data, where), where, beside=True)


def _all_of(record: Mapping[str, Any], where: str, *, beside: bool) -> Written:
    """`beside` adds the logs that stats list. Before table version 8, whose bodies are JSON, these are all logs of the slice."""
    with reading(where, "commit"):
        refuse_empty(record)
        return {
            named_path(partition, where): _sizes(entries, beside=beside)
            for partition, entries in (record.get(_STATS) or {}).items()
        }


def _sizes(entries: Iterable[Mapping[str, Any]], *, beside: bool = False) -> Sizes:
    files: list[tuple[str | None, int]] = []
    for entry in entries:
        logs = entry.get("logFiles") or () if beside else ()
        files += _files_of(entry.get("path"), count(entry.get("fileSizeInBytes")) + _offset(entry), logs)
    return _named(files)


def _files_of(path: str | None, size: int, logs: Sequence[str]) -> list[tuple[str | None, int]]:
    """The files of one stat. With logs beside the path, `size` may be that of all of them."""
    beside = [(name, LISTED) for name in _logs_beside(path, logs)]
    return [(path, 0 if len(beside) > 1 else size), *beside]


def _logs_beside(path: str | None, logs: Sequence[str]) -> Iterator[str]:
    """The logs with the instant of a log that its stat lists, too.

    Flink makes one stat of the mini-batches of a file group: it has the path of the last log, and lists all.
    """
    own = LogFileName.parse((path or "").rpartition("/")[2]) if len(logs) > 1 else None
    for other in map(LogFileName.parse, logs if own is not None else ()):
        if own is not None and other is not None and (other.file_id, other.time) == (own.file_id, own.time):
            yield str(other)


def _offset(entry: Mapping[str, Any]) -> int:
    """Bytes of a log before this write: in version 6 several writes may share a log."""
    return count(entry.get("logOffset")) if entry.get("logFiles") is not None else 0


def _named(files: Iterable[tuple[str | None, int]]) -> Sizes:
    """The base and log files; a handle of Hudi's that wrote nothing leaves no path."""
    sizes: dict[str, int] = {}
    for path, size in files:
        if path and not path.endswith(".cdc"):
            name = path.rpartition("/")[2]
            sizes[name] = max(sizes.get(name, LISTED), size)
    return sizes


def _find_json(text: str, partition: str) -> Sizes:
    for match in re.finditer(rf'"{re.escape(partition)}"\s*:\s*(?=\[)', text):
        try:
            entries, _ = json.JSONDecoder().raw_decode(text, match.end())
        except ValueError:
            continue
        if all(isinstance(entry, dict) and "path" in entry for entry in entries):  # else the ids of replaced groups
            return _sizes(entries)
    return {}


def _stats_schema(data: bytes) -> Any:
    """The schema of the stats of one partition, by which this body is written; None when it has to be decoded whole."""
    try:
        reader = fastavro.reader(io.BytesIO(data))
        fields: dict[str, Any] = {field["name"]: field["type"] for field in dict(reader.writer_schema)["fields"]}
        (stats,) = (kind for kind in fields[_STATS] if kind != "null")
        return fastavro.parse_schema(stats["values"]) if reader.metadata.get("avro.codec", "null") == "null" else None
    except _NOT_AVRO:  # a torn file, which raises when it is decoded whole, or one by a schema of another kind
        return None


def _find_avro(data: bytes, partition: str, stats: Any) -> Sizes | None:
    """The files of one partition; None when it is mentioned, but not found as a key of the stats.

    The bytes of the key also occur in each of the stats. A key is followed by an array of stats of this very partition.
    """
    name = partition.encode()
    key = encode_zigzag(len(name)) + name
    stream = io.BytesIO(data)
    for place in _places(data, key):
        stream.seek(place + len(key))
        try:
            entries: Any = fastavro.schemaless_reader(stream, stats, None)
        except _NOT_AVRO:  # anything at all may follow the bytes where they are not a key
            continue
        if entries and all(entry.get("partitionPath") == partition for entry in entries):
            return _sizes(entries, beside=True)
    return None if key in data else {}


def _places(data: bytes, key: bytes) -> Iterator[int]:
    place = data.find(key)
    while place >= 0:
        yield place
        place = data.find(key, place + 1)
