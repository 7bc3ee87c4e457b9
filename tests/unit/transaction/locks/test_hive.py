"""What a metastore says of its times; the rest is tested beside a real one (tests/interop/test_hive_lock.py)."""

from __future__ import annotations

import pytest

from hoodie.transaction.locks.hive import seconds_of


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("300s", 300),
        ("300", 300),
        (" 5 min ", 300),
        ("5MINUTES", 300),
        ("5m", 300),
        ("300000ms", 300),
        ("2h", 7200),
        ("1day", 86400),
        ("1 days", 86400),
        ("90sec", 90),
        ("", None),
        ("s", None),
        ("-3s", None),
        ("3 fortnights", None),
        ("?", None),
    ],
)
def test_times_of_hive(said, seconds):
    assert seconds_of(said) == seconds
