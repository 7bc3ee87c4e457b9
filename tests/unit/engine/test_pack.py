"""Work is dealt out evenly, and all of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hoodie.engine.pack import packed


@given(st.lists(st.integers(0, 1000)), st.integers(1, 20))
def test_nothing_is_left_out_and_no_group_is_much_larger(sizes, count):
    groups = packed(sizes, count, lambda size: size)
    assert sorted(size for group in groups for size in group) == sorted(sizes)
    assert len(groups) == min(count, len(sizes))
    if groups:
        assert max(map(sum, groups)) <= sum(sizes) / len(groups) + max(sizes)
        assert all(groups)


def test_items_without_size_are_dealt_out_too():
    assert [len(group) for group in packed([0] * 4, 2, lambda size: size)] == [2, 2]
