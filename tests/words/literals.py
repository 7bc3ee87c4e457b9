"""Prose of Python and JavaScript, found by their comments and their literals, and of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.words.prose import Passage, Place, blank, mask

_PYTHON = re.compile(
    r"(?P<comment>\#[^\n]*)"
    r"|(?P<prefix>(?<!\w)[rRbBfFuU]{1,2}(?=[\"'])|)"
    r"(?:(?P<triple>\"\"\"|''')(?P<long>(?:\\.|(?!(?P=triple)).)*)(?P=triple)"
    r"|(?P<quote>[\"'])(?P<short>(?:\\.|(?!(?P=quote))[^\n])*)(?P=quote))",
    re.DOTALL,
)
_JAVASCRIPT = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<regex>(?<=[=(,:] )/(?![/*])(?:\\.|[^/\n])+/|(?<=\()/(?![/*])(?:\\.|[^/\n])+/)"
    r"|(?P<quote>[\"'`])(?P<short>(?:\\.|(?!(?P=quote)).)*)(?P=quote)",
    re.DOTALL,
)
_COMPUTED = re.compile(r"\$?\{(?:[^{}]|\{[^{}]*\})*\}")
_CODE = re.compile(r"(?P<ticks>`+)[^`]+(?P=ticks)")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_PROSE = re.compile(r"[A-Za-z]{2,}[,:;]?\s+[A-Za-z{]")
_OPEN = re.compile(r"[(\[{,=+%]\s*\Z")
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class _Piece:
    place: Place
    start: int
    end: int
    text: str  # masked, as long as what it is cut from


def python_passages(source: str) -> Iterator[Passage]:
    """Docstrings, comments and messages of a module."""
    yield from _joined(source, list(_python_pieces(source)))


def javascript_passages(source: str) -> Iterator[Passage]:
    """Comments of a script, and the text that its literals show."""
    pieces = list[_Piece]()
    for match in _JAVASCRIPT.finditer(source):
        if match["comment"]:
            pieces.append(_comment(match, r"^/[/*]+|\*/$|^\s*\*"))
        elif match["quote"]:
            pieces.append(_literal(match, Place.SCREEN, match["short"], "short", computed=match["quote"] == "`"))
    yield from _joined(source, pieces)


def html_passages(source: str) -> Iterator[Passage]:
    """Text of an HTML page."""
    for match in re.finditer(r"[^\n]+", _TAG.sub(lambda tag: blank(tag[0]), source)):
        if _PROSE.search(match[0]):
            yield Passage(Place.SCREEN, match.start(), match[0])


def _python_pieces(source: str) -> Iterator[_Piece]:
    for match in _PYTHON.finditer(source):
        if match["comment"]:
            yield _comment(match, r"^#+")
        elif "b" not in match["prefix"].lower():
            part = "long" if match["triple"] else "short"
            place = Place.DOCSTRING if match["triple"] and _is_docstring(source, match.start()) else Place.MESSAGE
            yield _literal(match, place, match[part], part, computed="f" in match["prefix"].lower())


def _is_docstring(source: str, start: int) -> bool:
    """Says that a literal with three quotes is a statement of its own: nothing before it on the line, nor an open bracket."""
    return _alone(source, start) and not _OPEN.search(source[max(0, start - 200) : start])


def _comment(match: re.Match[str], marks: str) -> _Piece:
    text = re.sub(marks, lambda mark: blank(mark[0]), match[0], flags=re.MULTILINE)
    return _Piece(Place.COMMENT, match.start(), match.end(), mask(_CODE, text))


def _literal(match: re.Match[str], place: Place, body: str, group: str, *, computed: bool) -> _Piece:
    text = mask(_COMPUTED, body) if computed else body
    text = mask(_CODE, _ESCAPE.sub(lambda escape: blank(escape[0]), text))
    head, tail = _blank_quotes(match, group)
    return _Piece(place, match.start(), match.end(), head + text + tail)


def _blank_quotes(match: re.Match[str], group: str) -> tuple[str, str]:
    """Spaces in place of the quotes before and after a literal's body."""
    return " " * (match.start(group) - match.start()), " " * (match.end() - match.end(group))


def _joined(source: str, pieces: list[_Piece]) -> Iterator[Passage]:
    """Passages of pieces: literals that Python concatenates are one, comments on lines that follow each other, too."""
    at = 0
    while at < len(pieces):
        first = pieces[at]
        text, end = first.text, first.end
        at += 1
        while at < len(pieces) and _continues(source, first, end, pieces[at]):
            text += source[end : pieces[at].start] + pieces[at].text
            end = pieces[at].end
            at += 1
        yield from _paragraphs(first, text)


def _continues(source: str, first: _Piece, end: int, piece: _Piece) -> bool:
    gap = source[end : piece.start]
    if piece.place is not first.place or first.place is Place.DOCSTRING or gap.strip():
        return False
    return first.place is not Place.COMMENT or (gap.count("\n") == 1 and _alone(source, first.start))


def _alone(source: str, start: int) -> bool:
    return not source[source.rfind("\n", 0, start) + 1 : start].strip()


def _paragraphs(piece: _Piece, text: str) -> Iterator[Passage]:
    """The paragraphs and list items of a docstring; any other text is one, where it has two words."""
    if piece.place in (Place.MESSAGE, Place.SCREEN) and not _PROSE.search(text):
        return
    for match in re.finditer(r"(?:\S(?:(?!\n\s*\n|\n\s*[-*] ).)*)", text, re.DOTALL):
        yield Passage(piece.place, piece.start + match.start(), match[0])
