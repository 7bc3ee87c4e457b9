"""Checks that the file groups of a table fit the index of a write, before anything is written."""

from __future__ import annotations

from hoodie.config.key import Options
from hoodie.config.keys.concurrency import MODE, NON_BLOCKING
from hoodie.config.keys.index import BUCKET, BUCKET_ENGINE, BUCKET_FIELDS, BUCKETS, CONSISTENT_HASHING, INDEX_TYPE
from hoodie.config.keys.write import DUP_POLICY
from hoodie.config.operations import Operation, Replaces
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError
from hoodie.index.bucket_layout import is_bucketed
from hoodie.index.complex_keys import refuse_bare_keys
from hoodie.index.hashing_files import (
    bucket_folders,
    is_consistently_hashed,
    refuse_replacing,
    refuse_rules,
    refuse_while_resized,
)
from hoodie.view.state import TableState
from hoodie.write.log_writers import check_log_writers


def check_layout(state: TableState, options: Options, operation: Operation, properties: TableProperties) -> None:
    """`properties` are those of the table, with what the options add. Raises ConfigError for file groups that are not what the
    index takes them for, and where there can be no buckets; UnsupportedTableError for an overwrite of what is hashed
    consistently, for numbers of buckets by partition, and for keys that no upsert would find (see `refuse_bare_keys`);
    PendingInstantError while its buckets are resized."""
    if options[MODE] == NON_BLOCKING:
        check_log_writers(state, options, operation)
    if operation.replaces is not Replaces.TABLE:
        refuse_bare_keys(state)
    chosen = f"{INDEX_TYPE.name}={options[INDEX_TYPE]}"
    bucketed = options[INDEX_TYPE] == BUCKET
    consistent = bucketed and options[BUCKET_ENGINE] == CONSISTENT_HASHING
    folders = bucket_folders(state) if bucketed or properties.is_merge_on_read else ()
    if bucketed:
        refuse_rules(state, folders)
    hashed = is_consistently_hashed(state, folders)
    if hashed and operation.replaces is not None:
        refuse_replacing(state)
    if hashed and not consistent and (bucketed or not operation.deletes):
        raise ConfigError(
            f"Option {chosen} is not for table {properties.name!r}, whose keys are found by consistent hashing",
            found="its hashing metadata" + (f", and {BUCKET_ENGINE.name}=SIMPLE" if bucketed else ""),
            fix=f"nothing was written; write with {INDEX_TYPE.name}={BUCKET} and {BUCKET_ENGINE.name}={CONSISTENT_HASHING}; "
            "other writers would not find rows that go elsewhere",
        )
    if hashed:
        refuse_while_resized(state)
    if not bucketed:
        places = not operation.deletes and operation.replaces is not Replaces.TABLE
        if places and not hashed and is_bucketed(state):
            raise ConfigError(
                f"Option {chosen} is not for table {properties.name!r}, whose file groups are buckets",
                found="the file ids of its newest commit",
                fix=f"write with {INDEX_TYPE.name}=BUCKET and the {BUCKETS.name} of the table; other writers would not find rows "
                "that go elsewhere",
            )
        return
    _check_columns(options, operation, properties, chosen)
    if consistent:
        _check_consistent(state, operation, properties, hashed=hashed)
    elif operation.writes and operation.replaces is not Replaces.TABLE and is_bucketed(state) is False:
        raise ConfigError(
            f"Option {chosen} is not for table {properties.name!r}, whose file groups are not buckets",
            found="the file ids of its newest commit",
            fix=f"use {INDEX_TYPE.name}=SIMPLE, or rewrite the table by insert_overwrite_table",
        )


def _check_columns(options: Options, operation: Operation, properties: TableProperties, chosen: str) -> None:
    """Raises ConfigError where no bucket follows from a key."""
    if not properties.record_key_fields:
        raise ConfigError(
            f"Option {chosen} is not for table {properties.name!r}, whose keys are generated",
            fix=f"use {INDEX_TYPE.name}=SIMPLE",
        )
    unknown = [name for name in options.get(BUCKET_FIELDS) or () if name not in properties.record_key_fields]
    if unknown:
        raise ConfigError(
            f"Option {BUCKET_FIELDS.name} names {unknown[0]!r}, which is not a key column of table {properties.name!r}",
            found=f"key columns {', '.join(properties.record_key_fields)}",
            fix="name some of these, or leave the option out",
        )
    if operation.adds and options[DUP_POLICY] != "NONE":
        raise ConfigError(
            f"Option {DUP_POLICY.name}={options[DUP_POLICY].lower()} does not go with {chosen}",
            found="an index that reads no keys: Hudi takes each key of a bucket that is there for known",
            fix="write by upsert",
        )


def _check_consistent(state: TableState, operation: Operation, properties: TableProperties, *, hashed: bool) -> None:
    """Raises ConfigError for a table that can have no consistent hashing, and an operation that goes with none."""
    option = f"Option {BUCKET_ENGINE.name}={CONSISTENT_HASHING} is not for"
    if not properties.is_merge_on_read:
        raise ConfigError(
            f"{option} table {properties.name!r}, which is copy-on-write: Hudi has it for merge-on-read tables alone",
            fix=f"use {BUCKET_ENGINE.name}=SIMPLE",
        )
    if operation.replaces is not None:
        raise ConfigError(
            f"{option} the operation {operation.name}",
            found="file ids that follow from the partition: replaced groups would be written again, and no reader would see them",
            fix="write by upsert or insert",
        )
    if not hashed and is_bucketed(state) is not None:
        raise ConfigError(
            f"{option} table {properties.name!r}, which was written with another index",
            found="commits with files, and no hashing metadata",
            fix=f"use the index that it was written with; {BUCKET_ENGINE.name} is chosen at the first write",
        )
