"""Durations of suites and tests, from the records that the plugin wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SLOWEST = 100  # phases of tests in the report


@dataclass(frozen=True)
class Phase:
    """A part of a test: `setup` is its fixtures, `call` the test itself, `teardown` their end."""

    test: str
    phase: str
    outcome: str
    seconds: float
    processor: float
    """Seconds of user and system time, without those of servers that run on."""


@dataclass(frozen=True)
class Ended:
    """A suite that ran."""

    name: str
    exit_code: int
    seconds: float
    phases: tuple[Phase, ...]
    again: tuple[str, ...] = ()
    """Tests that failed at first and passed in their second try."""

    @property
    def tests(self) -> int:
        return len({phase.test for phase in self.phases})


def read_phases(path: Path) -> tuple[Phase, ...]:
    """The records of a suite. A suite that started no test wrote none."""
    return tuple(Phase(**json.loads(line)) for line in path.read_text().splitlines()) if path.exists() else ()


def failed_tests(phases: Iterable[Phase]) -> list[str]:
    """Ids of the tests of which a phase failed, in their order."""
    return list(dict.fromkeys(phase.test for phase in phases if phase.outcome == "failed"))


def report(suites: Iterable[Ended]) -> Iterator[str]:
    """A Markdown table of the suites, then of the slowest phases."""
    suites = list(suites)
    yield "| suite | tests | seconds | seconds of all its tests | processor seconds of these |"
    yield "|---|---|---|---|---|"
    for suite in suites:
        seconds, processor = (sum(getattr(p, key) for p in suite.phases) for key in ("seconds", "processor"))
        yield f"| {suite.name} | {suite.tests:,} | {suite.seconds:.0f} | {seconds:.0f} | {processor:.0f} |"
    yield ""
    yield "| seconds | processor | phase | test |"
    yield "|---|---|---|---|"
    phases = [phase for suite in suites for phase in suite.phases]
    for phase in sorted(phases, key=lambda phase: -phase.seconds)[:SLOWEST]:
        yield f"| {phase.seconds:.1f} | {phase.processor:.1f} | {phase.phase} | `{phase.test}` |"
