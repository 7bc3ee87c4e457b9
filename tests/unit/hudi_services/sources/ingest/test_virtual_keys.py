"""Virtual keys as an option of a table in the registry: when it is made, or later."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError
from tests.support.tables import batch

META = "hoodie.populate.meta.fields"


@pytest.mark.parametrize("first", ["false", "true"])
def test_the_option_holds_from_the_next_load_on(feed, first):
    feed.land("1.parquet", batch([("a", "p", 1, 1), ("b", "q", 1, 2)]))
    feed.run(options={META: first})
    feed.land("2.parquet", batch([("a", "p", 2, 10), ("c", "q", 1, 3)]))
    assert feed.run(options={META: "false"}).rows_updated == 1
    assert feed.content == {"a": ("p", 2, 10), "b": ("q", 1, 2), "c": ("q", 1, 3)}
    feed.land("3.parquet", batch([("b", "q", 2, 20)]))
    with pytest.raises(ConfigError, match="no writer fills them again"):
        feed.run(options={META: "true"})
    assert feed.run().rows_updated == 1  # what is not asked for stays as it is
