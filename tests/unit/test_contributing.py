"""Everything that CONTRIBUTING.md names is there: paths, make targets, suites, layers."""

from __future__ import annotations

import re
from configparser import ConfigParser
from pathlib import Path

from tests.runner.suites import SUITES
from tests.support.faults import assert_no_faults

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
BASES = (ROOT, ROOT / "plugins" / "hoodie")
MADE = {".venv", ".peer", ".venv/bin/python", "build/tests"}  # by make

CODE = re.findall(r"^```\w+\n(.*?)^```", TEXT, re.M | re.S)
SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", TEXT, flags=re.M | re.S))


def paths() -> set[str]:
    """Links, and all code that looks like a path: it has a slash or the ending of a file."""
    words = [word for text in (*SPANS, *CODE) for word in text.split()]
    looks = {
        word
        for word in words
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)*\.(py|md|yaml|toml|sh)|\.?\w[\w.-]*(/[\w.-]+)+", word)
    }
    links = set(re.findall(r"\]\(([^)#]+)\)", TEXT))
    return (looks | links) - MADE


def test_paths_exist() -> None:
    assert_no_faults(path for path in sorted(paths()) if not any((base / path).exists() for base in BASES))


def test_there_are_paths_to_check() -> None:
    assert {"write/plan.py", ".ci/run", "tests/support", "docs/contributing/format.md", "tests/unit/storage"} <= paths()


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"\bmake ([a-z0-9-]+)", " ".join([*SPANS, *CODE])))
    assert {"setup", "quick", "test"} <= named <= targets


def test_every_suite_is_in_the_table() -> None:
    suites = {suite.name for suite in SUITES} - {"unit"}
    assert suites <= set(re.findall(r"^\| `make ([a-z0-9-]+)`", TEXT, re.M))


def test_layers_are_those_of_the_import_rules() -> None:
    rules = ConfigParser()
    rules.read(ROOT / ".importlinter")
    wanted = rules["importlinter:contract:library"]["layers"].strip().splitlines()
    table = TEXT.partition("| layer |")[2].partition("\n\n")[0].splitlines()[2:]
    assert [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table] == [line.split(" | ") for line in wanted]


def test_a_single_test_runs_as_shown() -> None:
    for folder, chosen in re.findall(r"pytest (\S+) -k (\w+)", TEXT):
        assert any(re.search(rf"def test_\w*{chosen}", file.read_text()) for file in (ROOT / folder).glob("*.py"))


def test_every_package_of_the_platform_is_on_the_page() -> None:
    table = TEXT.partition("| package |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = {name.strip(" `"): text for _, name, text, _ in (row.split("|") for row in table)}
    here = ROOT / "hudi_services"
    packages = {file.parent.name for file in here.glob("*/__init__.py")}
    assert rows.keys() == packages
    assert not {file.name for file in here.glob("*.py") if not file.name.startswith("__")}
    for package in packages:
        within = {file.parent.name for file in (here / package).glob("*/__init__.py")}
        missing = within - set(re.findall(r"`(\w+)`", rows[package]))
        assert not missing or package == "demo", f"{package}: {missing}"


def test_names_of_the_code_table_are_in_their_files() -> None:
    rows = TEXT.partition("| what | where |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(rows) > 10
    faults = []
    for row in rows:
        spans = re.findall(r"`([^`]+)`", row.split("|")[2])
        files = [span for span in spans if span.endswith(".py") and "*" not in span]
        sources = [
            next(root / file for root in (ROOT, ROOT / "plugins/hoodie") if (root / file).exists()) for file in files
        ]
        code = " ".join(source.read_text() for source in sources)
        names = [span for span in spans if re.fullmatch(r"\w+", span) and span != "finally"]
        faults += [f"{files}: {name}" for name in names if not re.search(rf"def {name}\b", code)]
    assert_no_faults(faults)
