"""A query of changes, and the columns of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa

from hoodie.model.changes import AFTER, BEFORE, COMPLETION_TIME, OP
from hoodie.model.meta_columns import COMMIT_TIME, PARTITION_PATH, RECORD_KEY
from hoodie.read.filters import Filter


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """The changes of the commits that completed after `start` and not after `end`; None: from the first, to the last.

    In version 6, whose timeline has no completion times, the begin of commits counts.
    """

    start: str | datetime | None = None
    end: str | datetime | None = None
    columns: Sequence[str] | None = None
    """Data columns of the images. None: all. They do not decide which rows changed."""
    filter: Filter | None = None
    """A change is kept if the row passes before it or after it; with `net` before the range or after it."""
    net: bool = False
    """One change for each row over the whole range, and no change for a row that ends as it began."""
    options: Mapping[str, object] = field(default_factory=dict)
    """The keys of `hoodie.config.keys.read`."""
    current_columns: bool = False
    """The images have the columns that the table has now, and not at the end of the range."""


def change_schema(images: pa.Schema) -> pa.Schema:
    """The columns of changes whose images have the data columns `images`: `op` (`i`, `u` or `d`), the begin and the completion
    of the commit, the record key, and the row before and after the commit, null where there was none."""
    image = pa.struct([column.with_nullable(True) for column in images])
    texts = [pa.field(name, pa.string()) for name in (OP, COMMIT_TIME, COMPLETION_TIME, RECORD_KEY)]
    return pa.schema([*texts, pa.field(BEFORE, image), pa.field(AFTER, image)])


def keyed_schema(images: pa.Schema) -> pa.Schema:
    """`change_schema` with the partition path, which distinguishes rows of one key."""
    schema = change_schema(images)
    return schema.insert(schema.get_field_index(BEFORE), pa.field(PARTITION_PATH, pa.string()))
