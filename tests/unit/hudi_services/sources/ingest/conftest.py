"""A table and the folder that feeds it."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hudi_services.entry.feed.model import Feed as Declared
from hudi_services.sources.ingest.files.source import FilesSource
from hudi_services.sources.ingest.prepare import prepare
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from hudi_services.sources.ingest.shape.shape import Shape
from tests.support.tables import OPTIONS, SMALL_BLOOM, content


@dataclass
class Feed:
    """`land` files in `source`, `run` the ingestion into `table`."""

    table: Path
    source: Path

    def land(self, name, data):
        """`data` is an Arrow table, rows for a JSON file, text, or bytes, by the name's ending."""
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, pa.Table):
            pq.write_table(data, path)
            return
        if isinstance(data, list):
            data = "".join(json.dumps(row) + "\n" for row in data)
        raw = data if isinstance(data, bytes) else data.encode()
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") and not isinstance(data, bytes) else raw)

    def request(self, file_format="parquet", options=(), **more):
        merged = {**OPTIONS, **SMALL_BLOOM, **dict(options)}
        named = {name: more.pop(name) for name in ("date_pattern", "window", "reload", "clock") if name in more}
        declared = Declared.model_validate(more.pop("declared", {}))
        shape = Shape.of(declared)
        folder = str(more.pop("source", self.source))
        source = FilesSource(folder, file_format, **named, feed=declared, later=shape.later)
        return IngestRequest(str(self.table), source, options=merged, shape=shape, **more)

    def run(self, *args, **more):
        return run_ingest(self.request(*args, **more), LocalEngine(2))

    def prepare(self, *args, **more):
        return prepare(self.request(*args, **more), LocalEngine(2))

    def open(self):
        return HoodieTable.open(str(self.table), engine=LocalEngine(2))

    @property
    def content(self):
        return content(self.open())

    @property
    def quarantine(self):
        return Path(f"{self.table}.quarantine")

    @property
    def quarantined(self):
        """Contents of the quarantine: (file, reason, row or text) of each row."""
        lines = [line for path in sorted(self.quarantine.rglob("*.jsonl")) for line in path.read_text().splitlines()]
        return [
            (entry["file"], entry["reason"], entry.get("row", entry.get("text"))) for entry in map(json.loads, lines)
        ]


@pytest.fixture
def feed(tmp_path):
    (tmp_path / "land").mkdir()
    return Feed(tmp_path / "trips", tmp_path / "land")
