"""An estimate of the work of a run, which decides on its engine."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.display import size_of

LOCAL, SPARK, AUTO = "local", "spark", "auto"
ENGINES = (LOCAL, SPARK, AUTO)
UP_TO = "256m"
"""The most bytes for which threads are faster by default: a Spark application takes some twenty seconds to begin."""


@dataclass(frozen=True)
class Work:
    """The bytes that a run reads, about, and a description of them."""

    bytes: int
    description: str


def engine_for(work: Work, up_to: int) -> tuple[str, str]:
    """The engine for some work, and why in a line for people; threads get at most `up_to` bytes of it."""
    if work.bytes <= up_to:
        return (
            LOCAL,
            f"threads of this process, as the work is small: {work.description}; up to {size_of(up_to)} are done so",
        )
    return SPARK, f"Spark, as the work is more than {size_of(up_to)}: {work.description}"
