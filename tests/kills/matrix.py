"""`make kill-matrix`: every action is killed at every storage call, and its table of counts goes into docs/reliability.md.

`EVERY=3` takes each third call only. Hudi carries on after a share of the kills that differ in what they leave: each third, or as
`HUDI=1` says.
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
from tests.kills.hudi import hudi_can, hudi_carries_on
from tests.kills.recovery import Kills

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
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
    found = _TABLE.search(PAGE.read_text())
    assert found is not None, f"{PAGE} has no place for the matrix"
    rows = [line.split("|") for line in found.group().splitlines()[2:]]
    return [(cells[1].strip(), cells[2].strip()) for cells in rows]


def rows(actions: Sequence[Killed], ours: int, hudis: int) -> Iterator[Row]:
    """Kill each action at each call, or at each third … of `ours`, and of `hudis`.

    Raises AssertionError or PeerError with the kill that was not mended.
    """
    os.fsync = lambda _descriptor: None  # type: ignore[assignment]
    peer_env.ensure()
    hudi = HudiPeer("1.2.0")
    try:
        for number, action in enumerate(actions):
            with tempfile.TemporaryDirectory(prefix="kills-") as folder:
                kills = Kills(action, Path(folder))
                first = kills.every[number % ours :: ours]
                kills.we_carry_on(first)
                second = kills.damaging[number % hudis :: hudis] if hudi_can(action) else []
                hudi_carries_on(kills, second, hudi)
            yield Row(action, sum(not point.within for point in kills.every), len(first), len(second))
    finally:
        hudi.stop()


def main() -> None:
    done = []
    every, hudis = (int(os.environ.get(name) or default) for name, default in (("EVERY", 1), ("HUDI", 3)))
    for row in rows(list(ACTIONS.values()), every, hudis):
        done.append(str(row))
        print(row, end="", flush=True)
    PAGE.write_text(_TABLE.sub(lambda _: _HEAD + "".join(done), PAGE.read_text()))


if __name__ == "__main__":
    main()
