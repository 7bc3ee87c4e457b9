"""Java's properties format (java.util.Properties, load and store)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE = re.compile(r"((?:[^\\=: \t\f]+|\\.?)*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)
_ENDS_KEY = re.compile(r"[\\: \t\f]")
_UNSAFE = re.compile(r"[\\:=#! \t\n\r\f]|[^\x20-\x7e]")


def parse_properties(data: bytes) -> dict[str, str]:
    """Keys and values of a properties file (ISO-8859-1 with `\\uXXXX` escapes). Raises ValueError on a broken escape."""
    result: dict[str, str] = {}
    for key, value in map(_split, _logical_lines(data.decode("latin-1"))):
        result[_unescape(key)] = _unescape(value)
    return result


def format_properties(values: Mapping[str, str], comment: str) -> bytes:
    """A properties file with a comment line and the keys in order."""
    lines = [f"#{comment}"]
    lines.extend(f"{_escape(key)}={_escape(value, leading_only=True)}" for key, value in sorted(values.items()))
    return ("\n".join(lines) + "\n").encode("ascii")


def _logical_lines(content: str) -> Iterator[str]:
    pending = ""
    for raw in re.split(r"\r\n|\n|\r", content):
        line = raw.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        trailing = len(line) - len(line.rstrip("\\"))
        if trailing % 2:
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    if pending:
        yield pending


def _split(line: str) -> tuple[str, str]:
    key, sign, value = line.partition("=")
    if sign and not _ENDS_KEY.search(key):
        return key, value.lstrip(" \t\f")
    _, key, value, _ = _LINE.split(line, 1)  # which matches all of a line
    return key, value


def _unescape(value: str) -> str:
    if "\\" not in value:
        return value
    units = re.sub(r"\\(u[0-9a-fA-F]{4}|u|.)", _replace, value)
    # Java escapes the units of UTF-16: two of them may be one character.
    return units.encode("utf-16", "surrogatepass").decode("utf-16")


def _replace(match: re.Match[str]) -> str:
    escape = match[1]
    if escape == "u":
        raise ValueError("broken \\u escape")
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _ESCAPES.get(escape, escape)


def _escape(value: str, *, leading_only: bool = False) -> str:
    def encode(match: re.Match[str]) -> str:
        char = match[0]
        if char == " " and leading_only and match.start() > 0:
            return char
        for letter, plain in _ESCAPES.items():
            if char == plain:
                return "\\" + letter
        if char.isascii() and char.isprintable():
            return "\\" + char
        units = char.encode("utf-16-be")
        return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))

    return _UNSAFE.sub(encode, value)
