"""A lost history of schemas is made again of the commits, where these are certain."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie.doctor.schema_recovery import _goes_on, recovered_history
from hoodie.errors import CorruptTableError
from hoodie.schema.changes import AddColumn, DropColumn, RenameColumn
from hoodie.schema.internal import first_schema
from hoodie.view import TableView
from tests.support.altered_tables import KINDS, values, written
from tests.support.archive import archive_before
from tests.support.tables import SMALL_BLOOM

HISTORY = ".hoodie/.schema"


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0][:4]}{kind[1]}")
def table(request, tmp_path):
    """A column is renamed twice, and its first name is another's now."""
    made = written(tmp_path, *request.param)
    made.alter([RenameColumn("value", "amount"), AddColumn("value", pa.string())])
    made.write(made.read(filter="id = 'a'"), "upsert", SMALL_BLOOM)
    made.alter([RenameColumn("amount", "total"), DropColumn("value")])
    made.write(made.read(filter="id = 'c'"), "upsert", SMALL_BLOOM)
    return made


def lose(table, *, newest=False):
    files = sorted(table.storage.list(HISTORY).files, key=lambda file: file.name)
    for file in files:
        if not newest or not file.name.startswith(min(file.name for file in files)[:17]):
            table.storage.delete(file.path)


def found(table):
    return {finding.check for finding in table.diagnose().findings} & {"schema-history", "lost-schemas"}


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("newest", [False, True], ids=["all", "newest"])
def test_the_doctor_makes_it_again(table, archived, newest):
    if archived:
        archive_before(table, table.timeline.commits[-1].time)
    before, rows = table.state().schemas, values(table, "total")
    assert rows == {"a": 1, "b": 20, "c": 3}
    lose(table, newest=newest)
    with pytest.raises(CorruptTableError, match="history of the table's schemas is lost"):
        table.read()
    assert found(table) == {"schema-history"}
    (line,) = table.mend(table.diagnose())
    assert HISTORY in line
    assert table.state().schemas == before
    assert values(table, "total") == rows
    assert found(table) == set()
    table.write(table.read(filter="id = 'b'"), "upsert", SMALL_BLOOM)
    assert values(table, "total") == rows


def test_commits_that_are_not_known_make_it_uncertain(table):
    archive_before(table, table.timeline.commits[-1].time)
    shutil.rmtree(Path(table.base_path, table.state().layout.archive_folder))
    assert found(table) == set(), "the history is there"
    lose(table)
    assert found(table) == {"lost-schemas"}
    assert table.mend(table.diagnose()) == []
    with pytest.raises(CorruptTableError, match=r"restore the files of \.hoodie/\.schema from a copy"):
        table.read()


def test_a_table_without_ids_has_none(tmp_path):
    plain = written(tmp_path, *KINDS[0])
    state = plain.state()
    assert recovered_history(state, TableView(state).files) is None
    assert found(plain) == set()


def test_ids_that_are_counted_otherwise_do_not_go_on():
    first = first_schema(pa.schema([("a", pa.int64()), ("b", pa.int64())]))
    assert _goes_on(first, first.with_columns(pa.schema([("b", pa.int64()), ("c", pa.int64())])))
    assert not _goes_on(first, first_schema(pa.schema([("b", pa.int64()), ("a", pa.int64())])))
    assert not _goes_on(first, first_schema(pa.schema([("a", pa.int64())])))
