"""Options of `writeStream.format("hoodie")`."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import ConfigError
from hoodie.spark.stream.sink_options import SinkRequest
from hoodie.write.change_rows import ChangeColumns


def request(overwrite=False, **given):
    return SinkRequest.of(
        {"path": "/data/t", **{name.replace("_", "."): text for name, text in given.items()}}, overwrite
    )


def test_options_of_the_stream_and_of_the_write():
    found = request(
        hoodie_stream_query_name="q", hoodie_stream_local_rows="5", hoodie_datasource_write_operation="insert"
    )
    assert (found.name, found.local_rows, found.writes.operation, found.writes.options) == ("q", 5, "insert", {})
    assert not found.after_restore
    found = request(
        hoodie_stream_op_column="op",
        hoodie_stream_order_columns="a, b",
        hoodie_stream_after_restore="continue",
        hoodie_parquet_small_file_limit="0",
    )
    assert found.writes.changes == ChangeColumns("op", ("a", "b"))
    assert found.after_restore
    assert found.writes.options == {"hoodie.parquet.small.file.limit": "0"}
    assert request(hoodie_stream_deletions_column="gone").writes.deletions == "gone"
    assert request(True).writes.operation == "insert_overwrite_table"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": ""}, "has no path"),
        ({"hoodie_stream_after_restore": "x"}, "hoodie.stream.after.restore"),
        ({"hoodie_stream_op_column": "op", "hoodie_datasource_write_operation": "insert"}, "applied by an upsert"),
        ({"hoodie_compact_inline": "maybe"}, "hoodie.compact.inline"),
    ],
)
def test_options_that_cannot_be(given, said):
    with pytest.raises(ConfigError, match=said):
        request(**given)


def test_the_query_is_known_by_its_checkpoint(tmp_path):
    """Spark writes its identifier there when the query starts for the first time."""
    with pytest.raises(ConfigError, match="is not known"):
        request(checkpointlocation=str(tmp_path)).query()
    (tmp_path / "metadata").write_text(json.dumps({"id": "c0ffee"}))
    for location in (str(tmp_path), f"file:{tmp_path}", f"file://{tmp_path}"):
        assert request(checkpointlocation=location).query() == ("c0ffee", "c0ffee")
    assert request(checkpointlocation=str(tmp_path), hoodie_stream_query_name="q").query() == ("q", "c0ffee")
    assert request(hoodie_stream_query_name="q").query() == ("q", "")
    with pytest.raises(ConfigError, match="is not known"):
        request(queryname="q").query()
