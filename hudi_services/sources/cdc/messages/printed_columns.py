"""Columns of MySQL whose values are texts, as Canal prints them, with the declaration of each column beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.messages.connect_columns import Column
from hudi_services.sources.cdc.messages.connect_rows import Row
from hudi_services.sources.cdc.messages.conversion import fitted
from hudi_services.sources.cdc.messages.encodings import padded_bytes
from hudi_services.sources.cdc.messages.json_values import FaultError
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.values import column_type
from hudi_services.sources.cdc.mysql.columns import printed_column
from hudi_services.sources.cdc.mysql.text_values import text_values

_LABEL = re.compile(r"'((?:[^']|'')*)'")
_NUMBER = re.compile(r"[0-9]+")


def printed_row(declared: Mapping[str, str | None], known: pa.Schema | None, zone: str | None) -> Row:
    """Return the row of columns with these declarations. `zone` is the time zone of TIMESTAMP. One without a declaration is text.

    Raises FaultError for a type that cannot be read, and for one that does not fit the `known` column.
    """
    columns = {}
    for name, declaration in declared.items():
        try:
            column = _column(name, declaration or "text", zone)
            place = known.get_field_index(name) if known is not None else -1
            if known is not None and place >= 0 and known.field(place).type != column.type:
                column = _known(column, known.field(place).type)
            columns[name] = column
        except ValueError as error:
            raise FaultError(f"the column {name!r} with {error}") from None
    return Row(columns)


def _known(column: Column, known: pa.DataType) -> Column:
    adapted = fitted(column.type, known)
    return Column(column.raw, adapted.type, lambda raw: adapted.values(column.values(raw)))


def _column(name: str, declared: str, zone: str | None) -> Column:
    column = printed_column(name, declared)
    if column.code is Code.NEWDECIMAL and not column.metadata & 0xFF:
        return Column(pa.string(), pa.string(), lambda raw: raw)  # a producer that does not say its digits
    kind = column_type(column)
    return Column(pa.string(), kind, _values(column, kind, declared, zone))


def _values(column: LoggedColumn, kind: pa.DataType, declared: str, zone: str | None) -> Callable[[pa.Array], pa.Array]:
    code = column.code
    if code is Code.BIT:
        width = (column.metadata >> 8) + (column.metadata & 0xFF > 0)
        return lambda raw: _mapped(raw, kind, lambda text: _bits(text, width, kind))
    if code in (Code.ENUM, Code.SET):
        labels = [label.replace("''", "'") for label in _LABEL.findall(declared)]
        chosen = _label if code is Code.ENUM else _members
        return lambda raw: _mapped(raw, kind, lambda text: chosen(text, labels))
    if pa.types.is_binary(kind):
        length = column.metadata if code is Code.STRING else 0
        return lambda raw: _binary(raw, length)
    if code is Code.TIMESTAMP2:
        local = replace(column, code=Code.DATETIME2)
        return lambda raw: _instants(_printed(local, raw), zone)
    return lambda raw: _printed(column, raw)


def _printed(column: LoggedColumn, raw: pa.Array) -> pa.Array:
    try:
        return text_values(column, raw.cast(pa.binary()))
    except ValueError:  # its text has the value, which may be a secret
        raise ValueError(f"a text that is no {column_type(column)}") from None


def _instants(local: pa.Array, zone: str | None) -> pa.Array:
    if zone is None and local.null_count < len(local):
        raise ValueError("a time that does not say its zone: set zone to that of the producer, such as UTC")
    return pc.assume_timezone(local, zone or "UTC").cast(pa.timestamp("us", "UTC"))


def _mapped(raw: pa.Array, kind: pa.DataType, value: Callable[[str], object]) -> pa.Array:
    """Different values one by one: there are few."""
    encoded = raw.dictionary_encode()
    values = pa.array([value(text) for text in encoded.dictionary.to_pylist()], kind)
    return values.take(encoded.indices)


def _bits(text: str, width: int, kind: pa.DataType) -> object:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError("bits that are no number")
    number = int(text)
    if not pa.types.is_boolean(kind):
        return number.to_bytes(width, "big")
    if number > 1:
        raise ValueError("a number of several bits for a column of one")
    return number == 1


def _label(text: str, labels: list[str]) -> str:
    """Canal writes the number of a label, from 1 on, others the label."""
    if _NUMBER.fullmatch(text) is None:
        return text
    if int(text) > len(labels):
        raise ValueError(f"the label {text[:20]} of {len(labels)}")
    return ["", *labels][int(text)]


def _members(text: str, labels: list[str]) -> str:
    if _NUMBER.fullmatch(text) is None:
        return text
    if int(text) >> len(labels):
        raise ValueError(f"a set with more than its {len(labels)} labels")
    return ",".join(label for bit, label in enumerate(labels) if int(text) >> bit & 1)


def _binary(raw: pa.Array, length: int) -> pa.Array:
    """Bytes of texts that have a character for each byte."""
    values = _mapped(raw, pa.binary(), lambda text: text.encode("latin-1"))
    return padded_bytes(values, length) if length else values


def row_counts(lists: pa.Array) -> np.ndarray:
    """Return the number of elements of each list, 0 for null."""
    counts: np.ndarray = pc.list_value_length(lists).fill_null(0).to_numpy()
    return counts
