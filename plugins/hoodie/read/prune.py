"""Which partitions can hold rows that pass a filter: told from their paths, before anything in them is listed or opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.table import TableProperties
from hoodie.keygen import FolderValues, folder_values
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

    def whole(self, paths: Sequence[str]) -> frozenset[str]:
        """Those in which every row passes."""
        fails = pc.invert(pc.coalesce(self.filter, pc.scalar(False)))
        found = [self.values.of_partition(path) for path in paths]
        possible = _possible(fails, self.schema, found)
        return frozenset(path for path, some in zip(paths, possible, strict=True) if not some)

    def _chosen(self, paths: Sequence[str], guarantees: Sequence[Sequence[pc.Expression]]) -> list[str]:
        possible = _possible(self.filter, self.schema, guarantees)
        return [path for path, some in zip(paths, possible, strict=True) if some]


def partition_filter(
    properties: TableProperties, schema: pa.Schema, filter: pc.Expression | None, columns: Sequence[str]
) -> PartitionFilter | None:
    """The filter, which mentions `columns` of the table's columns `schema`; None when it says nothing of partitions."""
    if filter is None or not set(columns).intersection(top_level(properties.partition_fields)):
        return None
    values = folder_values(properties, schema)
    return None if values is None else PartitionFilter(filter, schema, values)


def _possible(
    expression: pc.Expression, schema: pa.Schema, guarantees: Sequence[Sequence[pc.Expression]]
) -> list[bool]:
    """Whether the expression can be true of a row of which one of these is true."""
    places = [place for place, ways in enumerate(guarantees) for _ in ways]
    ways = [way for each in guarantees for way in each]
    found = [False] * len(guarantees)
    try:
        left = _left(expression, schema, ways)
    except pa.ArrowException:  # the filter cannot be computed of one of these: whoever reads its rows is told so
        left = [number for number, way in enumerate(ways) if _maybe(expression, schema, way)]
    for number in left:
        found[places[number]] = True
    return found


def _maybe(expression: pc.Expression, schema: pa.Schema, way: pc.Expression) -> bool:
    try:
        return bool(_left(expression, schema, [way]))
    except pa.ArrowException:
        return True


def _left(expression: pc.Expression, schema: pa.Schema, ways: Sequence[pc.Expression]) -> list[int]:
    """The numbers of those with which the expression can be true, as Arrow leaves out files of a data set by their folders."""
    import pyarrow.dataset as ds  # imports pandas where it is installed (decision 9)
    import pyarrow.fs

    files, kind = pyarrow.fs.LocalFileSystem(), ds.ParquetFileFormat()
    # The files have numbers for names, and are not opened.
    fragments = [kind.make_fragment(str(number), files, way) for number, way in enumerate(ways)]
    dataset = ds.FileSystemDataset(fragments, schema, kind, files)
    return [int(fragment.path) for fragment in dataset.get_fragments(filter=expression)]
