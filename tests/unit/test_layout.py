"""Test files have at most 400 lines."""

from __future__ import annotations

from pathlib import Path

from tests.support.faults import assert_no_faults

TESTS = Path(__file__).resolve().parents[1]
LINES = 400


def test_no_test_file_is_too_long() -> None:
    lines = {file: len(file.read_text().splitlines()) for file in TESTS.rglob("*.py")}
    assert_no_faults(
        f"{file.relative_to(TESTS)} has {count} lines: split it by subject, at most {LINES} are allowed"
        for file, count in sorted(lines.items())
        if count > LINES
    )
