"""Query of a table: one value, made from a user's arguments, and handed down whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hoodie.config.partitions import partition_path
from hoodie.errors import ArgumentError
from hoodie.read.filters import Filter


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows as they are now, or were at `as_of`: an instant, an ISO time or a datetime (naive ones are UTC)."""

    as_of: str | datetime | None = None
    read_optimized: bool = False
    """Without the logs of a merge-on-read table: what the last compaction left."""


@dataclass(frozen=True, slots=True)
class Incremental:
    """The rows that commits after `start` and not after `end` wrote, as they are at the end; None: from the first commit, to the
    last.

    The completion time of a commit decides; in version 6, whose timeline does not have it, its begin. There a write that may
    complete late stops the read. A row that was written several times appears once; deleted rows do not appear. Commits of the
    range that were archived are looked up in the archived timeline; with `full_scan` every partition is read instead and the
    rows' own commit times decide, which are begins of commits.
    """

    start: str | datetime | None
    end: str | datetime | None = None
    full_scan: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """One read."""

    columns: Sequence[str] | None = None
    """May name meta columns, null where keys are virtual. None: all data columns."""
    filter: Filter | None = None
    kind: Snapshot | Incremental = Snapshot()
    partitions: Sequence[str] | None = None
    """Paths of the only partitions that are looked at."""
    options: Mapping[str, object] = field(default_factory=dict)
    """The keys of `hoodie.config.keys.read`."""
    meta_columns: bool = False
    """If no columns are named the meta columns come first, unless keys are virtual."""
    current_columns: bool = False
    """The rows have the columns that the table has now, also those of an incremental read that ends earlier."""

    def __post_init__(self) -> None:
        for argument, names in (("columns", self.columns), ("partitions", self.partitions)):
            texts = isinstance(names, Sequence) and not isinstance(names, str | bytes)
            if names is not None and not (texts and all(isinstance(name, str) for name in names)):
                raise ArgumentError(
                    f"The {argument} of a read are not a list of names",
                    found=f"{names!r:.100} ({type(names).__name__})",
                    fix=f"give a list of text, such as {argument}=['a', 'b']",
                )
            if names is not None and argument == "columns" and len(set(names)) < len(names):
                raise ArgumentError("A column of a read is named twice", found=", ".join(names), fix="name it once")
        if self.partitions is not None:  # two spellings of one folder would give its rows twice
            object.__setattr__(self, "partitions", tuple(dict.fromkeys(map(partition_path, self.partitions))))
