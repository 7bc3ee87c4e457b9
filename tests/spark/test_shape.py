"""A feed is shaped on Spark as on threads: the same rows, the same counts, the same rows in the quarantine."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import RecordKeyError
from hoodie.spark import SparkEngine
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.files.source import FilesSource
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from hudi_services.sources.ingest.shape.shape import Shape
from tests.support.tables import SMALL_BLOOM

pytestmark = pytest.mark.spark

SAID = {
    "rename": {"Nr": "id", "Zeit": "ts"},
    "timestamps": {"ts": {"formats": "%d.%m.%Y %H:%M", "zone": "Europe/Berlin"}},
    "cast": {"amount": "decimal(10,2)"},
    "sql": "SELECT *, amount * 2 AS twice, CASE WHEN amount = 13 THEN error('unlucky') ELSE 'p' END AS part"
    " FROM batch WHERE amount > 1",
}
OPTIONS = {
    "hoodie.table.name": "orders",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
    "hoodie.table.ordering.fields": "ts",
}


def test_same_rows_and_counts(spark, tmp_path):
    (tmp_path / "land").mkdir()
    bad = "x,31.06.2026 10:00,2\ny,1.7.2026 10:00,2.005\nz,1.7.2026 10:00,13\n"
    for file in range(3):
        numbers = range(file * 30, file * 30 + 40)
        lines = "".join(f"{n:03},{1 + n % 31}.07.2026 1{n % 10}:00,{n % 15}.5\n" for n in numbers)
        (tmp_path / "land" / f"{file}.csv").write_text(f"Nr,Zeit,amount\n{lines}{bad}")
    declared = Feed.model_validate(SAID)
    shape = Shape.of(declared)
    found = []
    for name, engine in (("threads", LocalEngine(2)), ("spark", SparkEngine(spark))):
        base = tmp_path / name
        source = FilesSource(str(tmp_path / "land"), "csv", feed=declared, later=shape.later)
        options = {**OPTIONS, **SMALL_BLOOM}
        result = asdict(
            run_ingest(IngestRequest(str(base), source, max_bad_share=0.5, options=options, shape=shape), engine)
        )
        rows = (
            HoodieTable.open(str(base)).read().select(["id", "ts", "amount", "twice", "part"]).sort_by("id").to_pylist()
        )
        quarantined = sorted(tmp_path.glob(f"{name}.quarantine/*/*.jsonl"))
        bad = [json.loads(line) for path in quarantined for line in path.read_text().splitlines()]
        counts = {key: value for key, value in result.items() if key.startswith("rows_")}
        found.append((rows, counts, sorted(bad, key=str)))
        wrong_key = {**SMALL_BLOOM, "hoodie.table.name": "wrong", "hoodie.table.recordkey.fields": "part"}
        with pytest.raises(RecordKeyError, match="93 different rows have 1 value of the key part"):
            run_ingest(
                IngestRequest(f"{base}-wrong", source, max_bad_share=0.5, options=wrong_key, shape=shape), engine
            )
    assert found[0] == found[1]
    rows, counts, bad = found[0]
    assert len(rows) == counts["rows_written"] > 50
    assert counts["rows_filtered"] > 0 < counts["rows_duplicate"]
    assert counts["rows_quarantined"] == len(bad) == 9
