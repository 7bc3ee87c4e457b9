"""Files of events."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow.parquet as pq

from hudi_services.demo.stream.events import Feed
from hudi_services.demo.stream.land import land


def test_a_second_lands_as_a_whole_file_of_each_stream(tmp_path):
    feed = Feed(datetime(2026, 11, 26, tzinfo=UTC), 100)
    count = land(feed, tmp_path, 20)
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["orders/000020.parquet", "payments/000020.parquet"]
    assert count == sum(pq.read_metadata(tmp_path / file).num_rows for file in files)
    assert pq.read_table(tmp_path / files[0]).equals(feed.orders(20))
