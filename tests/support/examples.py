"""How many examples a property test takes, and how many seeds a random history."""

from __future__ import annotations

from hypothesis import settings

from tests.support.matrix import DEEP

_ALL = 100  # examples in `make test-deep` of a property that names no number


def examples(number: int) -> int:
    """`number` in `make test-deep`. The other profiles of tests/conftest.py take a part of it."""
    return max(3, number * settings.default.max_examples // _ALL)


def seeds(number: int) -> range:
    """`number` seeds in `make test-deep`, the first third of them in `make test`."""
    return range(number if DEEP else -(-number // 3))
