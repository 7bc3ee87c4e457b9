"""Options of the streaming sink."""

from __future__ import annotations

import pytest

from hoodie.config.key import resolve
from hoodie.config.keys import stream as keys
from hoodie.errors import ConfigError


def test_options_of_the_sink():
    given = {"hoodie.stream.after.restore": "continue", "hoodie.stream.order.columns": "a, b"}
    options = resolve(given, keys.STREAM_KEYS)
    assert options[keys.AFTER_RESTORE] == keys.CONTINUE
    assert options[keys.ORDER_COLUMNS] == ("a", "b")
    assert options[keys.LOCAL_ROWS] == 200_000
    for wrong in ({"hoodie.stream.after.restore": "x"}, {"hoodie.stream.local.rows": "-1"}):
        with pytest.raises(ConfigError, match="cannot have"):
            resolve(wrong, keys.STREAM_KEYS)
