"""The origin of a refused row: the line or row of its file, for each step that may refuse it."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hoodie.errors import SourceError
from hudi_services.sources.ingest.files import text
from tests.support.examples import examples
from tests.unit.hudi_services.sources.ingest.conftest import Feed

COLUMNS = ("id", "part", "ts", "amount", "at", "note")
GOOD = ("k", "p", "1", "1.50", "2026-07-01", "")
FAULTS = {
    "good": {},
    "filtered": {"note": "filtered"},
    "read": {"ts": "x"},
    "required": {"part": ""},
    "cast": {"amount": "1.005"},
    "times": {"at": "01.07.2026"},
    "sql": {"note": "error"},
    "key": {"id": ""},
    "partition": {"part": ".."},
}
SAID = {
    "schema": {
        **dict.fromkeys(COLUMNS, "string"),
        "ts": "bigint",
        "part": {"type": "string", "nullable": False},
        "place": "bigint",
    },
    "timestamps": {"at": "%Y-%m-%d"},
    "cast": {"amount": "decimal(10,2)"},
    "sql": "SELECT * REPLACE (CASE WHEN note = 'error' THEN error('no') ELSE note END AS note) FROM batch"
    " WHERE coalesce(note, '') <> 'filtered'",
}
PATHS = {"hoodie.datasource.write.hive_style_partitioning": "false"}


def row(fault: str) -> dict[str, str]:
    return {**dict(zip(COLUMNS, GOOD, strict=True)), **FAULTS[fault]}


def csv_file(faults: list[str]) -> bytes:
    """Each row after a blank line, some on two lines."""
    text, line = ",".join((*COLUMNS, "place")), 1
    for number, fault in enumerate(faults):
        values = row(fault)
        if number % 3 == 0 and fault == "good":
            values["note"] = '"a\nb"'
        text += "\n\n" + ",".join((*values.values(), str(line + 2)))
        line = 1 + text.count("\n")
    return text.encode()


def json_file(faults: list[str]) -> bytes:
    rows = ({**row(fault), "place": number} for number, fault in enumerate(faults, 1))
    numbers = ({**each, "ts": int(each["ts"])} if each["ts"].isdigit() else each for each in rows)
    return "".join(json.dumps({name: each or None for name, each in one.items()}) + "\n" for one in numbers).encode()


def parquet_file(faults: list[str]) -> bytes:
    rows = [{**row(fault), "place": number} for number, fault in enumerate(faults, 1)]
    texts = [{name: value or None for name, value in each.items()} for each in rows]
    schema = pa.schema([*((name, pa.string()) for name in COLUMNS), ("place", pa.int64())])
    sink = BytesIO()
    pq.write_table(pa.Table.from_pylist(texts, schema=schema), sink, row_group_size=3)
    return sink.getvalue()


FILES = {"csv": (csv_file, "line"), "json": (json_file, "line"), "parquet": (parquet_file, "row")}


@pytest.mark.parametrize("file_format", FILES)
@given(faults=st.lists(st.sampled_from(list(FAULTS)), min_size=1, max_size=30), block=st.sampled_from([64, 300, 10**6]))
@example(faults=list(FAULTS) * 2, block=10**6)
@settings(max_examples=examples(24), deadline=None)
def test_each_refused_row_tells_its_own_place(file_format, faults, block):
    made, word = FILES[file_format]
    before, text.BLOCK = text.BLOCK, block
    try:
        with TemporaryDirectory() as folder:
            feed = Feed(Path(folder) / "trips", Path(folder) / "land")
            feed.land(f"x.{file_format}", made(["good", *faults]))
            result = feed.run(file_format, PATHS, declared=SAID, operation="bulk_insert", max_bad_share=1.0)
            quarantined = feed.quarantined
    finally:
        text.BLOCK = before
    wanted = [fault for fault in faults if fault not in ("good", "filtered")]
    assert result.rows_quarantined == len(quarantined) == len(wanted)
    for path, reason, bad in quarantined:
        assert path == f"x.{file_format}"
        place = bad["place"] if isinstance(bad, dict) else json.loads(bad)["place"]
        assert reason.startswith(f"{word} {place}: "), (reason, bad)


def test_what_the_run_tells_names_one_of_them(feed):
    feed.land("sub/x.csv", b"id,part,ts,value\na,p,1,1\n\n,p,1,1\n")
    with pytest.raises(SourceError) as caught:
        feed.run("csv")
    assert "such as sub/x.csv: line 4: column id is null or empty; all rows and reasons" in str(caught.value)
    assert "`quarantine: {max_share: …}` of the source in the registry, or --max-bad-share" in str(caught.value)
    told = feed.run("csv", max_bad_share=0.5).message
    assert told.endswith(", such as sub/x.csv: line 4: column id is null or empty")


def test_an_example_is_one_short_line(feed):
    long = "x" * 500
    feed.land("x.csv", f'id,part,ts,value\na,p,1,1\nb,p,"{long}\n{long}",1\n')
    told = feed.run("csv", declared={"cast": {"ts": "bigint"}}, max_bad_share=0.5).message.partition("such as ")[2]
    assert len(told) < 220
    assert "\n" not in told
