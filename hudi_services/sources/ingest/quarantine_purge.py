"""Erases the bad rows of a person from a quarantine: a file with some of them is written again without them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from hoodie.cache import cached_property
from hoodie.read.filters.text import parse_condition
from hoodie.storage import open_storage, walk_files

_ENDING = ".jsonl"


@dataclass(frozen=True)
class BadRowPurge:
    """The bad rows in `folder` that have one of the `values` in one of the `columns`, or in a text that is not a row, and those
    that the `condition` of SQL is true for, as far as equal texts show it.

    `mark` is part of the names of files that are written again.
    """

    folder: str
    columns: frozenset[str]
    values: frozenset[str]
    mark: str
    condition: str = ""

    @cached_property
    def _tree(self) -> exp.Expression | None:
        return parse_condition(self.condition) if self.condition else None

    def count(self) -> int:
        """The rows that `erase` would remove. Changes nothing."""
        return sum(len(lines) - len(remaining) for _, lines, remaining in self._files())

    def erase(self) -> int:
        """Remove the rows, and return how many there were. Safe to kill: a new file is there before the old one goes."""
        storage, count = open_storage(self.folder), 0
        for path, lines, remaining in self._files():
            if remaining:
                text = "".join(f"{line}\n" for line in remaining)
                with suppress(FileExistsError):  # a run that was killed has made it
                    storage.create(f"{path.removesuffix(_ENDING)}-{self.mark}{_ENDING}", text.encode())
            storage.delete(path)
            count += len(lines) - len(remaining)
        return count

    def _files(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Each file with rows to remove: its path, its lines, and those that stay."""
        storage = open_storage(self.folder)
        for file in list(walk_files(storage, "")):
            if not file.name.endswith(_ENDING):
                continue
            lines = storage.read(file.path).decode(errors="replace").splitlines()
            remaining = [line for line in lines if not self._matches(line)]
            if len(remaining) < len(lines):
                yield file.path, lines, remaining

    def _matches(self, line: str) -> bool:
        try:
            entry = json.loads(line)
        except ValueError:
            return self._in_text(line)
        row: Any = entry.get("row") if isinstance(entry, dict) else None
        if not isinstance(row, dict):
            return self._in_text(line)
        texts = {name.lower(): str(value) for name, value in row.items()}
        if any(texts.get(name.lower()) in self.values for name in self.columns):
            return True
        return _truth(self._tree, lambda name, text: texts.get(name.lower()) == text) is True

    def _in_text(self, text: str) -> bool:
        if any(_has(text, value) for value in self.values):
            return True
        return _truth(self._tree, lambda _name, value: _has(text, value)) is True


def _has(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _truth(tree: exp.Expression | None, equal: Callable[[str, str], bool]) -> bool | None:
    """The truth of a condition, where `equal` compares a column with a text; None: texts do not show it.

    The parts of an `and` that texts do not show count as true beside one that is.
    """
    match tree:
        case exp.Paren():
            return _truth(tree.this, equal)
        case exp.And():
            both = [_truth(tree.this, equal), _truth(tree.expression, equal)]
            return False if False in both else True if True in both else None
        case exp.Or():
            both = [_truth(tree.this, equal), _truth(tree.expression, equal)]
            return True if True in both else None if None in both else False
        case exp.EQ():
            sides = [tree.this, tree.expression]
            return _is_one_of(sides, [side for side in sides if isinstance(side, exp.Literal)], equal)
        case exp.In():
            return _is_one_of([tree.this], [text for text in tree.expressions if isinstance(text, exp.Literal)], equal)
    return None


def _is_one_of(
    sides: Sequence[exp.Expression], literals: Sequence[exp.Expression], equal: Callable[[str, str], bool]
) -> bool | None:
    column = next((side for side in sides if isinstance(side, exp.Column)), None)
    if column is None or not literals:
        return None
    return any(equal(column.name, str(literal.this)) for literal in literals)
