"""Small faults that the tests must find: `python -m tests.mutants [ID ...] [--jobs N]`.

Each fault of tests/mutants.yaml is made in a copy of the tree, where the tests run that should fail on it: those that the list
names, then the fast ones nearest to the file by imports. tests/mutants.md has the last verdict on each.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import yaml

from tests.runner.processes import Processes, run_interruptible
from tests.runner.quick import FAST, importers, near, unit_tests

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "mutants.yaml"
TABLE = LIST.with_suffix(".md")
UNIT = Path("tests", "unit")
NEAREST = 6  # test files that may kill a mutant beside those that the list names, and of a folder that it names
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::[^\[\s]+(?:\[.*?\])?)?)(?: - .*)?$", re.MULTILINE)
_OK, _FAILURES, _NO_TESTS = 0, 1, 5
_LIMIT_SECONDS = 1800  # of one run of pytest: a mutant may never end
_HEAD = """\
# Verdicts on the small faults

`make mutants` writes this table: the test that fails on each fault of [mutants.yaml](mutants.yaml), and the seconds until then.

| fault | area | killed by | seconds |
|---|---|---|---:|
"""


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
        """Arguments of pytest, in this order: the tests that the list names, then the fast ones nearest to the file."""
        nearest = near({self.file}, *_imports())
        named = [file for name in self.tests for file in _test_files(name, nearest)]
        yield tuple(named)
        others = [file for file in nearest if file not in named][:NEAREST]
        if others:
            yield ("-m", FAST, *others)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a mutant: the test that failed on it, if any."""

    mutant: Mutant
    killer: str | None = None
    error: str | None = None
    seconds: float = 0.0

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
        return f"{word:<9} {self.mutant.area:<12} {self.mutant.id:<26} {self.seconds:4.0f} s  {why}"

    @property
    def row(self) -> str:
        """Its line of the table."""
        killer = f"`{self.killer.removeprefix('tests/unit/')}`" if self.killer else f"survives: {self.mutant.explained}"
        return f"| {self.mutant.id} | {self.mutant.area} | {killer} | {self.seconds:.0f} |"


def load(path: Path = LIST) -> tuple[Mutant, ...]:
    """The mutants of a list."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries)


@cache
def _imports() -> tuple[dict[str, str], dict[str, set[str]]]:
    texts = unit_tests()
    return texts, importers(texts)


def _test_files(name: str, nearest: Sequence[str]) -> list[str]:
    """A test file, or the nearest ones of a folder, the nearest first."""
    path = UNIT / name
    files = [path] if path.suffix else [file.relative_to(ROOT) for file in sorted((ROOT / path).rglob("test_*.py"))]
    order = {file: place for place, file in enumerate(nearest)}
    return sorted((file.as_posix() for file in files), key=lambda file: order.get(file, len(order)))[:NEAREST]


@dataclass(frozen=True)
class Copy:
    """A copy of the tracked files, as they are in the work tree, in which pytest runs."""

    folder: Path
    processes: Processes

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    def make(self) -> None:
        command = ["git", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """The tree with a fault. It is as before afterwards."""
        path = self.tree / mutant.file
        text = path.read_text(encoding="utf-8")
        _replace(path, mutant.applied(text))
        try:
            yield
        finally:
            _replace(path, text)

    def pytest(self, arguments: Sequence[str]) -> tuple[int, str]:
        """Run tests. Returns the exit code and what was printed. Raises MutantError if they do not end."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "-p", "no:cacheprovider", *arguments]
        environment = {"PYTHONPATH": f"{self.tree / 'plugins'}:{self.tree}", "COLUMNS": "1000"}
        try:
            code = self.processes.run(command, log, environment, _LIMIT_SECONDS, self.tree)
        except subprocess.TimeoutExpired:
            raise MutantError(
                f"pytest {' '.join(arguments)} did not end in {_LIMIT_SECONDS} seconds: choose another mutant or tests"
            ) from None
        return code, log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def _replace(path: Path, text: str) -> None:
    """Write a module and drop its compiled form: Python takes two texts of one second and size for the same."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


@dataclass(frozen=True)
class Judge:
    """Runs tests on mutants, and knows which tests pass on the code as it is."""

    passing: dict[str, bool] = field(default_factory=dict)

    def verdict(self, mutant: Mutant, copy: Copy) -> Verdict:
        """Find out whether a test fails on a mutant."""
        begun = time.monotonic()
        try:
            with copy.changed(mutant):
                failed = _first_failure(mutant, copy)
        except MutantError as error:
            return Verdict(mutant, error=str(error))
        verdict = Verdict(mutant, failed, seconds=time.monotonic() - begun)
        if failed is not None and not self._passes(failed, copy):
            return replace(verdict, killer=None, error=f"{failed} does not pass without the mutant: correct it first")
        return verdict

    def _passes(self, test: str, copy: Copy) -> bool:
        if test not in self.passing:
            try:
                self.passing[test] = copy.pytest((test,))[0] == _OK
            except MutantError:
                self.passing[test] = False
        return self.passing[test]


def _first_failure(mutant: Mutant, copy: Copy) -> str | None:
    for arguments in mutant.places():
        code, output = copy.pytest(arguments)
        if code == _FAILURES and (found := _FAILED.search(output)):
            return found[1]
        if code not in (_OK, _NO_TESTS):
            last = output.strip().rpartition("\n")[2]
            raise MutantError(f"pytest {' '.join(arguments)} ended with exit code {code}: {last}")
    return None


def run(mutants: Sequence[Mutant], jobs: int, processes: Processes) -> Iterator[Verdict]:
    """Judge each mutant in one of as many copies of the tree as there are jobs. Verdicts come in the order of the mutants."""
    judge = Judge()
    with contextlib.ExitStack() as stack:
        free: queue.Queue[Copy] = queue.Queue()
        for _ in range(jobs):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-"))).resolve()
            copy = Copy(folder, processes)
            copy.make()
            free.put(copy)

        def judged(mutant: Mutant) -> Verdict:
            copy = free.get()
            try:
                return judge.verdict(mutant, copy)
            finally:
                free.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            try:
                yield from pool.map(judged, mutants)
            except BaseException:
                processes.stop()
                pool.shutdown(cancel_futures=True)
                raise


def table(known: str, verdict: Verdict, ids: Iterable[str]) -> str:
    """The table `known` with the row of a new verdict, in the order of `ids`. Rows of other mutants and of survivors go."""
    rows = rows_of(known)
    if verdict.error is None:
        rows.pop(verdict.mutant.id, None)
    if not verdict.is_fault:
        rows[verdict.mutant.id] = verdict.row
    return _HEAD + "".join(f"{rows[name]}\n" for name in ids if name in rows)


def rows_of(table: str) -> dict[str, str]:
    """The lines of a table, by the id of their mutant."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return {line.split("|")[1].strip(): line for line in lines[2:]}


def main(processes: Processes, arguments: list[str] | None = None) -> int:
    """Run mutants, print what became of them and put it into the table. The result is the exit code."""
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
    verdicts: list[Verdict] = []
    for verdict in run(chosen, max(options.jobs, 1), processes):
        print(verdict, flush=True)
        verdicts.append(verdict)
        known = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
        TABLE.write_text(table(known, verdict, mutants), encoding="utf-8")
    processes.kill_left()  # programs that tests started and left, as a mutant may make them do
    verdicts.sort(key=lambda verdict: (verdict.is_fault, verdict.killer is None))
    print("", *verdicts, sep="\n")
    killed = sum(verdict.killer is not None for verdict in verdicts)
    faults = sum(verdict.is_fault for verdict in verdicts)
    print(f"{len(verdicts)} mutants, {killed} killed, {faults} to look at")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(run_interruptible(main))
