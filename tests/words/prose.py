"""The prose of a file, as passages that keep the positions of their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class Place(Enum):
    """The kinds of text that a person reads."""

    DOCS = "docs"
    DOCSTRING = "docstrings"
    COMMENT = "comments"
    MESSAGE = "messages"
    SCREEN = "pages"
    COMMIT = "commits"
    NAME = "names"


@dataclass(frozen=True)
class Passage:
    """One paragraph, list item, comment or literal.

    `text` has the length of what it is cut from: markup and code are masked, so that an offset in it leads to a line.
    """

    place: Place
    start: int  # offset in the file
    text: str
    label: bool = False  # a heading or a cell of a table: words, but no sentence


@dataclass(frozen=True)
class Sentence:
    """A sentence of a passage."""

    start: int  # offset in the file
    text: str


_SENTENCE = re.compile(r"\S.*?(?:[.!?][)\"'*\]]*(?=\s+[A-Z(\[\"'])|\Z)", re.DOTALL)
_WORD = re.compile(r"\S*\w\S*")


def sentences(passage: Passage) -> Iterator[Sentence]:
    """The sentences of a passage; a label has none."""
    if not passage.label:
        for match in _SENTENCE.finditer(passage.text):
            yield Sentence(passage.start + match.start(), match[0])


def words(text: str) -> int:
    """Number of words in a text. A masked code span counts as one."""
    return len(_WORD.findall(text))


def blank(text: str) -> str:
    """Spaces in place of a text; its line breaks stay."""
    return re.sub(r"[^\n]", " ", text)


def placeholder(text: str) -> str:
    """A word in place of a code span or a computed value; its line breaks stay."""
    return re.sub(r"[^\n]", "X", text)


def mask(pattern: re.Pattern[str], text: str) -> str:
    """The text with a placeholder for each match of a pattern."""
    return pattern.sub(lambda match: placeholder(match[0]), text)
