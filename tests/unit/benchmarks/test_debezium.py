"""Debezium's engine beside `cdc load`: the pure parts of the benchmark."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.debezium_comparison import OURS, TRANSACTION, least_ratio, paces, transactions
from benchmarks.debezium_engine import EventFiles, engine_properties
from benchmarks.debezium_sink import COLUMNS, EVENT, warm_event
from benchmarks.debezium_tables import CHANGES, joined, statements
from benchmarks.program import Program


@dataclass(frozen=True)
class Event:
    number: int

    def value(self) -> str:
        return json.dumps({"id": self.number})

    def destination(self) -> str:
        return f"bench.bench.t{self.number % 2}"


def test_batches_become_files_until_all_events_are_there(tmp_path: Path) -> None:
    files = EventFiles(tmp_path, 5)
    files.handleJsonBatch([Event(1), Event(2)])
    assert not files.complete.is_set()
    files.handleJsonBatch([Event(3), Event(4), Event(5)])
    assert files.complete.is_set()
    assert files.events == 5
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["000000.json", "000001.json"]
    lines = [line for path in sorted(tmp_path.iterdir()) for line in path.read_text().splitlines()]
    assert [json.loads(line)["id"] for line in lines] == [1, 2, 3, 4, 5]


def test_tables_have_files_of_their_own(tmp_path: Path) -> None:
    files = EventFiles(tmp_path, 3, apart=True)
    files.handleJsonBatch([Event(1), Event(2), Event(3)])
    assert files.complete.is_set()
    assert {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*.json")} == {
        "t0/000000.json": '{"id": 2}\n',
        "t1/000000.json": '{"id": 1}\n{"id": 3}\n',
    }


def test_changes_of_a_table_are_as_many_events_as_the_step_waits_for() -> None:
    _, update, delete, insert, _ = statements("t7", 1000)
    assert re.search(r"bench\.t7 SET .* id <= 80$", update)
    assert re.search(r"FROM bench\.t7 WHERE id > 80 AND id <= 90$", delete)
    assert insert.startswith("INSERT INTO bench.t7 SELECT")
    first, last = re.search(r"seq_(\d+)_to_(\d+)", insert).groups()
    assert 80 + 10 + len(range(int(first), int(last) + 1)) == CHANGES


def test_rows_of_tables_are_joined_with_the_name_of_their_table() -> None:
    tables = {name: pa.table({"_hoodie_file_name": ["f"], "id": [1]}) for name in ("t1", "t2")}
    assert joined(tables).to_pylist() == [{"id": 1, "table": "t1"}, {"id": 1, "table": "t2"}]


def test_the_stream_has_the_fields_that_the_engine_adds(tmp_path: Path) -> None:
    added = engine_properties("3306", "bench.t", tmp_path)["transforms.unwrap.add.fields"]
    assert {"__" + name.replace(".", "_") for name in added.split(",")} | {"__deleted"} == {
        name for name in EVENT if name.startswith("__")
    }
    assert warm_event(1).keys() == EVENT.keys()
    used = " ".join(COLUMNS)
    assert [name for name in EVENT if not re.search(rf"\b{name}\b", used)] == []


def _numbers(pattern: str, statement: str) -> range:
    match = re.search(pattern, statement)
    assert match, statement
    return range(int(match[1]), int(match[2]))


def test_changes_meet_each_row_once() -> None:
    """So each statement logs as many events as the step waits for."""
    rows, changes = 10_000, 5_000
    touched: list[int] = []
    for begin, update, delete, insert, commit in transactions(rows, changes):
        assert (begin, commit) == ("BEGIN", "COMMIT")
        updated = _numbers(r"id >= (\d+) AND id < (\d+)", update)
        deleted = _numbers(r"id >= (\d+) AND id < (\d+)", delete)
        first, last = re.search(r"seq_(\d+)_to_(\d+)", insert).groups()
        inserted = range(int(first), int(last) + 1)
        assert [len(updated), len(inserted), len(deleted)] == list(TRANSACTION.values())
        assert min(inserted) > rows >= max(deleted)
        touched += [*updated, *inserted, *deleted]
    assert len(touched) == len(set(touched)) == changes


@pytest.mark.parametrize(("rows", "changes"), [(10_000, 1_500), (1_000, 2_000)])
def test_changes_that_do_not_fit_the_rows(rows: int, changes: int) -> None:
    with pytest.raises(ValueError, match="give a multiple of 1,000"):
        list(transactions(rows, changes))


def test_the_least_ratio_and_the_rows_of_a_second() -> None:
    reports = {
        "peer": [{"seconds": {"snapshot": 20.0, "binlog": 12.0}}, {"seconds": {"snapshot": 30.0, "binlog": 12.0}}],
        OURS: [{"seconds": {"snapshot": 2.0, "binlog": 2.0}}, {"seconds": {"snapshot": 3.0, "binlog": 2.0}}],
    }
    assert least_ratio(reports, "peer") == 6
    assert list(paces(reports, {"snapshot": 1_000})) == ["snapshot, rows a second: peer 40; ours 400"]


CHILD = """
import sys
from benchmarks.program import reply
print("a line of a log")
reply(ready=True)
for line in sys.stdin:
    if line == "end\\n":
        sys.exit(3)
    reply(asked=line.strip())
"""


def test_a_program_answers_line_by_line(tmp_path: Path) -> None:
    with Program([sys.executable, "-c", CHILD], os.environ, tmp_path) as program:
        assert program.answer() == {"ready": True}
        assert program.ask("a folder") == {"asked": "a folder"}


def test_a_program_that_ends_without_an_answer(tmp_path: Path) -> None:
    with Program([sys.executable, "-c", CHILD], os.environ, tmp_path) as program:
        program.answer()
        with pytest.raises(RuntimeError, match="ended with exit code 3"):
            program.ask("end")
