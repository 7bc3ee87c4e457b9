"""The contract of all formats: a table of messages goes in, changes of rows come out, and what is no change is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

MESSAGES = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("ms", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
    ]
)
"""Columns of the messages, in the order of partition and offset. `timestamp`, `key` and `value` may be null."""


@dataclass(frozen=True)
class Rejected:
    """A message that cannot be decoded: its row number in the messages, and the reason."""

    number: int
    reason: str


@dataclass(frozen=True)
class Statement:
    """A message that changes the table as a whole, such as TRUNCATE or ALTER TABLE.

    Changes with a lower `number` come before it, others after it. A load stops there (decision 69).
    """

    number: int
    text: str


@dataclass(frozen=True)
class Decoded:
    """The content of messages. Every message is in `changes`, `rejected` or `statements`, or is counted in `ignored`.

    `changes` has the columns `op` (i, u, d), `number` (int64: the row number of the message; changes of one message share it),
    `before` and `after` (structs of the table's columns, null where the message has no such image), in the order of the messages.
    `ignored` counts messages without a change, such as heartbeats, by their kind. `unavailable` has the numbers of messages by
    the names of columns whose values after the change they do not have. These are null there, and are those of the row before.
    `absent` has the numbers of messages by the names of columns of other messages that their schemas do not have. `described` are
    the numbers of messages with a schema, which has all of their columns, also those that are null.
    """

    changes: pa.Table
    rejected: tuple[Rejected, ...] = ()
    statements: tuple[Statement, ...] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    unavailable: Mapping[str, np.ndarray] = field(default_factory=dict)
    absent: Mapping[str, np.ndarray] = field(default_factory=dict)
    described: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


class MessageFormat(Protocol):
    """A format of messages."""

    def decode(self, messages: pa.Table, known: pa.Schema | None) -> Decoded:
        """Return what the messages hold. `known` are the columns that the target table has, None before the first load.

        Never raises for the content of a message: it is rejected.
        """
