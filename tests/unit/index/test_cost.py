"""The line of the log that says what an index cost."""

from __future__ import annotations

import pytest

from hoodie.index.cost import IndexCost


def cost(index, **given):
    values = {"slices": 100, "near": 100, "read": 100, "bytes": 5000, "by_range": 0, "by_filter": 0, "hit": 40}
    return IndexCost(index, 1.234, **{**values, **given})


def test_the_line():
    assert cost("SIMPLE").line() == (
        "Index SIMPLE: 1.23 s, keys of 100 of 100 file slices read, whose files have 5,000 bytes; 40 file groups had some of the "
        "rows"
    )
    assert cost("BLOOM", read=1, by_range=90, by_filter=9, hit=1).line() == (
        "Index BLOOM: 1.23 s, keys of 1 of 100 file slices read, whose files have 5,000 bytes; left out by key range 90, by "
        "bloom filter 9; 1 file group had some of the rows"
    )
    assert cost("BUCKET", read=0).line() == "Index BUCKET: 1.23 s, no stored keys read"
    assert cost("SIMPLE", hit=1).line().endswith("Cheaper: " + cost("SIMPLE", hit=1).advice())


@pytest.mark.parametrize(
    ("index", "given", "advised"),
    [
        ("SIMPLE", {}, None),
        ("SIMPLE", {"hit": 25}, "BLOOM would read the keys of about 25"),
        ("SIMPLE", {"hit": 1, "slices": 7}, None),
        ("SIMPLE", {"hit": 51}, "BUCKET reads none"),
        ("GLOBAL_SIMPLE", {"near": 50, "hit": 3}, "SIMPLE has 50 of these"),
        ("GLOBAL_SIMPLE", {"hit": 3}, "GLOBAL_BLOOM would read"),
        ("GLOBAL_SIMPLE", {"hit": 90}, None),
        ("BLOOM", {"read": 51}, "SIMPLE reads hardly more keys"),
        ("BLOOM", {"read": 3}, None),
        ("GLOBAL_BLOOM", {"near": 5}, "BLOOM has 5 of these"),
        ("GLOBAL_BLOOM", {"read": 80}, "GLOBAL_SIMPLE reads hardly more"),
        ("BUCKET", {"hit": 1}, None),
    ],
)
def test_what_would_be_cheaper(index, given, advised):
    told = cost(index, **given).advice()
    assert told is None if advised is None else told.startswith(advised)
