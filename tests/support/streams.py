"""Readers of streams whose calls of the storage may fail."""

from __future__ import annotations

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
