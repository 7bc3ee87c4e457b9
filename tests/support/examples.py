"""How many examples a property test takes, and which seeds a random history."""

from __future__ import annotations

import os

from hypothesis import settings

from tests.support.matrix import DEEP

HUNT_SEED = int(os.environ.get("HUNT_SEED") or 0)  # the first seed; `make hunt` draws it
_ALL = 100  # examples in `make test-deep` of a property that names no number


def examples(number: int) -> int:
    """`number` in `make test-deep`. The other profiles of tests/conftest.py take a part of it."""
    return max(3, number * settings.default.max_examples // _ALL)


def seeds(number: int, part: int = 3) -> range:
    """`number` seeds in `make test-deep`, the first of `part` parts of them in `make test`."""
    return fixed_seeds(number if DEEP else -(-number // part))


def fixed_seeds(number: int) -> range:
    """`number` seeds from HUNT_SEED, which is 0 unless `make hunt` sets it."""
    return range(HUNT_SEED, HUNT_SEED + number)
