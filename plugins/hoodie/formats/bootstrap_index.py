"""The bootstrap index: which source file holds the rows of a skeleton base file (format notes, section 10)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import fastavro
import pyarrow as pa

from hoodie.errors import CorruptFileError
from hoodie.formats import avro_file
from hoodie.formats.hfile import ENTRIES, Codec, HFileWriter, open_hfile
from hoodie.model.files import GroupId, InGroup
from hoodie.storage.base import Storage

FOLDER = ".hoodie/.aux/.bootstrap"
_NAME = "00000000-0000-0000-0000-000000000000-0_1-0-1_00000000000001.hfile"
PARTITIONS_PATH = f"{FOLDER}/.partitions/{_NAME}"
FILE_IDS_PATH = f"{FOLDER}/.fileids/{_NAME}"

_INFO = "INDEX_INFO"
_BLOCK_SIZE = 64 * 1024  # HBase's default; a value is some kilobytes, as each carries its schema
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the table's source as Hudi keeps it: absolute URI, size in bytes, times in ms since 1970."""

    uri: str
    length: int
    modified_ms: int
    accessed_ms: int = 0
    block_size: int = 32 * 1024 * 1024
    replication: int = 1


@dataclass(frozen=True, slots=True)
class BootstrapFile(InGroup):
    """A skeleton file group and the source file that holds its rows.

    `partition` is the table's partition path, `source_partition` the folder below the source's base path; "" for none.
    """

    partition: str
    file_id: str
    source_partition: str
    source: SourceFile


@dataclass(frozen=True, slots=True)
class BootstrapIndex:
    """The whole index: the source's base path, when it was made (ms since 1970), and its files by partition and id."""

    source_base_path: str
    created_ms: int
    files: tuple[BootstrapFile, ...]


def write_bootstrap_index(storage: Storage, index: BootstrapIndex) -> None:
    """Write both files of the index. Raises FileExistsError when the table has one, ValueError for no files.

    The file by partition comes last: readers begin with it.
    """
    if not index.files:
        raise ValueError("a bootstrap index needs files")
    files = sorted(index.files, key=lambda file: _file_key(file.group))
    _write(storage, FILE_IDS_PATH, index, [(_file_key(f.group), _file_value(f)) for f in files])
    partitions: dict[str, list[BootstrapFile]] = {}
    for file in files:
        partitions.setdefault(file.partition, []).append(file)
    entries = sorted((_partition_key(partition), _partition_value(group)) for partition, group in partitions.items())
    _write(storage, PARTITIONS_PATH, index, entries)


def delete_bootstrap_index(storage: Storage) -> None:
    """Delete what there is of an index."""
    for path in (PARTITIONS_PATH, FILE_IDS_PATH):
        storage.delete(path)


def read_bootstrap_index(storage: Storage, partitions: Sequence[str] | None = None) -> BootstrapIndex:
    """The index of a table, of the named partitions or of all. Raises FileNotFoundError, CorruptFileError."""
    with open_hfile(storage, PARTITIONS_PATH) as reader:
        where = f"{storage.base_path}/{PARTITIONS_PATH}"
        if _INFO not in reader.info:
            raise _corrupt(where, f"no {_INFO} in the file info")
        info = _decode(reader.info[_INFO], where)
        if partitions is None:
            batches = reader.scan()
        else:
            batches = reader.lookup(pa.array([_partition_key(name) for name in partitions], pa.binary()))
        files = [file for value in _values(batches) for file in _files(_decode(value, where), where)]
    files.sort(key=lambda file: file.group)
    return BootstrapIndex(info["bootstrapBasePath"] or "", info["createdTimestamp"] or 0, tuple(files))


def read_bootstrap_files(storage: Storage, requested: Iterable[GroupId]) -> dict[GroupId, BootstrapFile]:
    """The files of the wanted groups, without reading those of whole partitions; unknown ones are left out.

    Raises FileNotFoundError, CorruptFileError.
    """
    groups = {_file_key(group): group for group in requested}
    where = f"{storage.base_path}/{FILE_IDS_PATH}"
    result = {}
    with open_hfile(storage, FILE_IDS_PATH) as reader:
        for batch in reader.lookup(pa.array(list(groups), pa.binary())):
            for key, value in zip(batch["key"], batch["value"], strict=True):
                group = groups[key.as_py()]
                record = _decode(value.as_py(), where)
                source = _source(record["bootstrapFileStatus"], where)
                result[group] = BootstrapFile(*group, record["bootstrapPartitionPath"] or "", source)
    return result


def _partition_key(partition: str) -> bytes:
    return f"part={partition}".encode()


def _file_key(group: GroupId) -> bytes:
    return f"part={group.partition};fileid={group.file_id}".encode()


def _partition_value(files: Sequence[BootstrapFile]) -> bytes:
    record = {
        "bootstrapPartitionPath": files[0].source_partition,
        "partitionPath": files[0].partition,
        "fileIdToBootstrapFile": {file.file_id: _status(file.source) for file in files},
    }
    return avro_file.encode("HoodieBootstrapPartitionMetadata", record)


def _file_value(file: BootstrapFile) -> bytes:
    record = {
        "bootstrapPartitionPath": file.source_partition,
        "bootstrapFileStatus": _status(file.source),
        "partitionPath": file.partition,
    }
    return avro_file.encode("HoodieBootstrapFilePartitionInfo", record)


def _status(source: SourceFile) -> dict[str, Any]:
    return {
        "path": {"uri": source.uri},
        "length": source.length,
        "isDir": False,
        "blockReplication": source.replication,
        "blockSize": source.block_size,
        "modificationTime": source.modified_ms,
        "accessTime": source.accessed_ms,
    }


def _files(record: Mapping[str, Any], where: str) -> Iterator[BootstrapFile]:
    for file_id, status in (record["fileIdToBootstrapFile"] or {}).items():
        yield BootstrapFile(
            record["partitionPath"] or "", file_id, record["bootstrapPartitionPath"] or "", _source(status, where)
        )


def _source(status: Mapping[str, Any] | None, where: str) -> SourceFile:
    uri = status and status["path"] and status["path"]["uri"]
    if not status or not uri or status["length"] is None:
        raise _corrupt(where, f"a source file without path or length: {status}")
    return SourceFile(
        uri=uri,
        length=status["length"],
        modified_ms=status["modificationTime"] or 0,
        accessed_ms=status["accessTime"] or 0,
        block_size=status["blockSize"] or 0,
        replication=status["blockReplication"] or 0,
    )


def _write(storage: Storage, path: str, index: BootstrapIndex, entries: Sequence[tuple[bytes, bytes]]) -> None:
    info = {
        "version": 1,
        "bootstrapBasePath": index.source_base_path,
        "createdTimestamp": index.created_ms,
        "numKeys": len(entries),
    }
    with storage.open_output(path) as sink:
        writer = HFileWriter(
            sink,
            f"{storage.base_path}/{path}",
            codec=Codec.NONE,
            block_size=_BLOCK_SIZE,
            created_ms=index.created_ms,
        )
        for start in range(0, len(entries), _BATCH):
            keys, values = zip(*entries[start : start + _BATCH], strict=True)
            writer.write(pa.table([pa.array(keys, pa.binary()), pa.array(values, pa.binary())], schema=ENTRIES))
        writer.finish({_INFO: avro_file.encode("HoodieBootstrapIndexInfo", info)})


def _values(batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """One value for each partition: few."""
    for batch in batches:
        for value in batch["value"]:
            yield value.as_py()


def _decode(data: bytes, where: str) -> dict[str, Any]:
    try:
        (record,) = fastavro.reader(io.BytesIO(data))
    except (ValueError, EOFError, KeyError, IndexError, TypeError) as error:
        raise _corrupt(where, f"a value that is not one Avro record: {error!r}") from error
    result: dict[str, Any] = record
    return result


def _corrupt(where: str, detail: str) -> CorruptFileError:
    return CorruptFileError(
        f"Bootstrap index {where} cannot be read",
        found=detail,
        fix="restore the file from a copy, or bootstrap the table again",
    )
