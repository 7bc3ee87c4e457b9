"""`make kill-matrix`: kills every action at every storage call. Its table of counts is in docs/contributing/reliability.md.

`EVERY=3` takes each third call only. Hudi carries on after a share of the kills that differ in what they leave: each third, or as
`HUDI=1` says. `SAMPLED=1` takes the kills of `make test-deep`. `ONLY=restore,archive` takes these actions and leaves the other
rows of the page as they are.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.interop import peer_env
from tests.interop.peer import HudiPeer
from tests.kills.actions import ACTIONS, Killed
from tests.kills.hudi import hudi_can, hudi_carries_on, hudi_is_sampled
from tests.kills.process import KillPoint
from tests.kills.recovery import Kills

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contributing" / "reliability.md"
_TABLE = re.compile(r"(?<=<!-- make kill-matrix -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEAD = "| action | table version | storage calls | kills, we carry on | kills, Hudi 1.2.0 carries on |\n|---|---|---|---|---|\n"


@dataclass(frozen=True)
class Row:
    """Counts of one action on one kind and version of table; each kill counted has left no wrong row and no file."""

    action: Killed
    calls: int
    ours: int
    hudis: int

    def __str__(self) -> str:
        hudis = str(self.hudis) if hudi_can(self.action) else "not asked"
        return f"| {self.action.title} | {self.action.version} | {self.calls} | {self.ours} | {hudis} |\n"


def documented() -> list[tuple[str, str]]:
    """Action and table version of each row of the page."""
    rows = [line.split("|") for line in _lines()]
    return [(cells[1].strip(), cells[2].strip()) for cells in rows]


def _lines() -> list[str]:
    found = _TABLE.search(PAGE.read_text())
    assert found is not None, f"{PAGE} has no place for the matrix"
    return found.group().splitlines(keepends=True)[2:]


@dataclass(frozen=True)
class Choice:
    """The kills that are chosen: a number of `ours` and `hudis`, or those of `make test`."""

    ours: int = 1
    hudis: int = 3
    sampled: bool = False

    def of_ours(self, kills: Kills, number: int) -> list[KillPoint]:
        """After which we carry on."""
        return kills.share(3) if self.sampled else kills.every[number % self.ours :: self.ours]

    def of_hudis(self, kills: Kills, number: int) -> list[KillPoint]:
        """After which Hudi carries on."""
        if self.sampled:
            return kills.few() if hudi_is_sampled(kills.action) else []
        return kills.damaging[number % self.hudis :: self.hudis] if hudi_can(kills.action) else []


def rows(actions: Sequence[Killed], choice: Choice) -> Iterator[Row]:
    """Kill each action at each call that is chosen.

    Raises AssertionError or PeerError with the kill that was not repaired.
    """
    os.fsync = lambda _descriptor: None  # type: ignore[assignment]
    peer_env.ensure()
    hudi = HudiPeer("1.2.0")
    try:
        for number, action in enumerate(actions):
            with tempfile.TemporaryDirectory(prefix="kills-") as folder:
                kills = Kills(action, Path(folder))
                first, second = choice.of_ours(kills, number), choice.of_hudis(kills, number)
                kills.we_carry_on(first)
                hudi_carries_on(kills, second, hudi)
            yield Row(action, sum(not point.within for point in kills.every), len(first), len(second))
    finally:
        hudi.stop()


def main() -> None:
    every, hudis, sampled = (
        int(os.environ.get(name) or default) for name, default in (("EVERY", 1), ("HUDI", 3), ("SAMPLED", 0))
    )
    only = [name.strip() for name in os.environ.get("ONLY", "").split(",") if name.strip()]
    chosen = [action for action in ACTIONS.values() if not only or action.name in only]
    lines = dict(zip(documented(), _lines(), strict=True)) if only else {}
    for row in rows(chosen, Choice(every, hudis, bool(sampled))):
        lines[row.action.title, row.action.version] = str(row)
        print(row, end="", flush=True)
    there = [(action.title, action.version) for action in ACTIONS.values()]
    table = _HEAD + "".join(lines[key] for key in there if key in lines)
    PAGE.write_text(_TABLE.sub(lambda _: table, PAGE.read_text()))


if __name__ == "__main__":
    main()
