"""Rows that share a key or a folder although their values differ."""

from __future__ import annotations

import pyarrow as pa

from hoodie.keygen import PartitionPaths
from hoodie.keygen.shared_places import sharing


def test_rows_of_one_place_with_other_values():
    place = [pa.chunked_array([["k", "k", "k", "l", None, None]]), pa.chunked_array([[1, 1, 2, 1, 1, 1]])]
    values = [pa.chunked_array([["a", "b", "c", "a", None, None]])]
    assert sharing(place, values).to_pylist() == [True, True, False, False, False, False]


def test_paths_that_rows_share():
    rows = pa.table({"p": ["a/b", "a", "a/b", "a", "x"], "q": ["c", "b/c", "c", "b/c", None]})
    keys = pa.chunked_array([[1, 1, 2, 3, 1]])
    paths = PartitionPaths(("p", "q"), hive_style=False, url_encode=False)
    assert paths.colliding(rows, [keys]).to_pylist() == [True, True, False, False, False]
    assert paths.mistakable(rows).to_pylist() == [True, True, True, True, False]
    encoded = PartitionPaths(("p", "q"), hive_style=False, url_encode=True)
    assert not encoded.may_collide
    assert encoded.colliding(rows, [keys]).to_pylist() == [False] * 5
    assert paths.colliding(rows.slice(0, 0), [keys.slice(0, 0)]).to_pylist() == []
