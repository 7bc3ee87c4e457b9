"""The counts of today, by file and rule, which may only fall."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

BASELINE = Path(__file__).with_name("baseline.toml")
_HEAD = "# Findings of `python -m tests.plain_english`, by file and rule. They may only fall: `--update` writes this file.\n"

Counts = Counter[tuple[str, str]]  # of a path and a rule


def read(path: Path = BASELINE) -> Counts:
    """The counts that are allowed."""
    tables = tomllib.loads(path.read_text())
    return Counter({(name, rule): count for name, rules in tables.items() for rule, count in rules.items()})


def write(counts: Counts, path: Path = BASELINE) -> None:
    """Write the counts, sorted, one line a file."""
    lines = [_HEAD]
    for name in sorted({name for name, _ in counts}):
        rules = ", ".join(
            f"{rule} = {count}" for (file, rule), count in sorted(counts.items()) if file == name and count
        )
        if rules:
            lines.append(f'"{name}" = {{ {rules} }}\n')
    path.write_text("".join(lines))


def risen(found: Counts, allowed: Counts) -> Counts:
    """By how much the counts of files are above those that are allowed."""
    return found - allowed


def totals(counts: Counts) -> Counter[str]:
    """The counts by rule alone."""
    result = Counter[str]()
    for (_, rule), count in counts.items():
        result[rule] += count
    return result
