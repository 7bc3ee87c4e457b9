"""The page of complaints about change data: each row names tests that exist, or says why there is none."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.faults import assert_no_faults

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "change-data-cases.md"
DAMAGE = PAGE.with_name("table-damage-cases.md")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_TESTS = re.compile(rf"{_TEST.pattern}(, {_TEST.pattern})*")
_NO_TEST = "no test: "


@cache
def named_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def cases() -> list[list[str]]:
    """The cells of all rows below the heads of the tables."""
    rows = [line.strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in row] for row in rows if row[0].strip("- ") not in ("", "reported for")]


def test_each_case_names_its_tests_or_says_why_there_is_none() -> None:
    found = cases()
    assert len(found) > 50
    wrong = [row for row in found if len(row) != 4 or not (_TESTS.fullmatch(row[3]) or row[3].startswith(_NO_TEST))]
    assert_no_faults(" | ".join(row) for row in wrong)


def test_each_named_test_exists() -> None:
    named = sorted({test for page in (PAGE, DAMAGE) for test in _TEST.findall(page.read_text(encoding="utf-8"))})
    assert_no_faults(
        f"{file}::{name}" for file, name in named if not (ROOT / file).is_file() or name not in named_in(file)
    )
