"""Several writers that append logs to one file group at once: what a table, its index and an operation need for it."""

from __future__ import annotations

from hoodie.config.key import Options
from hoodie.config.keys.concurrency import MODE, NON_BLOCKING, OPTIMISTIC
from hoodie.config.keys.index import BUCKET, BUCKET_ENGINE, CONSISTENT_HASHING, INDEX_TYPE
from hoodie.config.operations import Operation
from hoodie.errors import ConfigError
from hoodie.view.state import TableState

_OPTION = f"Option {MODE.name}={NON_BLOCKING.lower()}"
_OTHER = f"{MODE.name}={OPTIMISTIC.lower()}"


def check_log_writers(state: TableState, options: Options, operation: Operation) -> None:
    """Check a write under non-blocking concurrency control. Raises ConfigError for what Hudi 1.2.0 refuses, too: a copy-on-write
    table, table version 6, another index than a simple bucket index, and insert_overwrite; and for delete_partition, beside which
    Hudi's writers lose rows (apache/hudi#19793)."""
    properties = state.properties
    if not properties.is_merge_on_read:
        raise _refused(state, "which is copy-on-write: it has no logs", f"use {_OTHER}")
    if not state.layout.logs_tell_writer:
        raise _refused(
            state,
            "whose logs do not say when they were complete",
            f"use {_OTHER}, or upgrade the table to version 8 or later",
        )
    if options[INDEX_TYPE] != BUCKET or options[BUCKET_ENGINE] == CONSISTENT_HASHING:
        detail = f"{INDEX_TYPE.name}={options[INDEX_TYPE]}, {BUCKET_ENGINE.name}={options[BUCKET_ENGINE]}"
        raise ConfigError(
            f"{_OPTION} needs a simple bucket index: two writers must agree on the file group of a new key",
            found=detail,
            fix=f"set {INDEX_TYPE.name}={BUCKET} and {BUCKET_ENGINE.name}=SIMPLE, or use {_OTHER}",
        )
    refuse_replacing_beside(state, operation)


def refuse_replacing_beside(state: TableState, operation: Operation) -> None:
    """Raises ConfigError for an operation that removes file groups to which others append."""
    if operation.replaces is not None:
        raise ConfigError(
            f"{_OPTION} is not for the operation {operation.name}: it would remove files that others are writing",
            found=f"table {state.properties.name!r}",
            fix=f"use {_OTHER} for this operation: it fails if another writer has committed to its partitions",
        )


def _refused(state: TableState, reason: str, fix: str) -> ConfigError:
    return ConfigError(
        f"{_OPTION} is not for table {state.properties.name!r}, {reason}",
        found=f"version {state.properties.version}",
        fix=fix,
    )
