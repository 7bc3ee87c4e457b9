"""Keys of rows, and which of them other values of their columns could make, too."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.sql.row_keys import AMBIGUOUS, RowKeys
from tests.support.tables import batch, create


@pytest.fixture
def properties(tmp_path):
    return create(tmp_path / "t").state().properties


def keyed(properties, *entries):
    rows = RowKeys.of(properties, {}).keyed(batch([(key, part, 1, 1) for key, part in entries]), ["value"])
    return [tuple(row[name] for name in (RECORD_KEY, PARTITION_PATH, AMBIGUOUS)) for row in rows.to_pylist()]


def test_values_that_share_a_key_or_a_folder_with_others_are_ambiguous(properties):
    assert keyed(properties, ("a", "p"), ("a,b", "p"), ("a", "p/q"), ("a", None), ("a", "")) == [
        ("a", "part=p", False),
        ("a,b", "part=p", True),
        ("a", "part=p/q", True),
        ("a", "part=__HIVE_DEFAULT_PARTITION__", True),
        ("a", "part=__HIVE_DEFAULT_PARTITION__", True),
    ]


def test_keys_of_a_global_index_do_without_the_partition(properties):
    assert RowKeys.of(properties, {}).names == (RECORD_KEY, PARTITION_PATH)
    assert RowKeys.of(properties, {"hoodie.index.type": "GLOBAL_SIMPLE"}).names == (RECORD_KEY,)


def test_columns_of_keys_and_those_that_are_asked_for(properties):
    rows = RowKeys.of(properties, {}).keyed(batch([("a", "p", 1, 1)]), ["value"])
    assert rows.schema.names == ["id", "part", "value", RECORD_KEY, PARTITION_PATH, AMBIGUOUS]
    assert rows[AMBIGUOUS].type == pa.bool_()
