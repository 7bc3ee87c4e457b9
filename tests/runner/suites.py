"""The suites of `make test`, and the lane of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    name: str
    arguments: tuple[str, ...]
    """They are passed to pytest."""
    waits: bool = False
    """It runs beside the suites that compute: it waits for executors, or its time is fixed."""
    second_try: bool = False
    """Tests that failed run once more. For suites that start many programs, whose second try is printed by name."""


SIDE_BY_SIDE = ("-n", "2")
SUITES = (
    Suite("unit", (*SIDE_BY_SIDE, "tests/unit")),
    Suite("crash", (*SIDE_BY_SIDE, "tests/crash")),
    Suite("simulate", (*SIDE_BY_SIDE, "tests/simulation")),
    Suite("golden", (*SIDE_BY_SIDE, "tests/golden")),
    Suite("spark", ("tests/spark",)),
    Suite("interop", (*SIDE_BY_SIDE, "--dist", "loadscope", "--no-loadscope-reorder", "tests/interop")),
    Suite("e2e", ("tests/e2e",), second_try=True),
    Suite("cluster", ("tests/cluster",), waits=True, second_try=True),
    Suite("load", ("-s", "tests/load"), waits=True),
)


def suites_named(names: list[str]) -> tuple[Suite, ...]:
    """The suites of these names, all without names. Raises ValueError for a name that no suite has."""
    unknown = sorted(set(names) - {suite.name for suite in SUITES})
    if unknown:
        raise ValueError(f"no suite {', '.join(unknown)}: choose of {', '.join(suite.name for suite in SUITES)}")
    return tuple(suite for suite in SUITES if not names or suite.name in names)
