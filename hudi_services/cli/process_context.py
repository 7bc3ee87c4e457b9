"""The parts of its process that a command may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Surroundings:
    """`marked`: lines for people are marked, as others print to the same place. `spark`: a Spark session may be opened."""

    marked: bool = False
    spark: bool = True


ALONE = Surroundings()
"""A shell."""
