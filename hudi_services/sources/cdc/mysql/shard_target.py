"""One of several tables of a Hudi table as the target of a snapshot: the others keep their rows and their places."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa

from hoodie.config.keys.memory import SPILL_FOLDER
from hoodie.services.inline import InlineServices
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.snapshot import Snapshot
from hudi_services.sources.cdc.mysql.source_columns import as_changes, changes_schema, fitted_rows, schema_with_source
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey, check_key_values
from hudi_services.sources.cdc.mysql.target_batch import TargetCommits
from hudi_services.sources.cdc.row_filter import RowFilter

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class ShardTarget:
    """The rows of `table` in the Hudi table of `commits`, which is there. Each commit holds the places of all its tables."""

    table: TableSource
    commits: TargetCommits

    @property
    def filter(self) -> RowFilter:
        return self.commits.target.filter

    def opened_for(self, rows: Snapshot) -> None:
        """Do nothing: the Hudi table was made for the columns of all tables."""

    def key(self, keys: tuple[UniqueKey, ...] | None) -> UniqueKey | None:
        """Return which of the server's keys makes record keys differ. Raises ConfigError, as `TargetTable.key`."""
        return self.commits.target.key(keys)

    def write_rows(
        self,
        rows: pa.RecordBatchReader,
        key: UniqueKey | None,
        before: StoredPosition | None,
        after: Callable[[], StoredPosition],
        *,
        replace: bool = False,
    ) -> int:
        """Write rows of the table in one commit, as `TargetTable.write_rows`. They `replace` those of this table only.

        Rows that replace others wait in a local file: their commit deletes the old ones first, and says the place after the new
        ones. Raises PendingInstantError where the Hudi table has another position.
        """
        target = self.commits.target
        schema = schema_with_source(target.columns().read(rows.schema))
        fitted = self._fitted(rows, key, schema)
        if replace:
            return self._replace(fitted, schema, after)
        batches = pa.RecordBatchReader.from_batches(schema, fitted)
        joined = cache(lambda: self._joined(after()))
        count = target.write_rows(batches, None, self.commits.stored, joined)
        self.commits.stored = joined()
        return count

    def write_no_rows(self, before: StoredPosition, after: StoredPosition) -> None:
        """Take all rows of the table out in one commit. Raises PendingInstantError, as `write_rows`."""
        self._write(lambda: iter(()), None, after, 0)

    def _replace(self, rows: Iterator[pa.RecordBatch], schema: pa.Schema, after: Callable[[], StoredPosition]) -> int:
        spill = InlineServices.of(self.commits.target.options).options[SPILL_FOLDER] or None
        with tempfile.TemporaryDirectory(prefix="hoodie-snapshot-", dir=spill) as folder:
            file = Path(folder) / "rows.arrow"
            count = size = 0
            with pa.ipc.new_stream(str(file), schema, options=_OPTIONS) as stream:
                for batch in rows:
                    stream.write(batch)
                    count, size = count + batch.num_rows, size + batch.nbytes
            self._write(lambda: _inserts(file, schema), changes_schema(schema), after(), size)
        return count

    def _write(
        self, parts: Callable[[], Iterator[pa.Table]], schema: pa.Schema | None, after: StoredPosition, size: int
    ) -> None:
        """Write changes that insert all rows of the table, in place of those that it has."""
        stored, joined = self.commits.stored, self._joined(after)
        assert stored is not None, "only rows of a table are replaced"
        self.commits.target.write_batch(parts, schema, stored, joined, [self.table], size=size, are_all=True)
        self.commits.stored = joined

    def _fitted(self, rows: pa.RecordBatchReader, key: UniqueKey | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for batch in rows:
            check_key_values(batch.to_struct_array(), key)
            kept = self.filter.table(pa.Table.from_batches([batch]))
            yield from fitted_rows(kept, self.table, schema).to_batches()

    def _joined(self, after: StoredPosition) -> StoredPosition:
        return self.commits.target.joined(self.commits.stored, {self.table.full_name: after})


def _inserts(file: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    with pa.OSFile(str(file)) as source, pa.ipc.open_stream(source) as stream:
        for batch in stream:
            yield as_changes(pa.Table.from_batches([batch]), "i", schema)
