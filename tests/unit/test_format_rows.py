"""Each row of the format notes on logs, merging, services and compatibility is held by a test that names it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ("6", "7", "11", "14")


def documented() -> list[str]:
    """Ids at the start of list items and table rows; a subsection without any (a walkthrough) is one row."""
    found: list[str] = []
    section = None
    for line in (ROOT / "docs" / "contributing" / "format.md").read_text().splitlines():
        heading = re.match(r"##+ (\d+(?:\.\d+)?)\.? ", line)
        if heading or line.startswith("## "):
            section = heading[1] if heading else None
            if section and "." in section and section.partition(".")[0] in SECTIONS:
                found.append(section)
        elif section and section.partition(".")[0] in SECTIONS:
            row = re.match(r"(?:- |\| )(\d+(?:\.\d+)?[a-z])\b", line)
            if row:
                assert re.sub("[a-z]", "", row[1]) == section, f"{row[1]} stands in section {section}"
                found.append(row[1])
    return [row for row in found if row[-1].isalpha() or not any(o.startswith(row) and o != row for o in found)]


@cache
def named() -> dict[str, list[str]]:
    """Id -> tests that are marked with it."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "pytest.mark.format" in text else ():
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.format":
                    for argument in mark.args:
                        found.setdefault(ast.literal_eval(argument), []).append(f"{path.name}::{node.name}")
    return found


def test_every_row_has_a_test() -> None:
    rows, tests = documented(), named()
    assert len(rows) == len(set(rows)) > 60
    assert sorted(set(rows) - set(tests)) == [], "rows without a test"


def test_no_test_names_an_unknown_row() -> None:
    rows, tests = set(documented()), named()
    assert {row: names for row, names in tests.items() if row not in rows} == {}
