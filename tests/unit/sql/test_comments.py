"""Comments of columns: declared by SQL, kept as `doc` of the Avro schema, as Hudi keeps them."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.schema import arrow_to_avro, avro_to_arrow, normalise
from hoodie.schema.comments import comment_of
from hoodie.sql import connect

CREATE = (
    "create table t (id int comment 'the key', s struct<x: int comment 'inner', y: string>, ts bigint, plain string) "
    "using hudi tblproperties (primaryKey='id', preCombineField='ts', type='{kind}')"
)


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    with connect(tmp_path / "w") as connection:
        connection.sql(CREATE.format(kind=request.param))
        yield connection


def told(db):
    return {row[0]: row[2] for row in db.sql("describe t").rows() if row[2]}


def test_they_outlast_writes_and_other_columns(db, tmp_path):
    assert told(db) == {"id": "the key"}
    db.sql("insert into t select 1, named_struct('x', 1, 'y', 'a'), 1, 'p'; update t set ts = 2")
    table = HoodieTable.open(tmp_path / "w" / "t")
    more = pa.table({"id": pa.array([1], pa.int32()), "ts": [3], "new": ["n"]})
    table.write(more, "upsert")
    assert told(db) == {"id": "the key"}
    assert comment_of(table.schema.field("s").type.field("x")) == "inner"
    assert db.sql("select id, ts, new from t").rows() == [(1, 3, "n")]
    (last,) = table.state().timeline.commits[-1:]
    fields = json.loads(table.state().commit_metadata(last).schema)["fields"]
    assert {field["name"]: field["doc"] for field in fields if "doc" in field} == {"id": "the key"}


def test_they_are_altered_with_the_others(db, tmp_path):
    """The first ALTER gives the columns their ids: what CREATE TABLE said goes with them."""
    db.sql("insert into t select 1, null, 1, 'p'")
    db.sql("alter table t alter column plain comment 'said later'")
    db.sql("alter table t rename column plain to other; alter table t add columns (z int comment 'new')")
    assert told(db) == {"id": "the key", "other": "said later", "z": "new"}
    db.sql("update t set z = 5, ts = 2")
    assert told(db) == {"id": "the key", "other": "said later", "z": "new"}
    assert HoodieTable.open(tmp_path / "w" / "t").state().schemas[-1].docs() == {
        "id": "the key",
        "s.x": "inner",
        "other": "said later",
        "z": "new",
    }
    db.sql("alter table t alter column id comment ''")
    assert told(db) == {"other": "said later", "z": "new"}


def test_they_are_shown_by_a_statement_that_makes_the_table(db):
    assert "id INT COMMENT 'the key'" in db.sql("show create table t").rows()[0][0]
    assert db.sql("describe t id").rows()[2] == ("comment", "the key")


def test_avro_and_back():
    """Only comments of all metadata, and no empty ones: Hudi writes `doc` of its own columns so."""
    field = pa.field("a", pa.int32(), False, {"comment": "é", "other": "x"})
    nested = pa.field("b", pa.struct([pa.field("c", pa.string(), metadata={"comment": "deep"})]))
    schema = normalise(pa.schema([field, nested, pa.field("d", pa.string(), metadata={"comment": ""})]))
    text = arrow_to_avro(schema, "t")
    assert [each.get("doc") for each in json.loads(text)["fields"]] == ["é", None, None]
    back = avro_to_arrow(text)
    assert back.equals(schema, check_metadata=True)
    assert back.field("a").metadata == {b"comment": "é".encode()}
    assert back.field("d").metadata is None
    assert comment_of(back.field("b").type.field("c")) == "deep"
    assert back.field("a").nullable is False
