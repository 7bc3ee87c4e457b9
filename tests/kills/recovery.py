"""Killing an action at its storage calls, and the conditions that hold after the next process has recovered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hoodie import HoodieTable
from hoodie.formats.log import BlockType, Header, scan_blocks
from hoodie.storage import LocalStorage, walk_files
from tests.kills.actions import LOGS, Killed
from tests.kills.process import READS, TORN, KillPoint, calls, killed, opened
from tests.support.examples import HUNT_SEED
from tests.support.random_writes import all_commits
from tests.support.tables import batch, content

NEXT = batch([("z", "p", 9, 9)])  # what is written after the kill
PROPERTIES = ".hoodie/hoodie.properties"  # without them there is no table
Rows = dict[str, tuple[str, int, int]]


class Kills:
    """An action, on a table of its own below `folder`: each of its kill points on a copy."""

    def __init__(self, action: Killed, folder: Path) -> None:
        self.action = action
        self._origin, self._folder = folder / "origin", folder
        self.before = _rows(action.make(self._origin))
        shutil.copytree(self._origin, folder / "done")
        made = calls(action.act, folder / "done")
        self.every = [*made, *(replace(point, within=True) for point in made if point.call in TORN)]
        self.after = _rows(opened(LocalStorage(str(folder / "done"))))

    @property
    def damaging(self) -> list[KillPoint]:
        """Those that differ in what they leave on the disk: killed before a call that only reads, or before one that writes
        after it, a process leaves the same."""
        return [point for point in self.every if point.call not in READS]

    def share(self, step: int) -> list[KillPoint]:
        """Every `step`-th of these, from another start for each version of the table and each HUNT_SEED. A `step` of 3 covers
        nearly all calls."""
        return self.damaging[("986".index(self.action.version) * step // 3 + HUNT_SEED) % step :: step]

    def few(self) -> list[KillPoint]:
        """Two or three of these, which do for Hudi, each of whose writes takes seconds."""
        return self.damaging[len(self.damaging) // 3 :: (len(self.damaging) + 1) // 2]

    def damaged(self, points: Sequence[KillPoint]) -> Iterator[tuple[KillPoint, HoodieTable]]:
        """The table as each kill has left it, and its readers see it."""
        for number, point in enumerate(points):
            path = self._folder / f"killed-{number}"
            shutil.copytree(self._origin, path)
            killed(self.action.act, path, point)
            table = opened(LocalStorage(str(path)))
            if table.storage.info(PROPERTIES) is not None:
                assert content(table) in (self.before, self.after), f"half of it is seen after a kill {point}"
            yield point, table
            shutil.rmtree(path)

    def we_carry_on(self, points: Sequence[KillPoint]) -> None:
        """Raises AssertionError for a wrong row, a file of no commit, or anything else that is left."""
        for point, table in self.damaged(points):
            self.action.again(table)
            table.write(NEXT, "upsert", LOGS)
            rows = content(table)
            assert rows.pop("z") == ("p", 9, 9), point
            assert rows in ((self.before, self.after) if self.action.name == "rollback" else (self.after,)), point
            assert nothing_left(table) == [], point


def nothing_left(table: HoodieTable, *, temporary: bool = True) -> list[str]:
    """Remains of a process that died: data files of no commit, pending instants, markers, locks, and, with `temporary`,
    files that were not yet under their names.
    """
    left = [*uncommitted(table), *(f"{each.action} {each.time} is pending" for each in table.timeline.pending)]
    remains = (".hoodie/.temp/", ".hoodie/.heartbeat/", ".hoodie/hoodie.properties.backup", ".hoodie/lock")
    left += [file.path for file in walk_files(table.storage, ".hoodie") if file.path.startswith(remains)]
    if temporary:
        left += [str(path) for path in Path(table.base_path).rglob(".tmp-*")]
    return left


def uncommitted(table: HoodieTable) -> list[str]:
    """Base files and logs of instants that are not on the timeline, and that no command block takes back."""
    times = {instant.time for instant in all_commits(table.state())}
    files = [file for file in walk_files(table.storage, "") if not file.path.startswith(".hoodie")]
    bases = {file.path: {file.name.rpartition("_")[2][: -len(".parquet")]} for file in files if _is_base(file.name)}
    logs = [file.path for file in files if ".log." in file.name and not file.name.endswith(".crc")]
    blocks = {path: list(scan_blocks(table.storage, path)) for path in logs}
    undone = {block.headers.get(Header.TARGET_INSTANT_TIME) for each in blocks.values() for block in each}
    written = {
        path: {block.instant for block in each if block.kind is not BlockType.COMMAND} - undone
        for path, each in blocks.items()
    }
    return sorted(path for path, instants in (bases | written).items() if not instants <= times)


def _is_base(name: str) -> bool:
    return name.endswith(".parquet") and not name.startswith(".")


def _rows(table: HoodieTable | None) -> Rows:
    return {} if table is None else content(table)
