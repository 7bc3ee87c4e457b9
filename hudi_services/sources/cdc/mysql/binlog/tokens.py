"""Statements of the log as tokens: names, texts, words and marks, without comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

ANSI_QUOTES, NO_BACKSLASH_ESCAPES = 1 << 2, 1 << 20
"""Bits of sql_mode that change how a statement is read."""
_SPACE = r"(?P<space>\s+|/\*(?!M?!).*?\*/|/\*M?!\d*|\*/|--(?=\s|\Z)[^\n]*|\#[^\n]*)"
_WORD = r"(?P<word>[\w$\u0080-\U0010ffff]+)|(?P<mark>.)"

Token = tuple[str, str]
"""Its kind (name, text, word, mark), and its value. The value of a name is without quotes."""


def tokens(text: str, mode: int = 0) -> list[Token]:
    """Return the tokens of a statement that a client with this sql_mode sent. The content of executable comments is a part of it.

    The variables before the statement (SET STATEMENT ... FOR) are left out.
    """
    result = list(_tokens(text, mode))
    if [value.upper() for _, value in result[:2]] == ["SET", "STATEMENT"]:
        ends = [place for place, (kind, value) in enumerate(result) if kind == "word" and value.upper() == "FOR"]
        return result[ends[0] + 1 :] if ends else result
    return result


def words(statement: Sequence[Token]) -> list[str]:
    """Return the words in capitals, and empty texts for other tokens."""
    return [value.upper() if kind == "word" else "" for kind, value in statement]


def _tokens(text: str, mode: int) -> Iterator[Token]:
    escaped = "" if mode & NO_BACKSLASH_ESCAPES else r"|\\."
    plain = "" if mode & NO_BACKSLASH_ESCAPES else r"\\"
    single, double = (rf"{quote}(?:[^{quote}{plain}]|{quote}{quote}{escaped})*{quote}" for quote in "'\"")
    names, texts = "`(?:[^`]|``)*`", single
    if mode & ANSI_QUOTES:
        names = rf'{names}|"(?:[^"]|"")*"'
    else:
        texts = f"{texts}|{double}"
    for match in re.finditer(rf"{_SPACE}|(?P<name>{names})|(?P<text>{texts})|{_WORD}", text, re.DOTALL):
        kind, value = str(match.lastgroup), match[0]
        if kind == "name":
            yield kind, value[1:-1].replace(value[0] * 2, value[0])
        elif kind != "space":
            yield kind, value
