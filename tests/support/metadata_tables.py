"""Hudi's metadata tables with added entries: of files that are there or not, with sizes, or deleted."""

from __future__ import annotations

import io
from pathlib import Path

import fastavro
import pyarrow as pa

from hoodie.formats.avro_file import hudi_schema, schema_text
from hoodie.formats.hfile import HFileWriter
from hoodie.formats.log import BlockType, Header, encode_block, scan_blocks
from hoodie.storage import LocalStorage

FILES = ".hoodie/metadata/files"
ALL = "__all_partitions__"


def newest_log(table):
    """The log of the partition `files` that was written last."""
    logs = [path for path in Path(table, FILES).glob(".files-*.log.*") if path.suffix != ".crc"]
    storage = LocalStorage(str(table))

    def written(path):
        blocks = scan_blocks(storage, f"{FILES}/{path.name}")
        return max((block.instant for block in blocks if block.kind is BlockType.HFILE_DATA), default="")

    return max(logs, key=written)


def tell(table, records):
    """Append a block to the newest log, as if the instant of its last one had written it.

    `records`: key -> file name -> (size, deleted).
    """
    log = newest_log(table)
    last = [b for b in scan_blocks(LocalStorage(str(table)), f"{FILES}/{log.name}") if b.kind is BlockType.HFILE_DATA][
        -1
    ]
    headers = {Header.INSTANT_TIME: last.instant, Header.SCHEMA: schema_text("HoodieMetadataRecord")}
    with log.open("ab") as file:
        file.write(encode_block(BlockType.HFILE_DATA, headers, hfile(records)))
    log.with_name(f".{log.name}.crc").unlink(missing_ok=True)  # Hadoop's own checksums


def hfile(records):
    """An HFile of such records."""
    keys = sorted(records, key=str.encode)
    values = [_record(records[key], kind=1 if key == ALL else 2) for key in keys]
    sink = io.BytesIO()
    writer = HFileWriter(sink, "test")
    writer.write(
        pa.table({"key": pa.array([k.encode() for k in keys], pa.binary()), "value": pa.array(values, pa.binary())})
    )
    writer.finish({"schema": schema_text("HoodieMetadataRecord").encode()})
    return sink.getvalue()


def _record(files, kind):
    entries = {name: {"size": size, "isDeleted": deleted} for name, (size, deleted) in files.items()}
    sink = io.BytesIO()
    fastavro.schemaless_writer(
        sink, hudi_schema("HoodieMetadataRecord"), {"key": "", "type": kind, "filesystemMetadata": entries}
    )
    return sink.getvalue()
