"""The metadata tables of Hudi's tables: their HFiles and the HFile blocks of their logs hold what they should."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import fastavro
import pytest

from hoodie.formats.hfile import decode_records, open_hfile
from hoodie.formats.log import BlockType, Header, read_rows, scan_blocks
from hoodie.storage import LocalStorage

ARCHIVES = ["12v9", "15v6"]
METADATA = ".hoodie/metadata"


def files_in_order(table: Path) -> list[str]:
    """Base and log files of the `files` partition as they were written."""

    def order(name: str) -> tuple[str, int]:
        base = re.fullmatch(r"files-0000-0_\S+_(\d+)\.hfile", name)
        log = re.fullmatch(r"\.files-0000-0_(\d+)\.log\.(\d+)_\S+", name)
        return (base[1], 0) if base else (log[1], int(log[2]))

    names = [path.name for path in (table / METADATA / "files").glob("*files-0000-0_*") if path.suffix != ".crc"]
    return [f"{METADATA}/files/{name}" for name in sorted(names, key=order)]


def records(storage: LocalStorage, file: str) -> list[dict]:
    if file.endswith(".hfile"):
        with open_hfile(storage, file) as reader:
            tables = [decode_records(batch, reader.info["schema"].decode(), file) for batch in reader.scan()]
    else:
        blocks = [block for block in scan_blocks(storage, file) if block.kind is BlockType.HFILE_DATA]
        tables = [rows for block in blocks for rows in read_rows(storage, block)]
    return [row for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("name", ["cow_np", "cow_hive", "cow_clean", "cow_clust", "mor_avro", "mor_event", "boot_full"])
def test_the_files_of_a_table_are_those_on_disk(golden, archive, name):
    """Base files and the log's blocks together list every partition, without what a clean has deleted."""
    table = golden(archive) / name
    storage = LocalStorage(str(table))
    listed: dict[str, set[str]] = {}
    for file in files_in_order(table):
        for record in records(storage, file):
            files = listed.setdefault(record["key"], set())
            for entry, info in record["filesystemMetadata"] or ():
                (files.discard if info["isDeleted"] else files.add)(entry)
    partitions = listed.pop("__all_partitions__")
    assert partitions == set(listed)
    for partition, files in listed.items():
        folder = table / ("" if partition == "." else partition)
        on_disk = {path.name for path in folder.iterdir() if path.is_file()}
        assert files == {file for file in on_disk if not file.endswith(".crc") and "_metadata" not in file}


def one_member(value: object) -> object:
    """Our structs for unions as fastavro has them: the value of the type that is there."""
    if isinstance(value, dict) and "IntWrapper" in value:
        return next((one_member(item) for item in value.values() if item is not None), None)
    if isinstance(value, dict):
        return {key: one_member(item) for key, item in value.items()}
    return value


@pytest.mark.format("6.2e")
@pytest.mark.parametrize(("archive", "least"), [("12v9", 300), ("15v6", 100)])
def test_every_record_is_as_fastavro_reads_it(golden, archive, least):
    """Column statistics and partition statistics too, whose values are unions of records."""
    storage = LocalStorage(str(golden(archive)))
    compared = with_statistics = 0
    for path in sorted(golden(archive).glob(f"*/{METADATA}/*/*")):
        file = str(path.relative_to(golden(archive)))
        if path.suffix == ".hfile":
            places = [(0, None, None)]
        elif ".log." in path.name and path.suffix != ".crc":
            blocks = [block for block in scan_blocks(storage, file) if block.kind is BlockType.HFILE_DATA]
            places = [(block.content_offset, block.content_length, block.headers[Header.SCHEMA]) for block in blocks]
        else:
            continue
        for offset, length, schema in places:
            with open_hfile(storage, file, offset, length) as reader:
                text = schema or reader.info["schema"].decode()
                parsed = fastavro.parse_schema(json.loads(text))
                for batch in reader.scan():
                    ours = decode_records(batch, text, file).to_pylist()
                    values = [fastavro.schemaless_reader(io.BytesIO(value.as_py()), parsed) for value in batch["value"]]
                    for key, value in zip(batch["key"], values, strict=True):
                        value["key"] = key.as_py().decode()
                        if value["filesystemMetadata"] is not None:
                            value["filesystemMetadata"] = list(value["filesystemMetadata"].items())
                    assert [one_member(record) for record in ours] == values
                    compared += len(ours)
                    with_statistics += sum(record["ColumnStatsMetadata"] is not None for record in ours)
    assert compared > least
    assert with_statistics > 100 or archive == "15v6"
