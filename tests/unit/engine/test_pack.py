"""Work is dealt out evenly, and all of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hoodie.engine.pack import packed, shares


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


@given(st.lists(st.integers(0, 1 << 27)), st.integers(1, 5))
def test_each_piece_has_one_task_and_small_ones_share_it(sizes, workers):
    dealt = shares(sizes, workers)
    assert sorted(number for share in dealt for number in share) == list(range(len(sizes)))
    held = [sum(sizes[number] for number in share) for share in dealt]
    assert held == sorted(held, reverse=True)
    assert all(size <= (1 << 25) + max(sizes) for size in held)


def test_a_large_piece_has_a_task_of_its_own_and_comes_first():
    dealt = shares([1 << 20] * 100 + [1 << 40], 2)
    assert dealt[0] == (100,)
    assert len(dealt) == 8
    assert len(shares([1 << 20] * 100, 2)) == 8
