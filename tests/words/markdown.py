"""Prose of Markdown: paragraphs, list items, headings and cells, without code, addresses and generated parts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.words.prose import Passage, Place, blank, mask

_UNREAD = re.compile(
    r"^(?P<fence>[ ]*(?:```+|~~~+))[^\n]*\n.*?(?:^(?P=fence)[ ]*$|\Z)"  # a code block
    r"|<!-- make (?:.*?)-->.*?<!-- end -->"  # a generated part
    r"|<!--.*?-->|</?[a-zA-Z][^>\n]*>",
    re.DOTALL | re.MULTILINE,
)
_CODE = re.compile(r"(?P<ticks>`+)(?:(?!\n\s*\n).)+?(?P=ticks)", re.DOTALL)
_MARKUP = re.compile(r"\]\([^)\s]*\)|\]\[[^\]]*\]|https?://\S+|^\[[^\]]+\]:.*$|[*\[\]!~]", re.MULTILINE)
_BLOCK_START = re.compile(r"\s*(?:[-*+]|\d+\.|#+|>)\s+|\s*\|")
_LABEL = re.compile(r"\s*(?:#|\|)")


def passages(source: str) -> Iterator[Passage]:
    """The passages of a page."""
    text = mask(_CODE, _UNREAD.sub(lambda match: blank(match[0]), source))
    text = _MARKUP.sub(lambda match: "]" + blank(match[0][1:]) if match[0][0] == "[" else blank(match[0]), text)
    for start, block in _blocks(text):
        if block.lstrip().startswith("|"):
            yield from _cells(start, block)
        else:
            marker = _BLOCK_START.match(block)
            words = blank(block[: marker.end()]) + block[marker.end() :] if marker else block
            yield Passage(Place.DOCS, start, words, label=bool(_LABEL.match(block)))


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each paragraph, item, heading and row of a table."""
    start, lines = 0, list[str]()
    offset = 0
    for line in text.splitlines(keepends=True):
        if not line.strip() or _BLOCK_START.match(line):
            if lines:
                yield start, "".join(lines)
            lines = []
        if line.strip():
            start = start if lines else offset
            lines.append(line)
        offset += len(line)
    if lines:
        yield start, "".join(lines)


def _cells(start: int, row: str) -> Iterator[Passage]:
    for match in re.finditer(r"[^|\n]+", row):
        if match[0].strip(" -:"):
            yield Passage(Place.DOCS, start + match.start(), match[0], label=True)
