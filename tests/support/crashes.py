"""An action is run on copies of a table, and dies at each of its storage calls."""

from __future__ import annotations

import copy
import itertools
import random
import shutil
import threading
import uuid
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import HoodieError
from hoodie.formats.log import scan_blocks
from hoodie.storage import LocalStorage, walk_files
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import DEEP
from tests.support.tables import batch

FIRST = batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)])
SECOND = batch([("a", "p", 2, 2), ("d", "p", 2, 2), ("e", "r", 2, 2)])
RETAIN_ONE = {"hoodie.clean.commits.retained": 1}
_LOOKS = {"list", "info", "read", "open_input", "close_output"}
_TORN = {"open_output", "move"}  # half of these is neither what was before the call nor what was after it


def reopen(storage, clock):
    """The table as the next process opens it."""
    return HoodieTable.open(storage, clock=clock, engine=LocalEngine(1))


def run_to_failure(tmp_path, prepare, action, kind, half, few=10):
    """Run `action` on copies of one table, failing at the first call, the second …, until it gets through.

    Yields (copy, clock, call that failed) for each that `failures` names.
    """
    origin = tmp_path / "origin"
    prepare(origin)
    for storage, clock, error in failures(
        origin, lambda storage, clock: action(HoodieTable(storage, LocalEngine(1), clock)), kind, half, few, beside=()
    ):
        if error is None:
            assert storage.fail_at > few, "the action got through too early to be true"
            return
        yield LocalStorage(storage.base_path), clock, f"{storage.fail_at}: {error}"


def failures(origin, action, kind, half=False, few=10, beside=None):
    """Call `action(storage, clock)` on copies of a table, failing at the first call, the second …, as long as it makes that many.

    Yields (storage, clock, error or None) for each, without those that end as one before: with the same kind of error, or through
    the same kind of call, and with the same files. The next process sees nothing else. `make test-deep` takes all.
    `beside` are the other folders that the action changes, where they are known: one run then shows what each kill leaves.
    """
    path = origin.with_name("run")
    folders = [path, *(beside or ())]

    def once(fail_at, copying=False):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(origin, path)
        clock = FakeClock(FakeClock().time.replace(month=2))
        storage = CopyingStorage(folders, clock) if copying else FaultyStorage(path, fail_at, kind, half)
        try:
            with _same_names():
                action(storage, clock)
        except (Killed, OSError, HoodieError) as error:
            return storage, clock, error
        return storage, clock, None

    copying = kind == "kill" and beside is not None and not DEEP
    whole, _, error = once(None, copying)
    assert error is None
    assert whole.calls > few, "the action made too few storage calls to be true"
    if copying:
        whole.keep()
    ends = set()
    numbers = itertools.count(1)
    if not DEEP and kind in ("kill", "full"):
        numbers = deaths(whole.log, half, bool(beside)) if kind == "kill" else troubles(whole.log)
    for fail_at in numbers:
        if copying and not (half and whole.log[fail_at - 1][0] in _TORN):
            storage, clock, error = whole.died(fail_at, half)
        else:
            storage, clock, error = once(fail_at)
            if storage.calls < fail_at:
                return
        end = (type(error) if error else storage.log[fail_at - 1][0], *map(_files, folders))
        if DEEP or end not in ends:
            ends.add(end)
            yield storage, clock, error


class CopyingStorage(FaultyStorage):
    """Keeps copies of `folders` as they are before each call of a run that gets through. A kill at the call leaves just that.

    One call runs at a time: a copy beside a call of another thread, such as that of a heartbeat, would meet half of it.
    """

    def __init__(self, folders, clock):
        super().__init__(folders[0])
        self._folders, self._clock = folders, clock
        self._clocks, self._one_call = {}, threading.RLock()

    def _call(self, name, path, *rest):
        with self._one_call:
            return super()._call(name, path, *rest)

    @contextmanager
    def open_output(self, path):
        with self._one_call, super().open_output(path) as sink:
            yield sink

    def _step(self, name, path):
        if not self.calls or len(self._folders) > 1 or self.log[-1][0] not in _LOOKS:
            self.keep()
        return super()._step(name, path)

    def keep(self):
        """Copy the folders as they are before the next call."""
        with self._one_call:
            number = self.calls + 1
            self._clocks[number] = copy.copy(self._clock)
            for folder in filter(Path.exists, self._folders):
                shutil.copytree(folder, self._copy_of(folder, number))

    def died(self, fail_at, half):
        """Make the folders what they were before this call, or after it (`half`). Returns what a run that dies there would."""
        number = max(kept for kept in self._clocks if kept <= fail_at + half)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
            if self._copy_of(folder, number).exists():
                shutil.copytree(self._copy_of(folder, number), folder)
        storage = FaultyStorage(self.base_path, fail_at)
        storage.log = self.log[:fail_at]
        return storage, copy.copy(self._clocks[number]), Killed(f"call {fail_at}: {self.log[fail_at - 1]}")

    def _copy_of(self, folder, number):
        return folder.with_name(f"{folder.name}-{number}")


def deaths(log, half, all_of_them=False):
    """The numbers of the calls of `log` at which a kill leaves other files than at the call before.

    Looks change no file: of looks that follow each other the first stands for all, unless files beside the table change between
    them (`all_of_them`). With `half` the call itself is done, or begun.
    """
    if all_of_them:
        return list(range(1, len(log) + 1))
    changes = [True, *(name not in _LOOKS for name, _ in log)]  # by number of the call; 0 is the table as it was
    whole = {number for number, (name, _) in enumerate(log, 1) if name == "close_output"}
    return [n for n in range(1, len(log) + 1) if changes[n - 1] or n in whole or (half and changes[n])]


def troubles(log):
    """The numbers of the calls of `log` at which an error may leave other files than at the call before. The first and the
    last of looks that follow each other stand for all."""
    looks = [False, *(name in _LOOKS for name, _ in log), False]
    return [n for n in range(1, len(log) + 1) if not (looks[n - 1] and looks[n] and looks[n + 1])]


@contextmanager
def _same_names():
    """Ids of files and tokens of attempts are those that the last run of the action drew."""
    dice = random.Random(0)
    drawn = (uuid.UUID(int=dice.getrandbits(128), version=4) for _ in itertools.count())
    with (
        mock.patch("uuid.uuid4", side_effect=drawn),
        mock.patch("hoodie.engine.local._ATTEMPTS", itertools.count(1000)),
    ):
        yield


def _files(path):
    return frozenset((str(at.relative_to(path)), _bytes(at) if at.is_file() else None) for at in path.rglob("*"))


def _bytes(file):
    """The bytes of a file, of Avro without the marks between blocks, which are drawn."""
    data = file.read_bytes()
    return data.replace(data[-16:], b"") if data.startswith(b"Obj\x01") else data


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
