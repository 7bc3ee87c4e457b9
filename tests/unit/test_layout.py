"""Test files mirror the source, or are listed in a table. They have at most 400 lines."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.runner.quick import importers, module_name
from tests.support.faults import assert_no_faults

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
TABLE = "tests/mirror.toml"
LINES = 400  # of a test file
STEPS = 6  # of imports from a test file to a module that it tests
LOGIC = 40  # lines of code that a module has at least to need a test file
SOURCES = ("plugins/hoodie", "plugins/hoodie_airflow", "hudi_services")
DEMO = "hudi_services/demo/"  # a program that tests/e2e runs as a whole


def unmirrored() -> Iterator[str]:
    """Modules with logic whose name no test file has."""
    for source in SOURCES:
        for file in sorted((ROOT / source).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            mirror = TESTS / "unit" / name.removeprefix("plugins/").removeprefix("hoodie/")
            if file.name.startswith("__") or name.startswith(DEMO) or mirror.with_name(f"test_{file.name}").exists():
                continue
            if code_lines(file) >= LOGIC:
                yield str(module_name(name))


def code_lines(file: Path) -> int:
    lines = (line.strip() for line in file.read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith("#"))


def rows() -> dict[str, dict]:
    return tomllib.loads((ROOT / TABLE).read_text())


def files_of(row: dict) -> dict[str, str]:
    """The test files of a row, with their texts. A folder brings its own files."""
    places = [TESTS / name for name in row["tests"]]
    files = [file for place in places for file in (place.glob("test_*.py") if place.is_dir() else [place])]
    return {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}


def test_each_module_with_logic_has_its_test_file_or_is_counted_in_the_table() -> None:
    """A number of the table may be too high after a module got its test file. It must not grow."""
    allowed = {package: row["modules"] for package, row in rows().items()}
    modules = list(unmirrored())
    counted = Counter(package_of(module) for module in modules)
    assert_no_faults(
        f"{package}: {counted[package]} modules have no test file of their name, {TABLE} allows {allowed.get(package, 0)}: "
        f"{', '.join(module for module in modules if package_of(module) == package)}"
        for package in sorted(counted)
        if counted[package] > allowed.get(package, 0)
    )
    assert_no_faults(
        f"{package}: {TABLE} needs this row no longer" for package in sorted(allowed.keys() - counted.keys())
    )


def test_the_tests_of_the_table_exist_and_import_their_modules() -> None:
    assert_no_faults(f"{package}: no {name}" for package, name in listed_tests() if not (TESTS / name).exists())
    assert_no_faults(untrue_rows())


def listed_tests() -> Iterator[tuple[str, str]]:
    for package, row in rows().items():
        yield from ((package, name) for name in row["tests"])


def untrue_rows() -> Iterator[str]:
    reached, modules = imported(), list(unmirrored())
    for package, row in rows().items():
        of_row = {name: reached(name) for name in files_of(row)}
        own = {module for module in modules if package_of(module) == package}
        for module in sorted(own.difference(*of_row.values())):
            yield f"{module}: imported by none of {', '.join(row['tests'])}"
        for name in row["tests"]:
            if not any(own & names for test, names in of_row.items() if test.startswith(f"tests/{name}")):
                yield f"{package}: {name} imports none of its modules"


def imported():
    """-> a function from a test file to the modules that it imports, itself or through a few others."""
    texts = {name: text for row in rows().values() for name, text in files_of(row).items()}
    imports: dict[str, set[str]] = {}
    for module, names in importers(texts).items():
        for name in names:
            imports.setdefault(name, set()).add(module)

    @cache
    def reached(name: str) -> set[str]:
        found: set[str] = set()
        todo = {name}
        for _ in range(STEPS):
            todo = {module for importer in todo for module in imports.get(importer, ())} - found
            found |= todo
        return found

    return reached


def package_of(module: str) -> str:
    return module.rpartition(".")[0]


def test_no_test_file_is_too_long() -> None:
    lines = {file: len(file.read_text().splitlines()) for file in TESTS.rglob("*.py")}
    assert_no_faults(
        f"{file.relative_to(TESTS)} has {count} lines: split it by subject, at most {LINES} are allowed"
        for file, count in sorted(lines.items())
        if count > LINES
    )
