"""Key and partition columns inside structs (`a.b`): writes, reads, deletions, ingestion; what is missing is named."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import RecordKeyError
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import find_field, top_level, values_of

WHO = pa.struct([("id", pa.int64()), ("name", pa.struct([("last", pa.string())]))])
PLACE = pa.struct([("city", pa.string())])


def rows(*people, city="Bern"):
    """One row for each (id, last name, n)."""
    who = [{"id": id_, "name": {"last": last}} for id_, last, _ in people]
    return pa.table(
        {
            "who": pa.array(who, WHO),
            "place": pa.array([{"city": city}] * len(people), PLACE),
            "n": pa.array([n for *_, n in people], pa.int64()),
        }
    )


def create(path, schema=None, **more):
    options = {
        "hoodie.table.name": "t",
        "hoodie.table.recordkey.fields": "who.id",
        "hoodie.table.partition.fields": "place.city",
        "hoodie.table.ordering.fields": "n",
        **more,
    }
    return HoodieTable.create(str(path), options, schema)


def held(table):
    found = table.read([RECORD_KEY, PARTITION_PATH, "n"]).to_pydict()
    return sorted(zip(*found.values(), strict=True))


def test_a_dotted_name_leads_into_structs():
    table = rows((1, "Ada", 1), (None, None, 2))
    assert values_of(table, "who.name.last").to_pylist() == ["Ada", None]
    assert find_field(table.schema, "who.name.last").type == pa.string()
    assert find_field(table.schema, "who.last") is None
    assert find_field(table.schema, "n.last") is None
    assert find_field(table.schema, "last") is None
    assert top_level(["who.id", "n", "who.name.last"]) == ["who", "n"]


def test_a_struct_that_is_null_has_no_values():
    table = pa.table({"who": pa.array([{"id": 1}, None], pa.struct([("id", pa.int64())]))})
    assert values_of(table, "who.id").to_pylist() == [1, None]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("virtual", ["false", "true"])
def test_rows_are_found_again_by_nested_keys(tmp_path, kind, virtual):
    more = {} if virtual == "false" else {"hoodie.populate.meta.fields": "false"}
    table = create(tmp_path / "t", **{"hoodie.table.type": kind, **more})
    table.write(rows((1, "Ada", 1), (2, "Bo", 1)), "insert")
    table.write(rows((2, "Bo", 5), (3, "Cy", 5)), "upsert")
    table.write(rows((1, "Ada", 9)).select(["who", "place"]), "delete")
    left = table.read(["who", "n"]).sort_by("n").to_pylist()
    assert sorted((row["who"]["id"], row["n"]) for row in left) == [(2, 5), (3, 5)]
    if virtual == "false":
        assert held(table) == [("2", "Bern", 5), ("3", "Bern", 5)]


def test_complex_keys_and_hive_style_folders_carry_the_dotted_name(tmp_path):
    keys = {"hoodie.table.recordkey.fields": "who.id,who.name.last"}
    table = create(tmp_path / "t", **keys, **{"hoodie.datasource.write.hive_style_partitioning": "true"})
    table.write(rows((1, "Ada", 1), (2, None, 1)))
    assert held(table) == [
        ("who.id:1,who.name.last:Ada", "place.city=Bern", 1),
        ("who.id:2,who.name.last:__null__", "place.city=Bern", 1),
    ]


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(RecordKeyError, match=r"'who\.id'"):
        create(tmp_path / "t", rows((1, "Ada", 1)).select(["place", "n"]).schema)
    table = create(tmp_path / "t", rows((1, "Ada", 1)).schema)
    lacking = pa.table({"who": pa.array([{"nr": 1}]), "place": pa.array([{"city": "Bern"}]), "n": [1]})
    with pytest.raises(RecordKeyError, match=r"'who\.id'"):
        table.write(lacking)
    with pytest.raises(RecordKeyError, match=r"who\.id is null"):
        table.write(rows((1, "Ada", 1), (None, "Bo", 1)))
    assert table.read().num_rows == 0
