"""`--explain` reads values of the files, and names the rows that the load would put aside."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hudi_services.sources.ingest import load_plan, row_sample
from hudi_services.sources.ingest.files import csv_rows, text
from hudi_services.sources.ingest.files.listing import SourceFile
from hudi_services.sources.ingest.row_sample import sampled
from hudi_services.sources.ingest.task import IngestTask

HEADER = "id,part,ts,value\n"
SCHEMA = {"id": "string", "part": "string", "ts": "bigint", "value": "bigint"}
LOADS = pytest.mark.parametrize("most", [64 << 20, 10], ids=["small load", "large load"])


@pytest.fixture
def seen(feed):
    """The text of `--explain`."""

    def look(file_format="csv", **more):
        return IngestTask(feed.request(file_format, **more)).explain(LocalEngine(2)).as_text("ingest")

    return look


@LOADS
def test_values_that_do_not_fit_the_schema_of_a_first_load(feed, seen, monkeypatch, most):
    monkeypatch.setattr(load_plan, "_MOST_BYTES", most)
    feed.land("1.csv", f"{HEADER}a,p,1,1\nb,p,1,many\n")
    declared = {"schema": SCHEMA}
    said = seen(declared=declared)
    assert "WARNING: the load would fail: 1 of 2 rows from " in said
    assert "such as 1.csv: line 3: column value: 'many' is no bigint" in said
    assert not feed.quarantine.exists()
    assert not feed.table.exists()
    allowed = seen(declared=declared, max_bad_share=0.5)
    assert "would go to the quarantine, such as 1.csv: line 3: column value: " in allowed
    assert "would fail" not in allowed


@LOADS
def test_codes_for_a_table_of_numbers(feed, seen, monkeypatch, most):
    monkeypatch.setattr(load_plan, "_MOST_BYTES", most)
    feed.land("1.csv", f"{HEADER}7,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", f"{HEADER}8,p,1,1\n")
    assert "WARNING" not in seen()
    feed.land("3.csv", f"{HEADER}007,p,1,1\n")
    said = seen()
    assert "WARNING: the load would fail: 1 of 2 rows" in said
    assert "3.csv: line 2: column id: '007' would be the number 7: say `cast: {id: bigint}`" in said
    assert "WARNING" not in seen(declared={"cast": {"id": "bigint"}})


@pytest.mark.parametrize(
    ("file_format", "rows"),
    [
        ("json", [{"id": "a", "part": "p", "ts": 1, "value": "x"}]),
        ("parquet", pa.table({"id": ["a"], "part": ["p"], "ts": [1], "value": [1.5]})),
    ],
)
def test_files_of_other_formats(feed, seen, file_format, rows):
    feed.land(f"1.{file_format}", rows)
    assert "WARNING: the load would fail: 1 of 1 rows" in seen(file_format, declared={"schema": SCHEMA})


def test_a_large_load_reads_the_first_block_of_some_files(feed, seen, monkeypatch):
    monkeypatch.setattr(load_plan, "_MOST_BYTES", 10)
    monkeypatch.setattr(text, "BLOCK", 30)
    monkeypatch.setattr(csv_rows, "_HEADER", 30)
    monkeypatch.setattr(row_sample, "_MOST_FILES", 2)
    read = []
    fitted = row_sample._Kept.open
    monkeypatch.setattr(row_sample._Kept, "open", lambda self, number: read.append(number) or fitted(self, number))
    for number in range(6):
        feed.land(f"{number}.csv", HEADER + "a,p,1,1\n" * 100 + "a,p,1,late\n")
    assert "WARNING: the load would fail" not in seen(declared={"schema": SCHEMA})
    assert len(read) == 2
    feed.land("3.csv", HEADER + "a,p,1,early\n" + "a,p,1,1\n" * 100)
    said = seen(declared={"schema": SCHEMA}, max_bad_share=0.5)
    assert "1 of the first " in said
    assert " of 2 files would go to the quarantine, such as 3.csv: line 2: column value" in said


def test_the_files_of_a_sample_are_from_all_places(monkeypatch):
    files = [SourceFile(str(number), 10 << 20, 0, None) for number in range(1000)]
    assert [file.path for file in sampled(files)] == ["0", "166", "333", "500", "666", "833"]
    small = [SourceFile(str(number), 10, 0, None) for number in range(1000)]
    assert len(sampled(small)) == 100
    assert sampled(small[:3]) == tuple(small[:3])
