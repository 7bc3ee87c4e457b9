"""The rows of a source as inputs of the engine: workers read and cast them; those that no table takes go to the quarantine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.errors import SourceError
from hudi_services.ingest.casting import typed
from hudi_services.ingest.checks import RowChecks
from hudi_services.ingest.quarantine import QuarantinedRows, QuarantineWriter
from hudi_services.ingest.source import SourceSplit


@dataclass(frozen=True)
class CheckedSplit:
    """The good rows of a source's split. `checks` say which are bad."""

    split: SourceSplit
    source: str  # its name
    schema: pa.Schema
    checks: RowChecks
    quarantine: QuarantineWriter
    number: int

    @property
    def size(self) -> int:
        return self.split.size

    def narrowed(self, columns: Sequence[str]) -> None:
        """Which rows are good shows only when all columns are parsed."""
        return

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Good rows in `schema`; bad ones are written to the quarantine when the last batch was taken."""
        with self.quarantine.open(self.number) as quarantine:
            for origin, rows in self.split.tables(quarantine.add_text):
                good = self._good(rows, origin, quarantine)
                quarantine.read += rows.num_rows
                yield from good.to_batches()

    def _good(self, rows: pa.Table, origin: str, quarantine: QuarantinedRows) -> pa.Table:
        try:
            cast, bad, reasons = typed(rows, self.schema)
            if bad.any():
                quarantine.add(rows.filter(pa.array(bad)), origin, reasons)
            for flags, reason in self.checks.failed(cast):
                more = flags & ~bad
                if more.any():
                    quarantine.add(rows.filter(pa.array(more)), origin, [reason] * int(more.sum()))
                    bad |= more
            return cast.filter(pa.array(~bad)) if bad.any() else cast
        except pa.ArrowException as error:
            raise SourceError(
                f"Rows of {self.source} cannot be loaded",
                found=f"{origin}: {error}",
                fix="deliver them again in the types of the table; nothing was loaded",
            ) from error
