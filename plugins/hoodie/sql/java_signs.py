"""Regular expressions of Java, as Spark reads them, in the signs of RE2, which DuckDB uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sqlglot.errors import UnsupportedError

LINE_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
"""The ends of lines for Java, in a class of characters. RE2 knows `\\n` alone."""
_ANY = f"[^{LINE_ENDS}]"
_END = rf"(?:\r\n|[{LINE_ENDS}])?\z"
_LAST_LINE, _OTHER_LINES = rf"[{LINE_ENDS}]\z", r"[\r\x{85}\x{2028}\x{2029}]"
_SPACES, _VERTICAL = r"\s\x0b", rf"\x0b\f{LINE_ENDS}"
_FLAGS = re.compile(r"\(\?([A-Za-z]*)(?:-([A-Za-z]*))?([:)])")
_LONG = re.compile(r"\\[pPx]\{[^}]*\}|\\Q.*?(?:\\E|$)", re.DOTALL)
_TIMES = re.compile(r"\{\d+(?:,\d*)?\}")


class Re2Pattern(NamedTuple):
    """A pattern in RE2's signs."""

    text: str
    unlike: str | None
    """A pattern of the texts that RE2 reads in another way; None: it reads all as Java does."""


def re2_pattern(source: str, *, finds: bool) -> Re2Pattern:
    """A pattern of Java in RE2's signs. With `finds` it is only asked whether a text has a match, not where.

    Raises UnsupportedError for signs that RE2 reads in another way.
    """
    signs = _Signs(source, finds)
    return Re2Pattern("".join(signs), "|".join(sorted(signs.unlike)) or None)


class _Signs:
    """The signs of a pattern, one after the other, in RE2's way."""

    def __init__(self, source: str, finds: bool) -> None:
        self.source, self.finds, self.unlike = source, finds, set[str]()
        self._flags = [frozenset[str]()]  # those of each group that is open

    def __iter__(self) -> Iterator[str]:
        place = 0
        while place < len(self.source):
            part, place = self._next(place)
            yield part

    def _next(self, place: int) -> tuple[str, int]:
        """The sign at a place in RE2's way, and the place behind it."""
        sign = self.source[place]
        if sign == "\\":
            return self._escaped(place)
        if sign == "[":
            return self._class(place)
        if sign == "(":
            return self._group(place)
        if sign == ")" and len(self._flags) > 1:
            self._flags.pop()
        elif sign == "{":
            times = _TIMES.match(self.source, place)
            if times is None:
                raise UnsupportedError(f"{{ in {self.source!r} without a number behind it: write \\{{ for the sign")
            return times.group(), times.end()
        elif sign == "." and "s" not in self._flags[-1]:
            return _ANY, place + 1
        elif sign in "^$" and "m" in self._flags[-1]:
            self.unlike.add(_OTHER_LINES)
        elif sign == "$":
            return self._end(place), place + 1
        self._refuse_letter(sign)
        return sign, place + 1

    def _end(self, place: int) -> str:
        if self.source[place + 1 : place + 2] not in ("", ")", "|"):
            raise UnsupportedError(f"$ in {self.source!r} before other signs: write \\$ for the sign")
        if self.finds:
            return _END
        self.unlike.add(_LAST_LINE)
        return "$"

    def _group(self, place: int) -> tuple[str, int]:
        flags = _FLAGS.match(self.source, place)
        if flags is None:
            self._flags.append(self._flags[-1])
            return "(", place + 1
        on, off, close = flags[1], flags[2] or "", flags[3]
        if "U" in on + off:
            raise UnsupportedError(f"(?U) in {self.source!r}: Java and RE2 mean different things by it")
        now = (self._flags[-1] | frozenset(on)) - frozenset(off)
        if close == ":":
            self._flags.append(now)
        else:
            self._flags[-1] = now
        return flags.group(), flags.end()

    def _escaped(self, place: int) -> tuple[str, int]:
        long, sign = _LONG.match(self.source, place), self.source[place + 1 : place + 2]
        if sign == "C" or (sign in ("p", "P") and "i" in self._flags[-1]):
            raise UnsupportedError(f"\\{sign} in {self.source!r}: Java and RE2 do not match the same characters")
        if long is not None:
            self._refuse_letter(long.group())
            return long.group(), long.end()
        classes = {"s": f"[{_SPACES}]", "S": f"[^{_SPACES}]", "v": f"[{_VERTICAL}]"}
        return classes.get(sign, f"\\{sign}"), place + 2

    def _class(self, place: int) -> tuple[str, int]:
        begin = re.compile(r"\[\^?\]?").match(self.source, place)
        assert begin is not None
        parts, place = [begin.group()], begin.end()
        while place < len(self.source) and self.source[place] != "]":
            sign = self.source[place]
            if sign == "\\":
                part, place = self._escaped(place)
                if part.startswith(("[^", "\\Q")):
                    raise UnsupportedError(f"{part[:2]} within [ ] in {self.source!r}: write the characters")
                parts.append(part.strip("[]") if part.startswith("[") else part)
            else:
                self._refuse_letter(sign)
                parts.append(sign)
                place += 1
        return "".join([*parts, self.source[place : place + 1]]), place + 1

    def _refuse_letter(self, text: str) -> None:
        """RE2 takes the large form of each letter for the same with `(?i)`, Java those of ASCII."""
        if "i" in self._flags[-1] and not text.isascii():
            raise UnsupportedError(f"(?i) before {text} in {self.source!r}: name its large and small form, as [Ää]")
