"""Options of the streaming sink. They are ours: Hudi's sinks have others."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, choice, columns, integer, text

FAIL, CONTINUE = "FAIL", "CONTINUE"
INLINE, BESIDE = "INLINE", "BESIDE"

QUERY_NAME = ConfigKey[str](
    "hoodie.stream.query.name",
    text,
    None,
    "name of the query in its commits; by default Spark's identifier of the query",
)
DELETIONS = ConfigKey[str](
    "hoodie.stream.deletions.column",
    text,
    None,
    "boolean column that is not stored: where it is true, the key is deleted",
)
OP_COLUMN = ConfigKey[str](
    "hoodie.stream.op.column",
    text,
    None,
    "column with the operation of each row: the rows are changes, applied in order",
)
ORDER_COLUMNS = ConfigKey[tuple[str, ...]](
    "hoodie.stream.order.columns", columns, (), "columns, between commas, by which the changes of a key are ordered"
)
LOCAL_ROWS = ConfigKey[int](
    "hoodie.stream.local.rows",
    integer(0),
    200_000,
    "rows of a batch up to which threads of the driver write it; larger batches are written by Spark's tasks",
)
AFTER_RESTORE = ConfigKey[str](
    "hoodie.stream.after.restore",
    choice(FAIL, CONTINUE),
    FAIL,
    "what a query does when a restore may have taken back its batches: end, or go on with the next one",
)
SERVICES = ConfigKey[str](
    "hoodie.stream.services",
    choice(INLINE, BESIDE),
    INLINE,
    "when the services run that the options ask for after a commit: before the next batch, or in a thread beside the batches",
)

STREAM_KEYS: tuple[ConfigKey[Any], ...] = (
    QUERY_NAME,
    DELETIONS,
    OP_COLUMN,
    ORDER_COLUMNS,
    LOCAL_ROWS,
    AFTER_RESTORE,
    SERVICES,
)
