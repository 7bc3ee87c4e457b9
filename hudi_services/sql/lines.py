"""Typed lines, collected into whole statements, and the words that may complete them. No terminal is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from hoodie.errors import SqlError
from hoodie.sql.parse import first_statement, tokens

_KEYWORDS = """
ADD AFTER ALTER AND AS ASC BETWEEN BY CALL CASE CAST COLUMN COLUMNS CREATE CROSS DATABASE DATABASES DELETE DESC DESCRIBE DISTINCT
DROP ELSE END EXISTS FIRST FROM FULL GROUP HAVING HISTORY IF IN INNER INSERT INTO IS JOIN LEFT LIKE LIMIT LOCATION MATCHED MERGE
NOT NULL ON OR ORDER OUTER OVERWRITE PARTITION PARTITIONED PARTITIONS RENAME RIGHT SELECT SET SHOW TABLE TABLES TBLPROPERTIES
THEN TIMESTAMP TO TRUNCATE UNION UPDATE USE USING VALUES VERSION WHEN WHERE WITH
"""
_WORD = re.compile(r"[\w.`]+")


class Lines:
    """Typed lines that have not run yet."""

    def __init__(self) -> None:
        self._typed = ""

    @property
    def is_open(self) -> bool:
        """True if a statement waits for its semicolon."""
        return bool(self._typed.strip())

    def add(self, line: str) -> Iterator[str]:
        """The statements that the line completes, each without its semicolon. Raises SqlError for what cannot be read, which is
        forgotten then."""
        self._typed += line + "\n"
        while True:
            try:
                parts = first_statement(self._typed)
            except SqlError:
                self.forget()
                raise
            if parts is None:
                break
            statement, self._typed = parts
            if statement:
                yield statement
        if not self.is_open:
            self.forget()

    def forget(self) -> None:
        """Forget what was typed, as after Ctrl-C."""
        self._typed = ""


def one_line(statement: str) -> str | None:
    """The statement on one line; None where that would be another one: a comment would swallow the rest, or a text has several
    lines."""
    if "--" in statement or any("\n" in token.text for token in tokens(statement)):
        return None
    return " ".join(statement.split("\n"))


def completions(
    before: str, word: str, tables: Callable[[], Iterable[str]], columns: Callable[[str], Iterable[str]]
) -> list[str]:
    """The possible completions of `word`: keywords, `tables`, and the `columns` of tables that `before`, the text so far,
    names."""
    names = list(tables())
    named = {keyword.lower().strip("`") for keyword in _WORD.findall(before)}
    result = [*names, *(column for name in names if name.lower() in named for column in columns(name))]
    keywords = [keyword if word[:1].isupper() else keyword.lower() for keyword in _KEYWORDS.split()]
    return sorted({keyword for keyword in (*result, *keywords) if keyword.lower().startswith(word.lower())})
