"""Metadata of a commit (format notes, sections 2.5 and 2.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hoodie.model.files import GroupId, InGroup

NO_PREVIOUS_COMMIT = "null"  # the literal string that Hudi writes for a new file group
SCHEMA_KEY, LATEST_SCHEMA_KEY = "schema", "latest_schema"  # Avro JSON; the schema with ids, where its history is kept
ALTER_SCHEMA = "ALTER_SCHEMA"  # the operation of a commit that changes columns and no rows
_MOVES_ROWS = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER"})
_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LogStat:
    """Further parts of a stat whose file is a log."""

    base_file: str  # name of the slice's base file; Hudi leaves it empty since table version 8
    log_files: tuple[str, ...]  # names of the slice's logs, the new one among them
    version: int
    offset: int = 0  # bytes of the file before this write: in version 6 several writes of Hudi's may share a log


@dataclass(frozen=True, slots=True)
class WriteStat(InGroup):
    """Stats of one written file. Sizes in bytes, `num_*` in rows, `*_ms` in milliseconds."""

    file_id: str
    path: str  # relative to the base path
    partition: str
    prev_commit: str = NO_PREVIOUS_COMMIT
    prev_base_file: str | None = None
    num_writes: int = 0
    num_inserts: int = 0
    num_updates: int = 0
    num_deletes: int = 0
    file_size: int = 0
    create_ms: int = 0
    upsert_ms: int = 0
    cdc_stats: Mapping[str, int] | None = None  # path of a log of changes -> its bytes
    log: LogStat | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the write made: the data file, then logs of its changes."""
        return (self.path, *(self.cdc_stats or ()))


@dataclass(frozen=True, slots=True)
class CommitMetadata:
    """The body of a completed commit, deltacommit or replacecommit."""

    operation: str  # HoodieCommitMetadata.operationType: UPSERT, BULK_INSERT, CLUSTER …
    stats: tuple[WriteStat, ...] = ()
    extra: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _EMPTY)  # partition -> file ids
    compacted: bool = False

    @property
    def moves_rows(self) -> bool:
        """Return whether it rewrote rows and changed none: its stats may have counts, but no row was added, updated or
        deleted. Compactions of Flink's leave the operation out, as did Spark's of older releases; `compacted` is set by all."""
        return self.compacted or self.operation in _MOVES_ROWS

    @property
    def partitions(self) -> frozenset[str]:
        """Every partition in which the commit wrote or replaced a file."""
        return frozenset(stat.partition for stat in self.stats) | frozenset(self.replaced)

    @property
    def replaced_groups(self) -> Iterator[GroupId]:
        """The file groups that the commit replaced."""
        for partition, file_ids in self.replaced.items():
            yield from (GroupId(partition, file_id) for file_id in file_ids)

    @property
    def schema(self) -> str | None:
        """The table's Avro schema (JSON, without meta columns), or None when the commit carries none."""
        return self.extra.get(SCHEMA_KEY) or None

    @property
    def rows_written(self) -> int:
        return sum(stat.num_writes for stat in self.stats)

    @property
    def bytes_written(self) -> int:
        return sum(stat.file_size for stat in self.stats)

    def by_partition(self) -> Iterator[tuple[str, tuple[WriteStat, ...]]]:
        """The stats grouped by partition, partitions in order."""
        for partition in sorted({stat.partition for stat in self.stats}):
            yield partition, tuple(stat for stat in self.stats if stat.partition == partition)
