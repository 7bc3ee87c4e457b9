"""Stages of decisions as values."""

from __future__ import annotations

from hoodie.services.stages import Item, Items


def test_items_are_described_when_they_are_read() -> None:
    """A plan of millions is not written out for a run that only carries it out."""
    described: list[str] = []

    def item(name: str) -> Item:
        described.append(name)
        return Item(name, 1)

    items = Items("remove", ("a", "b"), 2, item=item)
    assert (len(items), described) == (2, [])
    assert [found.path for found in items] == described == ["a", "b"]
