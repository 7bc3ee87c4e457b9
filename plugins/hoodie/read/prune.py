"""Partitions, files and rows that a filter leaves out of a read: the cheapest check first, before the files of the next one are
touched.

1. Partition values, from paths: other partitions are neither listed nor opened (`PartitionFilter`). 2. Column statistics: those
of row groups, from the footer of the file that is being read (`Pruning.row_groups`). Statistics of whole files need an index that
holds them; they come between `TableView.latest` and the plan's slices. 3. Keys, which need an index of them, of the slices that
are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.properties.table import TableProperties
from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.bootstrap_file import BootstrapFileReader
from hoodie.keygen import FolderValues, folder_values
from hoodie.read.columns import ReadColumns
from hoodie.schema import top_level


@dataclass(frozen=True)
class PartitionFilter:
    """A filter on rows, asked of folders.

    Arrow simplifies the filter by what a path says of its rows. A partition is left out only when nothing but false or null is
    left of it.
    """

    filter: pc.Expression
    schema: pa.Schema
    values: FolderValues

    def folders(self, paths: Sequence[str]) -> list[str]:
        """Those in or below which a row may pass."""
        return self._chosen(paths, [self.values.of_folder(path) for path in paths])

    def partitions(self, paths: Sequence[str]) -> list[str]:
        """Those in which a row may pass."""
        return self._chosen(paths, [self.values.of_partition(path) for path in paths])

    def fully_matching(self, paths: Sequence[str]) -> frozenset[str]:
        """Those in which every row passes."""
        fails = pc.invert(pc.coalesce(self.filter, pc.scalar(False)))
        result = [self.values.of_partition(path) for path in paths]
        possible = _possible(fails, self.schema, result)
        return frozenset(path for path, some in zip(paths, possible, strict=True) if not some)

    def _chosen(self, paths: Sequence[str], guarantees: Sequence[Sequence[pc.Expression]]) -> list[str]:
        possible = _possible(self.filter, self.schema, guarantees)
        return [path for path, some in zip(paths, possible, strict=True) if some]


@dataclass(frozen=True)
class Pruning:
    """The filter of a read, as it is asked of all that it may rule out."""

    filter: pc.Expression | None
    columns: pa.Schema  # the filter's columns
    partitions: PartitionFilter | None  # None: the filter says nothing of partitions

    @property
    def of_files(self) -> Pruning:
        """The pruning that is left once the slices are known."""
        return replace(self, partitions=None)

    def settled(self, paths: Sequence[str]) -> frozenset[str]:
        """The partitions all of whose rows pass."""
        return frozenset() if self.partitions is None else self.partitions.fully_matching(paths)

    def row_groups(self, reader: BaseFileReader | BootstrapFileReader) -> list[int] | None:
        """The row groups of an open file whose column statistics do not rule the filter out; None: all."""
        return None if self.filter is None else reader.matching(self.filter, self.columns)


def pruning_of(properties: TableProperties, columns: ReadColumns, filter: pc.Expression | None) -> Pruning:
    """The pruning by `filter` of a read of these columns."""
    return Pruning(filter, columns.filtered, _partition_filter(properties, columns, filter))


def _partition_filter(
    properties: TableProperties, columns: ReadColumns, filter: pc.Expression | None
) -> PartitionFilter | None:
    if filter is None or not set(columns.filtered.names).intersection(top_level(properties.partition_fields)):
        return None
    values = folder_values(properties, columns.table_columns)
    return None if values is None else PartitionFilter(filter, columns.table_columns, values)


def _possible(
    expression: pc.Expression, schema: pa.Schema, guarantees: Sequence[Sequence[pc.Expression]]
) -> list[bool]:
    """Return whether the expression can be true for a row for which one of these is true."""
    places = [place for place, ways in enumerate(guarantees) for _ in ways]
    ways = [way for guarantee in guarantees for way in guarantee]
    possible = [False] * len(guarantees)
    try:
        matching = _not_ruled_out(expression, schema, ways)
    except pa.ArrowException:  # the filter cannot be computed of one of these: the reader of its rows raises the error
        matching = [number for number, way in enumerate(ways) if _maybe(expression, schema, way)]
    for number in matching:
        possible[places[number]] = True
    return possible


def _maybe(expression: pc.Expression, schema: pa.Schema, way: pc.Expression) -> bool:
    try:
        return bool(_not_ruled_out(expression, schema, [way]))
    except pa.ArrowException:
        return True


def _not_ruled_out(expression: pc.Expression, schema: pa.Schema, ways: Sequence[pc.Expression]) -> list[int]:
    """The numbers of those with which the expression can be true, as Arrow leaves out files of a data set by their folders."""
    import pyarrow.dataset as ds  # imports pandas where it is installed (decision 9)
    import pyarrow.fs

    files, kind = pyarrow.fs.LocalFileSystem(), ds.ParquetFileFormat()
    # The files have numbers for names, and are not opened.
    fragments = [kind.make_fragment(str(number), files, way) for number, way in enumerate(ways)]
    dataset = ds.FileSystemDataset(fragments, schema, kind, files)
    return [int(fragment.path) for fragment in dataset.get_fragments(filter=expression)]
