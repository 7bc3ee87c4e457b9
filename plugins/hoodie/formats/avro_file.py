"""Hudi's Avro schemas, and containers of one record, as it keeps its metadata (format notes, section 2.4)."""

from __future__ import annotations

import io
import json
from functools import cache
from importlib import resources
from typing import Any

import fastavro

from hoodie.errors import CorruptTableError


@cache
def schema_text(name: str) -> str:
    """The schema `avsc/<name>.avsc`, as files carry it."""
    return resources.files(__package__).joinpath("avsc", f"{name}.avsc").read_text()


@cache
def hudi_schema(name: str) -> Any:
    """The parsed schema `avsc/<name>.avsc`."""
    return fastavro.parse_schema(json.loads(schema_text(name)))


def encode(name: str, record: dict[str, Any]) -> bytes:
    """One record as an Avro container file with the schema `avsc/<name>.avsc`, codec null."""
    sink = io.BytesIO()
    fastavro.writer(sink, hudi_schema(name), [record], codec="null")
    return sink.getvalue()


def decode(data: bytes, where: str) -> dict[str, Any]:
    """The one record of an Avro container, by the schema it carries.

    Raises CorruptTableError naming `where` when the bytes are empty, torn or hold no record.
    """
    try:
        records = list(fastavro.reader(io.BytesIO(data)))
    except Exception as error:
        raise CorruptTableError(
            f"Cannot read {where}",
            found=f"{len(data)} bytes that are not a whole Avro file ({type(error).__name__}: {error})",
            fix="restore the file from a backup, or run `hudi-services doctor`, which names the way without one. The table is "
            "not read as if it were empty",
        ) from error
    if not records:
        raise CorruptTableError(
            f"Cannot read {where}", found="an Avro file without a record", fix="restore it from a backup"
        )
    record: dict[str, Any] = records[0]
    return record
