"""The remedy for YAML that cannot be read: the parser's errors name a line, and no cause."""

from __future__ import annotations

import re

_KEY = re.compile(r"\s*(?:- +)?[\w.\"'-]+:(?: +\S.*)? *")
_NO_BLANK = re.compile(r"\s*(?:- +)?[A-Za-z_]\w*:[^\s/].*|\s*(?:- +)?[A-Za-z_]\w*:/(?!/).*")
_NO_BLANK_AFTER_DASH = re.compile(r"\s*-[A-Za-z_]\w*:.*")
_VALUE = re.compile(r"\s*(?:- +)?[\w.\"'-]+: +[^#\s|>&{\[].*")
_PAIR_IN_VALUE = re.compile(r"\s*(?:- +)?[\w.-]+: +[^\"'{\[#].*:(?: .*|$)")
_BRACKETS = ("did not find expected ',' or ']'", "did not find expected ',' or '}'")
_STARTS = "found character that cannot start any token"
_ENDS = "found unexpected end of stream"
_ESCAPE = "found unknown escape character"


def remedy(problem: str, text: str, line: int) -> str | None:
    """The remedy for a problem that the parser has at a line (from 1) of a text; None if the cause is not known."""
    lines = [_without_comment(raw) for raw in text.splitlines()]
    own = lines[line - 1] if line <= len(lines) else ""
    if "\t" in own[: len(own) - len(own.lstrip())]:
        return "a tab is before the text of the line: indent by spaces"
    if problem in _BRACKETS:
        return "close the bracket [ or { that is open there, or separate its values by commas"
    if problem == _STARTS:
        return f"put the value into quotes, as it begins with a sign that YAML keeps for itself: {own.strip()}"
    if problem == _ENDS:
        return "close the quote or the bracket that is open"
    if problem == _ESCAPE:
        return "put the value into single quotes, as a backslash means something in double ones"
    before = next((number for number in range(line - 1, 0, -1) if lines[number - 1].strip()), None)
    for number in filter(None, (before, line if own else None)):
        if _NO_BLANK_AFTER_DASH.fullmatch(lines[number - 1]):
            return f"write a space after the dash in line {number}"
        if _NO_BLANK.fullmatch(lines[number - 1]):
            return f"write a space after the colon in line {number}: {lines[number - 1].strip()}"
    if _PAIR_IN_VALUE.fullmatch(own):
        return "put the value into quotes, as it has a colon with a space behind it"
    return _of_indent(lines, line, before) if own.strip() and before is not None else None


def _of_indent(lines: list[str], line: int, before: int) -> str | None:
    """The remedy for a line whose indent fits no line above it."""
    own, above = _indent(lines[line - 1]), _indent_of_keys(lines[before - 1])
    spaces = f"line {line} begins after {_spaces(own)}"
    if own > above and _VALUE.fullmatch(lines[before - 1]):
        return f"{spaces}, deeper than line {before}, which has a value: use {_spaces(above)}, if it is beside it"
    if not _KEY.fullmatch(lines[line - 1]):
        return None
    levels = sorted({_indent_of_keys(earlier) for earlier in lines[: line - 1] if earlier.strip()})
    levels = (
        [level for level in levels if level] if own and any(levels) else levels
    )  # the sections of a registry have none
    if own not in levels or lines[line - 1].strip().startswith("-"):
        fitting = " or ".join(_spaces(level) for level in levels)
    else:
        fitting = _spaces(above)
    return f"{spaces}, and the keys above it after {fitting}: indent it like the keys beside it"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _indent_of_keys(line: str) -> int:
    """The indent of the keys beside those of a line, which may begin an item of a list."""
    item = re.match(r" *(?:- +)+", line)
    return len(item[0]) if item is not None else _indent(line)


def _spaces(count: int) -> str:
    return f"{count} space{'s' * (count != 1)}" if count else "no space"


def _without_comment(line: str) -> str:
    return re.sub(r"(?:^|\s)#.*$", "", line).rstrip()
