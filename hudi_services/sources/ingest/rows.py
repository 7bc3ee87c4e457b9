"""The rows of a source as inputs of the engine: workers read, shape and cast them; what no table takes goes to the quarantine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.errors import SourceError
from hudi_services.sources.ingest.checks import RowChecks
from hudi_services.sources.ingest.quarantine import QuarantinedRows, QuarantineWriter
from hudi_services.sources.ingest.shape.shape import Shaper, Shaping
from hudi_services.sources.ingest.source import Delivered, SourceSplit
from hudi_services.sources.ingest.typed_columns import typed


@dataclass(frozen=True)
class CheckedSplit:
    """The good rows of a source's split, shaped. `checks` say which are bad."""

    split: SourceSplit
    source: str  # its name
    shaping: Shaping
    schema: pa.Schema
    checks: RowChecks
    quarantine: QuarantineWriter
    number: int

    @property
    def size(self) -> int:
        return self.split.size

    @property
    def files(self) -> int:
        """The number of files that the split reads."""
        return self.split.files

    def narrowed(self, columns: Sequence[str]) -> None:
        """Do nothing: only a row whose columns are all parsed is known to be good."""
        return

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Good rows in `schema`; bad ones are written to the quarantine when the last batch was taken."""
        for _, rows in self.delivered():
            yield from rows.to_batches()

    def delivered(self) -> Iterator[tuple[str, pa.Table]]:
        """The same rows, each time with the file or message that they are from."""
        with self.quarantine.open(self.number) as quarantine, self.shaping.opened() as shaper:
            for delivered in self.split.tables(quarantine.add_unread):
                good = self._good(shaper, delivered, quarantine)
                quarantine.good += good.num_rows
                yield delivered.origin, good

    def _good(self, shaper: Shaper, delivered: Delivered, quarantine: QuarantinedRows) -> pa.Table:
        rows = delivered.rows
        try:
            shaped = shaper(rows)
            quarantine.filtered += rows.num_rows - shaped.rows.num_rows - len(shaped.misfits)
            cast, bad, reasons = typed(shaped.rows, self.schema)
            misfits = {**shaped.misfits, **dict(zip(shaped.places[bad].tolist(), reasons, strict=True))}
            for flags, reason in self.checks.failed(cast):
                more = flags & ~bad
                misfits |= dict.fromkeys(shaped.places[more].tolist(), reason)
                bad |= more
            if misfits:
                places = sorted(misfits)
                reasons = [f"{at}: {misfits[place]}" for at, place in zip(delivered.where(places), places, strict=True)]
                quarantine.add(rows.take(pa.array(places)), delivered.origin, reasons)
            return cast.filter(pa.array(~bad)) if bad.any() else cast
        except pa.ArrowException as error:
            raise SourceError(
                f"Rows of {self.source} cannot be loaded",
                found=f"{delivered.origin}: {error}",
                fix="deliver them again in the types of the table; nothing was loaded",
            ) from error
