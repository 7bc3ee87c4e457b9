"""Run the unit tests nearest to what changed, and a fixed sample of the others: `python -m tests.runner.quick [ARGUMENT ...]`.

A change is what differs from the last commit on main that this branch has, with files that are not committed. pytest gets the
arguments. Tests of other suites are not run; a changed one is printed.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import grimp

from tests.runner.processes import Processes, run_interruptible
from tests.runner.suites import SIDE_BY_SIDE

ROOT = Path(__file__).resolve().parents[2]
UNIT = "tests/unit"
NEAREST = 40  # test files
SAMPLE = 20  # test files
PACKAGES = ("hoodie", "hoodie_airflow", "hudi_services", "tests")
FAST = "not process and not histories"
_ELSEWHERE = re.compile(r"^pytestmark = pytest\.mark\.(process|histories)\b", re.M)
_IMPORT = re.compile(r"^\s*import ([\w., ]+)", re.M)
_FROM = re.compile(r"^\s*from ([\w.]+) import (\([^)]*\)|.*)", re.M)
_NO_TESTS = 5  # exit code of pytest


@dataclass(frozen=True)
class Choice:
    """Test files to run, as paths from the root of the project."""

    changed: tuple[str, ...]
    """They run whole, with tests that start programs."""
    nearest: tuple[str, ...]
    sample: tuple[str, ...]


def main(arguments: list[str]) -> int:
    changed = changed_files(ROOT)
    tests = unit_tests()
    chosen = choose(changed, tests, importers(tests))
    for file in sorted(name for name in changed if _is_test(name) and not name.startswith(UNIT)):
        print(f"changed, but of a suite that does not run here: {file}")
    print(
        f"{len(chosen.changed)} changed, {len(chosen.nearest)} near, {len(chosen.sample)} other test files", flush=True
    )
    others = chosen.nearest + chosen.sample
    return run_interruptible(
        lambda processes: (
            _pytest(processes, chosen.changed, *arguments) or _pytest(processes, others, "-m", FAST, *arguments)
        )
    )


def choose(changed: Collection[str], tests: Mapping[str, str], importers: Mapping[str, Collection[str]]) -> Choice:
    """Choose from `tests`, which has the text of each file.

    `importers` names the modules and test files that import a module. The test file of a changed file's own name comes first. One
    that mirrors its package comes before others that are as near.
    """
    nearest = near(changed, tests, importers)[:NEAREST]
    sample = sorted(_fast(tests) - set(changed) - set(nearest), key=_digest)[:SAMPLE]
    return Choice(tuple(sorted(tests.keys() & set(changed))), tuple(nearest), tuple(sample))


def near(changed: Collection[str], tests: Mapping[str, str], importers: Mapping[str, Collection[str]]) -> list[str]:
    """The fast ones of `tests`, but not of `changed`, that reach a changed file by imports, the nearest first (see `choose`)."""
    distances = _distances(filter(None, map(module_name, changed)), importers)
    for name in changed:
        distances.update(dict.fromkeys(_tests_named(name, tests), 1))
    mirrors = {mirror for name in changed if (mirror := _mirror(name))}
    folders = {mirror.parent for mirror in mirrors}

    def key(name: str) -> tuple[bool, int, bool, str]:
        path = PurePosixPath(name)
        return path not in mirrors, distances[name], path.parent not in folders, _digest(name)

    return sorted((_fast(tests) - set(changed)) & distances.keys(), key=key)


def _fast(tests: Mapping[str, str]) -> set[str]:
    """Test files that neither load Airflow nor start programs."""
    return {name for name, text in tests.items() if not _ELSEWHERE.search(text) and "/hoodie_airflow/" not in name}


def changed_files(folder: Path) -> set[str]:
    """Files of the work tree that differ from the last commit on main, or are new. Without a branch main: from HEAD."""
    base = next(filter(None, (_git(folder, "merge-base", "HEAD", name) for name in ("main", "origin/main"))), ["HEAD"])
    changed = _git(folder, "diff", "--name-only", "--no-renames", base[0])
    new = _git(folder, "ls-files", "--others", "--exclude-standard")
    return {name for name in (*changed, *new) if (folder / name).is_file()}


def importers(tests: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules and files of `tests` that import a module, of each module of the project."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    found = {module: graph.find_modules_that_directly_import(module) for module in graph.modules}
    for name, text in tests.items():
        for module in imported_modules(text, found.keys()):
            found[module].add(name)
    return found


def imported_modules(text: str, modules: Set[str]) -> set[str]:
    """The ones of `modules` that a file of this text imports. Scripts inside of its strings count, too."""
    found = {name for names in _IMPORT.findall(text) for name in re.findall(r"[\w.]+", names)}
    for module, names in _FROM.findall(text):
        inner = {f"{module}.{name}" for name in re.findall(r"\w+", names)}
        found |= inner if inner <= modules else {*inner, module}
    return found & modules


def module_name(file: str) -> str | None:
    """The module of a file, if it belongs to a package of the project."""
    path = PurePosixPath(file.removeprefix("plugins/"))
    if path.suffix != ".py" or path.parts[0] not in PACKAGES or file.startswith(UNIT):
        return None
    return ".".join((path.parent if path.stem == "__init__" else path.with_suffix("")).parts)


def _distances(modules: Iterable[str], importers: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Steps from the nearest of `modules` to each module and file that imports it, itself or through others."""
    distances: dict[str, int] = {}
    level = set(modules)
    while level:
        distances |= dict.fromkeys(level, max(distances.values(), default=-1) + 1)
        level = {name for module in level for name in importers.get(module, ())} - distances.keys()
    return distances


def _tests_named(changed: str, tests: Mapping[str, str]) -> Iterator[str]:
    """Tests of a file that no test imports: those below a conftest.py, those that name a page or a script, or read all pages."""
    path = PurePosixPath(changed)
    if path.name == "conftest.py":
        yield from (name for name in tests if path.parent in PurePosixPath(name).parents)
    elif module_name(changed) is None and changed not in tests:
        yield from (name for name, text in tests.items() if path.name in text or _reads_pages(text, path))


def _reads_pages(text: str, changed: PurePosixPath) -> bool:
    """Say if `changed` is a page, and a test of this text looks at all pages."""
    return changed.suffix == ".md" and '"docs"' in text


def _mirror(file: str) -> PurePosixPath | None:
    """The file of unit tests that has the name of a module."""
    name = PurePosixPath(UNIT, file.removeprefix("plugins/").removeprefix("hoodie/"))
    return name.with_name(f"test_{name.name}") if module_name(file) else None


def _is_test(name: str) -> bool:
    return name.startswith("tests/") and PurePosixPath(name).match("test_*.py")


def unit_tests() -> dict[str, str]:
    """The text of each test file, by its path from the root of the project."""
    return {str(file.relative_to(ROOT)): file.read_text() for file in (ROOT / UNIT).rglob("test_*.py")}


def _digest(name: str) -> str:
    """An order that looks random, and is the same on each machine."""
    return hashlib.sha256(name.encode()).hexdigest()


def _git(folder: Path, *arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotePath=off", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def _pytest(processes: Processes, files: Collection[str], *arguments: str) -> int:
    if not files:
        return 0
    command = [sys.executable, "-m", "pytest", *SIDE_BY_SIDE, "--hypothesis-profile", "quick", *arguments, *files]
    code = processes.run(command)
    return 0 if code == _NO_TESTS else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
