"""Queries of streams as Spark runs them, whose calls of the storage may fail."""

from __future__ import annotations

from dataclasses import dataclass, field

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.spark.stream.columns import stream_columns
from hoodie.spark.stream.options import stream_options
from hoodie.spark.stream.reader import StreamReader


class FaultyReader(StreamReader):
    """Reads the table in `storage`, as Spark does for a query with these options."""

    def __init__(self, storage, options):
        asked = stream_options({"path": storage.base_path, **options})
        super().__init__(asked, stream_columns(HoodieTable(storage, LocalEngine(1)).state(), asked))
        self._faulty = storage

    def _state(self):
        return HoodieTable(self._faulty, LocalEngine(1)).state()


@dataclass
class Checkpoint:
    """`offsets` says where batch n begins, `done` how many batches are complete."""

    offsets: list = field(default_factory=list)
    done: int = 0

    def run(self, reader, deliver):
        """Hand each batch to `deliver`, with its number, up to the end of what there is.

        It may die in `deliver` after the target has the batch: the checkpoint does not say so, and it comes again.
        """
        if not self.offsets:
            self.offsets.append(reader.initialOffset())
        while True:
            if len(self.offsets) == self.done + 1:
                end = reader.latestOffset(self.offsets[-1], reader.getDefaultReadLimit())
                if end == self.offsets[-1]:
                    return
                self.offsets.append(end)
            parts = reader.partitions(*self.offsets[-2:])
            deliver(self.done, [batch for part in parts for batch in reader.read(part)])
            self.done += 1
