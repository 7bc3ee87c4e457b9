"""The suites of `make test`, and the lane of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    name: str
    arguments: tuple[str, ...]
    """They are passed to pytest."""
    lane: int = 1
    """Suites of a lane run one after the other, beside those of the other lane. The second lane has suites that often wait for
    programs, then some of one process, which take what Hudi's tests leave of the cores while they wait. It ends first."""
    second_try: bool = False
    """Tests that failed run once more. For suites that start many programs, whose second try is printed by name."""


SIDE_BY_SIDE = ("-n", "2")
SUITES = (
    Suite("spark", ("tests/spark",)),
    Suite("unit", (*SIDE_BY_SIDE, "tests/unit")),
    Suite("interop", (*SIDE_BY_SIDE, "--dist", "loadscope", "--no-loadscope-reorder", "tests/interop")),
    Suite("cluster", ("tests/cluster",), lane=2, second_try=True),
    Suite("load", ("-s", "tests/load"), lane=2),
    Suite("e2e", ("tests/e2e",), lane=2, second_try=True),
    Suite("crash", ("tests/crash",), lane=2),
    Suite("simulate", ("tests/simulation",), lane=2),
    Suite("golden", ("tests/golden",), lane=2),
)


def suites_named(names: list[str]) -> tuple[Suite, ...]:
    """The suites of these names, all without names. Raises ValueError for a name that no suite has."""
    unknown = sorted(set(names) - {suite.name for suite in SUITES})
    if unknown:
        raise ValueError(f"no suite {', '.join(unknown)}: choose of {', '.join(suite.name for suite in SUITES)}")
    return tuple(suite for suite in SUITES if not names or suite.name in names)
