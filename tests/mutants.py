"""Small faults that the tests must find: `python -m tests.mutants [ID ...] [--jobs N]`.

Each fault of tests/mutants.yaml is made in a copy of the tree, where the tests run that should fail on it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import yaml

from tests.runner.processes import run_interruptible

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "mutants.yaml"
UNIT = Path("tests", "unit")
_ROOTS = (Path("plugins", "hoodie"), Path("plugins"), Path())
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::[^\[\s]+(?:\[.*?\])?)?)(?: - .*)?$", re.MULTILINE)
_OK, _FAILURES, _NO_TESTS = 0, 1, 5
_STOPPED = -1
_LIMIT_SECONDS = 1800  # of one run of pytest: a mutant may never end


class MutantError(Exception):
    """A list of mutants that does not fit the code, or a run of tests that says nothing."""


@dataclass(frozen=True)
class Mutant:
    """A fault: text of a file that is replaced, and what a user would lose by it."""

    id: str
    area: str
    file: str
    before: str
    after: str
    loss: str
    tests: tuple[str, ...]
    explained: str | None = None

    def applied(self, text: str) -> str:
        """The text of the file with the fault. Raises MutantError unless `before` occurs exactly once."""
        count = text.count(self.before)
        if count != 1:
            raise MutantError(
                f"mutant {self.id}: its `before` occurs {count} times in {self.file}: correct it in {LIST}"
            )
        return text.replace(self.before, self.after)

    def places(self) -> Iterator[tuple[str, ...]]:
        """Tests to run, in this order: the likeliest, then those of the package."""
        yield tuple((UNIT / name).as_posix() for name in self.tests)
        folder = unit_folder(Path(self.file))
        if folder is not None:
            yield (folder.as_posix(),)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a mutant: the test that failed on it, if any."""

    mutant: Mutant
    killer: str | None = None
    error: str | None = None

    @property
    def is_fault(self) -> bool:
        """Return whether the run fails by it."""
        return self.error is not None or (self.killer is None and self.mutant.explained is None)

    def __str__(self) -> str:
        if self.error is not None:
            word, why = "error", self.error
        elif self.killer is not None:
            word, why = "killed", self.killer
        else:
            word, why = "survived", self.mutant.explained or self.mutant.loss
        return f"{word:<9} {self.mutant.area:<12} {self.mutant.id:<26} {why}"


def load(path: Path = LIST) -> tuple[Mutant, ...]:
    """The mutants of a list."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries)


def unit_folder(file: Path) -> Path | None:
    """The folder of unit tests that mirrors a module's package, if there is one."""
    root = next(root for root in _ROOTS if file.is_relative_to(root))
    for package in file.relative_to(root).parents:
        if package != Path() and (ROOT / UNIT / package).is_dir():
            return UNIT / package
    return None


class Runs:
    """Runs of pytest, each in a session of its own, so that all its processes can be ended."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._lock = Lock()
        self.stopped = False

    def pytest(self, folder: Path, tests: Sequence[str]) -> tuple[int, str]:
        """Run tests in a copy of the tree. Returns the exit code and what was printed."""
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-rfE", "-p", "no:cacheprovider", *tests]
        environment = {**os.environ, "PYTHONPATH": f"{folder / 'plugins'}:{folder}", "COLUMNS": "1000"}
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            with self._lock:
                if self.stopped:
                    return _STOPPED, ""
                process = subprocess.Popen(
                    command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
                )
                self._running.add(process.pid)
            try:
                code = process.wait(_LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                raise MutantError(
                    f"pytest {' '.join(tests)} did not end in {_LIMIT_SECONDS} seconds: choose another mutant or tests"
                ) from None
            finally:
                with self._lock:
                    self._running.discard(process.pid)
                _kill(process.pid)  # what the tests started and left
            output.seek(0)
            return code, output.read()

    def stop(self) -> None:
        """End all that run, with their children."""
        with self._lock:
            self.stopped = True
            for pid in self._running:
                _kill(pid)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@dataclass(frozen=True)
class Tests:
    """The tests, and which of them are known to pass on the code as it is."""

    runs: Runs
    passing: dict[str, bool] = field(default_factory=dict)

    def judge(self, mutant: Mutant, folder: Path) -> Verdict:
        """Find out whether a test fails on a mutant. The tree is as before afterwards."""
        path = folder / mutant.file
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(mutant.applied(text), encoding="utf-8")
            failed = self._first_failure(mutant, folder)
        except MutantError as error:
            return Verdict(mutant, error=str(error))
        finally:
            path.write_text(text, encoding="utf-8")
        if failed is None:
            return Verdict(mutant)
        if not self._passes(failed, folder):
            return Verdict(mutant, error=f"{failed} does not pass without the mutant: correct that test first")
        return Verdict(mutant, failed)

    def _first_failure(self, mutant: Mutant, folder: Path) -> str | None:
        for tests in mutant.places():
            code, output = self.runs.pytest(folder, tests)
            if code == _FAILURES and (found := _FAILED.search(output)):
                return found[1]
            if code not in (_OK, _NO_TESTS):
                last = output.strip().rpartition("\n")[2]
                raise MutantError(f"pytest {' '.join(tests)} ended with exit code {code}: {last}")
        return None

    def _passes(self, test: str, folder: Path) -> bool:
        if test not in self.passing:
            try:
                self.passing[test] = self.runs.pytest(folder, (test,))[0] == _OK
            except MutantError:
                self.passing[test] = False
        return self.passing[test]


def copy_tree(folder: Path) -> None:
    """Copy the tracked files, as they are in the work tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def run(mutants: Sequence[Mutant], jobs: int) -> list[Verdict]:
    """Judge each mutant in one of as many copies of the tree as there are jobs."""
    runs = Runs()
    tests = Tests(runs)
    with contextlib.ExitStack() as stack:
        free: queue.Queue[Path] = queue.Queue()
        for _ in range(jobs):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-"))).resolve()
            copy_tree(folder)
            free.put(folder)

        def judged(mutant: Mutant) -> Verdict:
            folder = free.get()
            try:
                verdict = tests.judge(mutant, folder)
            finally:
                free.put(folder)
            if not runs.stopped:
                print(verdict, flush=True)
            return verdict

        with ThreadPoolExecutor(jobs) as pool:
            try:
                return list(pool.map(judged, mutants))
            except BaseException:
                runs.stop()
                pool.shutdown(cancel_futures=True)
                raise


def main(arguments: list[str] | None = None) -> int:
    """Run mutants and print what became of them. The result is the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description="Small faults that the tests must find."
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="these mutants only")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="mutants at a time, each in a copy of the tree"
    )
    options = parser.parse_args(arguments)
    mutants = {mutant.id: mutant for mutant in load()}
    unknown = [name for name in options.ids if name not in mutants]
    if unknown:
        parser.error(f"no mutant {unknown[0]} in {LIST.relative_to(ROOT)}")
    chosen = [mutants[name] for name in options.ids] or list(mutants.values())
    verdicts = run(chosen, max(options.jobs, 1))
    verdicts.sort(key=lambda verdict: (verdict.is_fault, verdict.killer is None))
    print("", *verdicts, sep="\n")
    killed = sum(verdict.killer is not None for verdict in verdicts)
    faults = sum(verdict.is_fault for verdict in verdicts)
    print(f"{len(verdicts)} mutants, {killed} killed, {faults} to look at")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(run_interruptible(lambda _: main()))
