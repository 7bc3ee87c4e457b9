"""The range of keys in a footer, by Java's order of texts."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hoodie.formats.key_range import key_range

LETTERS = st.sampled_from("aZ~яﬀ퟿�😀")


@given(st.lists(st.text(LETTERS, max_size=4), min_size=1, max_size=8), st.integers(0, 8))
def test_least_and_greatest(texts, cut):
    keys = pa.chunked_array([pa.array(["ﬀ", *texts], pa.string()).slice(1, cut), pa.array(texts[cut:], pa.string())])
    wanted = sorted(texts, key=lambda text: text.encode("utf-16-be"))
    assert key_range(keys) == (wanted[0], wanted[-1])


def test_texts_that_utf_8_orders_in_another_way():
    assert key_range(pa.chunked_array([["ﬀ", "😀", "a"]])) == ("a", "ﬀ")
