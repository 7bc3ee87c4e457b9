"""Options of a stream, as Spark hands them over."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError
from hoodie.spark.stream.options import is_stream, stream_options


def test_what_is_not_of_streams_is_left_for_the_read():
    found = stream_options(
        {"path": "/t", "maxcommitspertrigger": "3", "hoodie.memory.merge.max.size": "9", "owner": "x"}
    )
    assert (found.path, found.max_commits, found.max_bytes, found.changes) == ("/t", 3, None, False)
    assert found.read == {"hoodie.memory.merge.max.size": "9"}


def test_options_of_streams_are_known_from_those_of_batches():
    shape, kind = "hoodie.datasource.query.incremental.format", "hoodie.datasource.query.type"
    assert is_stream({"ondataloss": "fail"})
    assert is_stream({shape: "cdc"})
    assert not is_stream({shape: "cdc", kind: "incremental"})
    assert not is_stream({})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"ondataloss": "ignore"}, "onDataLoss"),
        ({"maxcommitspertrigger": "0"}, "maxCommitsPerTrigger"),
        ({"maxbytespertrigger": "1 GB"}, "maxBytesPerTrigger"),
        ({"hoodie.datasource.query.incremental.format": "json"}, "latest_state"),
        ({"path": ""}, "no path"),
        ({"hoodie.datasource.query.type": "read_optimized"}, "incremental"),
    ],
)
def test_options_that_cannot_be(given, text):
    with pytest.raises(ConfigError, match=text):
        stream_options({"path": "/t", **given})
