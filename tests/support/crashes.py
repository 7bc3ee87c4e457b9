"""An action is run on copies of a table, and dies at each of its storage calls."""

from __future__ import annotations

import shutil

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.formats.log import scan_blocks
from hoodie.storage import LocalStorage, walk_files
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.tables import batch

FIRST = batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)])
SECOND = batch([("a", "p", 2, 2), ("d", "p", 2, 2), ("e", "r", 2, 2)])
RETAIN_ONE = {"hoodie.clean.commits.retained": 1}


def reopen(storage, clock):
    """The table as the next process opens it."""
    return HoodieTable.open(storage, clock=clock, engine=LocalEngine(1))


def run_to_failure(tmp_path, prepare, action, kind, half, few=10):
    """Run `action` on copies of one table, failing at the first call, the second …, until it gets through.

    Yields (copy, clock, call that failed) for each.
    """
    origin = tmp_path / "origin"
    prepare(origin)
    for fail_at in range(1, 1000):
        path = tmp_path / "run"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(origin, path)
        clock = FakeClock(FakeClock().time.replace(month=2))
        storage = FaultyStorage(path, fail_at, kind, half)
        try:
            action(HoodieTable(storage, LocalEngine(1), clock))
        except (Killed, OSError, HoodieError) as error:
            yield LocalStorage(str(path)), clock, f"{fail_at}: {error}"
        else:
            assert fail_at > few, "the action made too few storage calls to be true"
            return


def killed(*_):
    """Die in place of any function."""
    raise Killed


def uncommitted(table):
    """Data files of instants that are not on the timeline."""
    times = {instant.time for instant in table.timeline.commits}
    found = []
    for file in walk_files(table.storage, ""):
        if file.name.endswith(".parquet"):
            instants = {file.name.rpartition("_")[2].removesuffix(".parquet")}
        elif ".log." in file.name and not file.path.startswith(".hoodie"):
            instants = {block.instant for block in scan_blocks(table.storage, file.path)}
        else:
            continue
        if not instants <= times:
            found.append(file.path)
    return found
