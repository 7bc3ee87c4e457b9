"""Positions of sources in the commits of a table."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.positions import find_position, find_since, newest_load
from tests.support.tables import SMALL_BLOOM, batch, create


def test_the_newest_position_and_those_since_an_instant(tmp_path):
    table = create(tmp_path / "trips")
    assert find_position(table.state(), "a", start_fresh=False) is None
    for number, extra in enumerate(({"a": "1"}, {"b": "9"}, {"a": "2"}, {})):
        table.write(batch([("k", "p", number, number)]), "upsert", SMALL_BLOOM, extra_metadata=extra)
    state = table.state()
    first, second, third, _ = (instant.time for instant in state.timeline.commits)
    found = find_position(state, "a", start_fresh=False)
    assert (found.text, found.instant) == ("2", third)
    since = find_since(state, "a", second)
    assert (since.before.instant, [each.text for each in since.after]) == (first, ["2"])
    assert newest_load(state, "a", "b")["a"] == "2"
    with pytest.raises(ConfigError, match="the table has no such instant"):
        find_since(state, "a", "20200101000000000")
