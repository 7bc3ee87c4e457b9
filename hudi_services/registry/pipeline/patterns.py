"""Patterns of tables in pipelines of Flink CDC: a dot parts database and table, `\\.` is any character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_LITERAL = re.compile(r"[\w$ -]+")
_SEPARATOR = re.compile(r"\\.|\.", re.DOTALL)


@dataclass(frozen=True)
class TablePattern:
    """Regular expressions over a whole name of a database and of a table, with `any_case` for names with any capitals."""

    database: str
    table: str
    any_case: bool = False

    @property
    def literal(self) -> str | None:
        """DATABASE.TABLE as it is written where the pattern has one name only, None otherwise."""
        both = (self.database, self.table)
        return ".".join(both) if all(_LITERAL.fullmatch(part) for part in both) else None

    @property
    def whole(self) -> str:
        """The regular expression over DATABASE.TABLE."""
        expression = rf"(?:{self.database})\.(?:{self.table})"
        return f"(?i:{expression})" if self.any_case else expression


def patterns_of(text: str, *, any_case: bool = False) -> tuple[TablePattern, ...]:
    """Return the patterns of a list. Raises ValueError for a text without any."""
    patterns = tuple(replace(_pattern(part), any_case=any_case) for part in _listed(text))
    if not patterns:
        raise ValueError("names no table")
    return patterns


def _listed(text: str) -> Iterator[str]:
    for part in re.split(r"(?<!\\),", text):
        if part.strip():
            yield part.strip().replace(r"\,", ",")


def _pattern(text: str) -> TablePattern:
    parts: list[str] = [""]
    end = 0
    for match in _SEPARATOR.finditer(text):
        parts[-1] += text[end : match.start()]
        end = match.end()
        if match[0] == ".":
            parts.append("")
        else:
            parts[-1] += "." if match[0] == r"\." else match[0]
    parts[-1] += text[end:]
    if len(parts) == 1 and (prefix := parts[0].removesuffix(".*")) != parts[0] and _LITERAL.fullmatch(prefix):
        parts.append(".*")  # `mydb\.*` without a dot matches DATABASE.TABLE as a whole, where the name begins so
    if len(parts) != 2:
        raise ValueError(rf"{text!r:.200} is not DATABASE.TABLE: write one dot, and `\.` for any character")
    for part in parts:
        try:
            re.compile(part)
        except re.error as error:
            raise ValueError(
                rf"{text!r:.200} is no regular expression: {error}. Any character is `\.`, as in adb.\.*"
            ) from None
        if not part:
            raise ValueError(f"{text!r:.200} is not DATABASE.TABLE: a name is missing")
    return TablePattern(parts[0], parts[1])
