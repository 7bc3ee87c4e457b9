"""Masks of the columns of a topic, applied to changes as soon as messages are decoded. Pure."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from hoodie.errors import ConfigError
from hoodie.model.changes import AFTER, BEFORE
from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.messages.contract import Decoded


def without_hashes(known: pa.Schema | None, masks: Masks) -> pa.Schema | None:
    """Return the known columns without those that are hashed: messages have the values, and not the texts of the table."""
    if known is None or not masks.columns:
        return known
    return pa.schema([column for column in known if masks.of(column.name) != "hash"])


def masked(decoded: Decoded, masks: Masks, *, first: bool) -> Decoded:
    """Return changes after the masks.

    Raises ConfigError for a hash of values that have several texts, and in the `first` batch of a table for a mask of a column
    that no message has.
    """
    changes = decoded.changes
    if not masks.columns or not changes.num_rows:
        return decoded
    columns = {column.name: column.type for image in (BEFORE, AFTER) for column in changes.schema.field(image).type}
    if first and (unknown := sorted(set(masks.columns) - set(columns))):
        raise ConfigError(
            f"No message has a column {unknown[0]!r} to mask",
            found=f"columns {', '.join(sorted(columns))}",
            fix="correct the name: it has to have the capitals of the messages",
        )
    for name, kind in columns.items():
        if masks.of(name) == "hash" and _has_texts(kind):
            raise ConfigError(
                f"The column {name!r} cannot be hashed",
                found=f"{kind}, whose values have several texts, such as 1.5 and 1.50",
                fix=f"mask or drop it: `{name}: mask`",
            )
    unavailable = {name: numbers for name, numbers in decoded.unavailable.items() if masks.of(name) != "drop"}
    return replace(decoded, changes=masks.changes(changes), unavailable=unavailable)


def _has_texts(kind: pa.DataType) -> bool:
    """True for types whose values are equal and have different texts."""
    return bool(pa.types.is_floating(kind) or pa.types.is_nested(kind) or (pa.types.is_decimal(kind) and kind.scale))
