"""The search of every file: rows, keys of deletions, footers, texts in bytes and paths."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.services.purge.search import search
from hoodie.services.purge.subject import KEYS, subject_of
from hoodie.services.purge.trace import BLOOM, DELETED_KEYS, KEY_RANGE, NAME, ROWS, TEXT
from hoodie.storage import LocalStorage
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

PERSON = "person-1"


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([(PERSON, "p", 1, 1), ("person-12", "p", 1, 1), ("person-13", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    return table


def found(table, *keys, condition=f"id = '{PERSON}'"):
    keys = pa.Table.from_pylist([{"partition": p, "key": k} for p, k in keys], KEYS)
    traces = search(table.state(), subject_of(table.state(), condition, keys), LocalEngine(1)).traces
    return {trace.path: trace for trace in traces}


def test_rows_footers_and_deletions(table):
    (base,) = found(table).values()
    assert (base.rows, base.kinds) == (1, {ROWS})
    assert base.keys.to_pylist() == [{"partition": "part=p", "key": PERSON}]
    table.write(batch([(PERSON, "p", 1, 1)]), "delete", SMALL_BLOOM)
    log, base = sorted(found(table, ("part=p", PERSON)).values(), key=lambda trace: trace.path)
    assert log.kinds == {DELETED_KEYS}
    assert base.kinds == {ROWS, KEY_RANGE, BLOOM}
    assert base.contents == f"1 rows, {BLOOM}, {KEY_RANGE}"


def test_a_key_counts_in_its_partition_alone(table):
    assert found(table, ("part=q", "person-12"), condition="id = 'nobody-9'") == {}


def test_texts_in_paths_and_other_files(table):
    for path, kinds in {
        ".hoodie/.aux/notes.txt": {TEXT},
        f"{PERSON}.csv": {NAME},
        f"note-{PERSON}.txt": {TEXT, NAME},
    }.items():
        table.storage.create(path, PERSON.encode() if TEXT in kinds else b"-")
        assert found(table)[path].kinds == kinds
    table.storage.create("inner/.hoodie/hoodie.properties", PERSON.encode())
    table.storage.create("inner/data.txt", PERSON.encode())
    assert not [path for path in found(table) if path.startswith("inner")], "another table"
    for path in ("part=p/.hoodie/note", ".hoodie/metadata/.hoodie/hoodie.properties", ".hoodie/metadata/files/note"):
        table.storage.create(path, PERSON.encode())
    assert {"part=p/.hoodie/note", ".hoodie/metadata/files/note"} < found(table).keys(), "no other table"


def test_a_text_that_is_part_of_a_value_that_stays_is_no_trace(table):
    table.write(batch([(PERSON, "p", 1, 1)]), "delete", SMALL_BLOOM)
    assert all(trace.kinds != {TEXT} for trace in found(table).values())
    assert "person-13" not in str(found(table))


def test_a_clean_data_file_is_read_again_only_if_it_changed(table, monkeypatch):
    opened = []
    open_input = LocalStorage.open_input
    monkeypatch.setattr(LocalStorage, "open_input", lambda self, path: (opened.append(path), open_input(self, path))[1])
    subject, engine = subject_of(table.state(), f"id = '{PERSON}'"), LocalEngine(1)
    first = search(table.state(), subject, engine)
    (holding,) = (trace.path for trace in first.traces)
    (clean,) = (info.path for info in first.clean)
    assert (holding.split("/")[0], clean.split("/")[0]) == ("part=p", "part=q")
    opened.clear()
    second = search(table.state(), subject, engine, first.clean)
    assert (second.traces, second.clean) == (first.traces, first.clean)
    assert holding in opened, "it was not clean"
    assert clean not in opened
    assert any(path.startswith(".hoodie/") for path in opened), "other files are read each time"
    with open(f"{table.base_path}/{clean}", "ab") as file:
        file.write(PERSON.encode())
    os.utime(f"{table.base_path}/{clean}", (1, 1))
    with pytest.raises(HoodieError):
        search(table.state(), subject, engine, first.clean)
