"""Delete blocks: keys that are gone, each with the ordering value of its deletion (format notes, sections 6.2 and 6.4)."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa

from hoodie.errors import CorruptFileError, UnsupportedTableError, rollback_fix
from hoodie.formats.avro_file import hudi_schema
from hoodie.formats.log.blocks import LogBlock, read_content
from hoodie.model.internal_columns import RESET
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.storage.base import Storage

VERSION = 3
_JAVA = (1, 2)
_NAMESPACE = "org.apache.hudi.avro.model."
_EPOCH = date(1970, 1, 1).toordinal()


def read_deletes(storage: Storage, block: LogBlock, ordering: Sequence[pa.Field]) -> pa.Table:
    """The deletes of a block: `_hoodie_record_key`, the ordering columns, and `@reset`.

    A deletion without an ordering value, or with the integer 0 that Hudi writes for none, resets its key. Raises
    CorruptFileError, or UnsupportedTableError for blocks of releases before 0.14, which are serialised Java objects.
    """
    content = read_content(storage, block)
    try:
        version, length = struct.unpack_from(">ii", content)
    except struct.error:
        raise _corrupt(block, "it is too short") from None
    if version != VERSION:
        raise UnsupportedTableError(
            f"Delete block of log file {block.path} is of version {version}",
            found="Java objects, as Hudi wrote them before 0.14"
            if version in _JAVA
            else f"{VERSION} is the newest that is known: a newer Hudi wrote it, or the block is damaged",
            fix="compact the table with the Hudi that wrote it",
        )
    try:
        reader = io.BytesIO(content[8 : 8 + length])
        entries: Any = fastavro.schemaless_reader(
            reader, hudi_schema("HoodieDeleteRecordList"), None, return_record_name=True
        )
        deletes = entries["deleteRecordList"]
    except (EOFError, ValueError, IndexError, KeyError, TypeError, struct.error) as error:
        raise _corrupt(block, repr(error)) from error
    values = [_ordering_values(entry["orderingVal"], len(ordering), block) for entry in deletes]
    columns = {RECORD_KEY: pa.array([entry["recordKey"] for entry in deletes], pa.string())}
    for place, field in enumerate(ordering):
        cells = [None if cells_of_row is None else cells_of_row[place] for cells_of_row in values]
        columns[field.name] = _as_column(cells, field, block)
    columns[RESET] = pa.array([cells_of_row is None for cells_of_row in values], pa.bool_())
    return pa.table(columns)


def _ordering_values(value: Any, count: int, block: LogBlock) -> list[Any] | None:
    """One value per ordering field; None when the deletion has none."""
    if value is None or not count:
        return None
    name, record = value
    name = name.removeprefix(_NAMESPACE)
    if name == "ArrayWrapper":
        result = [_plain(*entry) if isinstance(entry, tuple) else None for entry in record["wrappedValues"] or ()]
        if len(result) != count:
            raise _corrupt(block, f"{len(result)} ordering values; the table has {count} ordering fields")
        return result
    if name == "IntWrapper" and record["value"] == 0:
        return None
    return [_plain(name, record), *[None] * (count - 1)]


def _plain(name: str, record: Any) -> Any:
    value = record["value"]
    kind = name.removeprefix(_NAMESPACE)
    if kind in ("DateWrapper", "LocalDateWrapper") and isinstance(value, int):
        return date.fromordinal(_EPOCH + value)
    return value


def _as_column(cells: list[Any], field: pa.Field, block: LogBlock) -> pa.Array:
    """The ordering values in the type of the table's column, for any number type of the deletion."""
    try:
        if all(cell is None for cell in cells):
            return pa.nulls(len(cells), field.type)
        if pa.types.is_timestamp(field.type):
            numbers = [cell if not isinstance(cell, datetime) else int(cell.timestamp() * 1_000_000) for cell in cells]
            return pa.array(numbers, pa.int64()).view(pa.timestamp("us", field.type.tz)).cast(field.type)
        if pa.types.is_date32(field.type):
            days = [cell.toordinal() - _EPOCH if isinstance(cell, date) else cell for cell in cells]
            return pa.array(days, pa.int32()).view(field.type)
        if pa.types.is_decimal(field.type):
            wide = pa.array([None if cell is None else Decimal(cell) for cell in cells], pa.decimal128(38, 15))
            return wide.cast(field.type)
        return pa.array(cells).cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ArithmeticError) as error:
        raise UnsupportedTableError(
            f"Deletions in log file {block.path} have ordering values of another type than column {field.name!r}",
            found=str(error),
            fix="compact the table with the writer that made them",
        ) from error


def _corrupt(block: LogBlock, detail: str) -> CorruptFileError:
    return CorruptFileError(
        f"The delete block at byte {block.offset} of log file {block.path} cannot be read",
        found=detail,
        fix=f"restore the file from a copy, or, for instant {block.instant}, {rollback_fix(block.instant)}",
    )
