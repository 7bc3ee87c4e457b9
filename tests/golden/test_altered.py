"""Tables that Hudi altered by SQL with the history of their schemas (`make_altered.py` made them), read and written on by ids."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.errors import CorruptTableError
from hoodie.schema.internal import InternalSchema
from tests.support.tables import SMALL_BLOOM

TABLES = pytest.mark.parametrize("name", ["cow", "mor", "mor6"])


@pytest.fixture
def steps(golden):
    return json.loads((golden("12altered") / "_expected.json").read_text())


@pytest.fixture
def copied(golden, tmp_path):
    def copy(name):
        shutil.copytree(golden("12altered") / name, tmp_path / name)
        return HoodieTable.open(str(tmp_path / name))

    return copy


def by_key(rows):
    return {row["id"]: json.loads(json.dumps(row)) for row in rows.to_pylist()}


@TABLES
def test_rows_and_time_travel(golden, steps, name):
    """At each of its steps the table has the columns, and the rows, that Hudi read then."""
    table = HoodieTable.open(str(golden("12altered") / name))
    assert by_key(table.read()) == steps[name][-1]["rows"]
    for step in steps[name]:
        found = table.read(as_of=step["instant"])
        assert (found.column_names, by_key(found)) == (step["columns"], step["rows"])


@TABLES
def test_written_on(copied, steps, name):
    """Rows that are rewritten keep their values, the history goes on, and what is no more is not read."""
    table, rows = copied(name), steps[name][-1]["rows"]
    before = table.state().schemas
    row = table.read(filter=pc.field("id") == "k5")
    table.write(row.set_column(row.schema.get_field_index("price"), "price", pa.array([55.0])), "upsert", SMALL_BLOOM)
    rows["k5"]["price"] = 55.0
    assert by_key(table.read()) == rows
    if name != "cow":
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)
        assert not any(file_slice.log_files for file_slice in table.file_slices())
        assert by_key(table.read()) == rows
    state = table.state()
    assert state.schemas == before
    latest = state.commit_metadata(state.timeline.commits[-1]).extra["latest_schema"]
    assert InternalSchema.parse(latest) == before[-1]
    wider = table.read(filter=pc.field("id") == "k6").append_column("more", pa.array([1]))
    table.write(wider, "upsert", SMALL_BLOOM)
    rows = {key: {**row, "more": 1 if key == "k6" else None} for key, row in rows.items()}
    assert by_key(table.read()) == rows
    after = table.state().schemas
    assert [*after[:-1]] == [*before]
    assert after[-1].columns[-1].name == "more"
    assert after[-1].columns[-1].id == after[-1].max_id > before[-1].max_id


@TABLES
def test_filters_go_by_the_files_own_names(copied, steps, name):
    """Statistics of the column that was called `note` first do not rule rows of today's `note` out, and the other way round."""
    table, rows = copied(name), steps[name][-1]["rows"]
    for column, value in (("note", "new"), ("note", "old1"), ("title", "one5"), ("name", "again"), ("n", 4)):
        wanted = sorted(key for key, row in rows.items() if row[column] == value)
        assert sorted(table.read(filter=pc.field(column) == value)["id"].to_pylist()) == wanted
    nulls = sorted(key for key, row in rows.items() if row["note"] is None)
    assert sorted(table.read(filter=pc.field("note").is_null())["id"].to_pylist()) == nulls


@TABLES
def test_columns_alone(copied, steps, name):
    table, rows = copied(name), steps[name][-1]["rows"]
    for column in steps[name][-1]["columns"]:
        found = table.read(columns=["id"] if column == "id" else ["id", column])
        assert {key: row[column] for key, row in rows.items()} == {
            row["id"]: json.loads(json.dumps(row[column])) for row in found.to_pylist()
        }
    assert table.read(columns=["note"]).num_rows == len(rows)


@TABLES
def test_incremental(copied, steps, name):
    table = copied(name)
    since = steps[name][1]["instant"]
    found = {row["id"]: row for row in table.read_incremental(since).to_pylist()}
    assert {key: json.loads(json.dumps(row)) for key, row in found.items()} == {
        key: steps[name][-1]["rows"][key] for key in found
    }
    assert {"k3", "k4"} <= set(found)


@TABLES
def test_a_history_that_is_lost_is_made_again_as_hudi_wrote_it(copied, steps, name):
    table = copied(name)
    before = table.state().schemas
    shutil.rmtree(Path(table.base_path, ".hoodie", ".schema"))
    with pytest.raises(CorruptTableError, match="history of the table's schemas is lost"):
        table.read()
    table.mend(table.diagnose())
    assert table.state().schemas == before
    assert by_key(table.read()) == steps[name][-1]["rows"]


@TABLES
def test_a_history_that_is_torn(copied, name):
    table = copied(name)
    max(Path(table.base_path, ".hoodie", ".schema").glob("*.schemacommit")).write_text('{"schemas":[{"ver')
    with pytest.raises(CorruptTableError, match="history of the table's schemas"):
        table.read()
