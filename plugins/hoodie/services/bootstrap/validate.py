"""After a bootstrap: the rows of each partition against those of the source, by number and checksum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock
from hoodie.config.keys import bootstrap as keys
from hoodie.engine.base import Engine
from hoodie.errors import SourceError
from hoodie.keygen import PartitionPaths, key_generator
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import PARTITION_PATH
from hoodie.model.names import FULL_BOOTSTRAP, METADATA_BOOTSTRAP
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import plan_read
from hoodie.read.query import Query, Snapshot
from hoodie.services.bootstrap.plan import plan_bootstrap
from hoodie.services.bootstrap.request import BootstrapRequest
from hoodie.services.bootstrap.source import SourceSplit, list_source, read_footers
from hoodie.services.row_checksum import row_hashes
from hoodie.view import load_state

_WRAP = 1 << 64


@dataclass(frozen=True)
class Sum:
    """Rows of one partition and their checksum."""

    rows: int = 0
    checksum: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.rows + other.rows, (self.checksum + other.checksum) % _WRAP)


Sums = Mapping[str, Sum]
"""By partition path."""


@dataclass(frozen=True)
class Validation:
    """The sums of the source and of the table as the bootstrap left it."""

    source: Sums
    table: Sums

    @property
    def different(self) -> tuple[str, ...]:
        """Partitions whose rows are not the same."""
        names = self.source.keys() | self.table.keys()
        return tuple(sorted(name for name in names if self.source.get(name) != self.table.get(name)))

    @property
    def rows(self) -> int:
        return sum(value.rows for value in self.table.values())


def validate_bootstrap(request: BootstrapRequest, clock: Clock, engine: Engine) -> Validation:
    """Read the whole source and the whole table, as it was right after the bootstrap, and compare.

    Raises SourceError when the table was not bootstrapped, or the source cannot be read any more.
    """
    options, source, state = request.chosen, request.source, load_state(request.storage, clock)
    commit_times = [i.time for i in state.timeline.commits if i.time in (METADATA_BOOTSTRAP, FULL_BOOTSTRAP)]
    if not commit_times:
        raise SourceError(f"Table {request.storage.base_path} was not bootstrapped", fix="run the bootstrap first")
    orc = options[keys.SOURCE_FORMAT] == "ORC"
    _, paths = key_generator(state.properties)
    footers = read_footers(source, list_source(source), (), orc, engine, options[keys.PARALLELISM])
    plan = plan_bootstrap(source.base_path, footers, state.properties, options, lambda keys: 0)
    if plan.schema is None or plan.problems:
        raise SourceError(f"The source {source.base_path} cannot be compared", found="; ".join(plan.problems))
    of_source = engine.map(SourceSums(paths), plan.splits(source, plan.files, orc=orc))
    read = plan_read(state, Query([*plan.schema.names, PARTITION_PATH], kind=Snapshot(commit_times[-1])))
    task = TableSums(ReadSlice(request.storage, read.of_slice))
    of_table = engine.map(task, read.slices)
    return Validation(_total(of_source), _total(of_table))


@dataclass(frozen=True)
class SourceSums:
    """Task function: source file -> sums of its rows."""

    paths: PartitionPaths

    def __call__(self, split: SourceSplit) -> Sums:
        return _total(_sums(rows, self.paths.of(rows)) for rows in split.tables() if rows.num_rows)


@dataclass(frozen=True)
class TableSums:
    """Task function: file slice -> sums of its rows."""

    read: ReadSlice

    def __call__(self, file_slice: FileSlice) -> Sums:
        return _total(
            _sums(rows.drop_columns([PARTITION_PATH]), rows[PARTITION_PATH])
            for rows in self.read.batches(file_slice)
            if rows.num_rows
        )


def _sums(rows: pa.Table, partitions: pa.ChunkedArray) -> Sums:
    hashes = row_hashes(rows)
    partition_values = pc.unique(partitions)
    numbers = pc.index_in(partitions, value_set=partition_values).to_numpy()
    counts = np.bincount(numbers, minlength=len(partition_values))
    sums = np.zeros(len(partition_values), dtype=np.uint64)
    np.add.at(sums, numbers, hashes)
    return {
        name: Sum(int(count), int(checksum))
        for name, count, checksum in zip(
            partition_values.to_pylist(), counts, sums, strict=True
        )  # distinct values: few
    }


def _total(parts: Iterable[Sums]) -> Sums:
    total: dict[str, Sum] = {}
    for part in parts:
        for name, counts in part.items():
            total[name] = total.get(name, Sum()) + counts
    return total
