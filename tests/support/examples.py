"""How many examples a property test takes."""

from __future__ import annotations

from hypothesis import settings

_ALL = 100  # examples of a property that says nothing else, where no profile is asked for


def examples(number: int) -> int:
    """`number`, which CI takes; of them a part under the profile `quick` (tests/conftest.py)."""
    return max(3, number * settings.default.max_examples // _ALL)
