"""Names of many tables in few characters: those that differ in a number only, such as shards, are ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

_NUMBERED = re.compile(r"(?P<prefix>.*[^0-9]|)(?P<number>0|[1-9][0-9]*)", re.DOTALL)
_FEWEST = 3  # names in a range


def name_ranges(names: Iterable[str]) -> dict[str, list[Any]]:
    """Return names such as `shop.orders7` as JSON holds them: by database a list of names and of ranges, which are lists of
    what comes before the number, the first number and the last one."""
    by_database: dict[str, list[str]] = {}
    for name in sorted(names):
        database, _, table = name.partition(".")
        by_database.setdefault(database, []).append(table)
    return {database: _ranges(tables) for database, tables in by_database.items()}


def names_of(ranges: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield the names that `name_ranges` took. Raises ValueError or TypeError for anything else."""
    for database, tables in ranges.items():
        for table in tables:
            if isinstance(table, str):
                yield f"{database}.{table}"
            else:
                prefix, first, last = table
                yield from (f"{database}.{prefix}{number}" for number in range(first, last + 1))


def _ranges(names: Sequence[str]) -> list[Any]:
    plain: list[str] = []
    numbers: dict[str, list[int]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            plain.append(name)
        else:
            numbers.setdefault(match["prefix"], []).append(int(match["number"]))
    result: list[Any] = list(plain)
    for prefix, values in numbers.items():
        for _, run in groupby(enumerate(sorted(values)), key=lambda place: place[1] - place[0]):
            members = [number for _, number in run]
            if len(members) < _FEWEST:
                result += [f"{prefix}{number}" for number in members]
            else:
                result.append([prefix, members[0], members[-1]])
    return result
