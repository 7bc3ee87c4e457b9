"""Pattern letters of Joda-Time: `yyyy-MM-dd'T'HH:mm:ss.SSSZ` as a list of elements."""

from __future__ import annotations

from dataclasses import dataclass

# letter -> field, most digits that are read
_NUMBERS = {
    "d": ("day_of_month", 2),
    "h": ("clockhour_of_halfday", 2),
    "H": ("hour_of_day", 2),
    "k": ("clockhour_of_day", 2),
    "K": ("hour_of_halfday", 2),
    "m": ("minute", 2),
    "s": ("second", 2),
    "e": ("day_of_week", 1),
    "D": ("day_of_year", 3),
    "w": ("week", 2),
}
_YEARS = {"y": "year", "Y": "year_of_era", "x": "weekyear"}
_LONGEST_YEAR = 9


class PatternError(ValueError):
    """A pattern that Joda-Time refuses, or whose texts depend on the Java that prints them."""


@dataclass(frozen=True, slots=True)
class Literal:
    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number, padded with zeros to `least` digits; at most `most` digits are read."""

    field: str
    least: int
    most: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class TwoDigitYear:
    """The last two digits of a year. Read in the hundred years around now; `lenient` reads years of other lengths too."""

    field: str
    lenient: bool


@dataclass(frozen=True, slots=True)
class Fraction:
    """Digits of the second's fraction."""

    digits: int


@dataclass(frozen=True, slots=True)
class Name:
    """A name in English: of a month, a day of the week, a half of the day or an era."""

    field: str
    short: bool


@dataclass(frozen=True, slots=True)
class Offset:
    """The distance from UTC: `+0800`, or `+08:00` with a separator."""

    separator: str


Element = Literal | Number | TwoDigitYear | Fraction | Name | Offset


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern. `text` is what it was made of."""

    text: str
    elements: tuple[Element, ...]

    @property
    def shows_offset(self) -> bool:
        return any(isinstance(element, Offset) for element in self.elements)

    def check_readable(self) -> None:
        """Raises PatternError when texts cannot be parsed by it here."""
        for element in self.elements:
            if getattr(element, "field", "") in ("era", "century_of_era"):
                raise PatternError(f"{self.text!r} reads eras or centuries, which is not supported")


def compile_pattern(text: str) -> Pattern:
    """The elements of a pattern. Raises PatternError."""
    if not text:
        raise PatternError("an empty date pattern")
    tokens = _tokens(text)
    elements: list[Element] = []
    for position, token in enumerate(tokens):
        if isinstance(token, Literal):
            if token.text:
                elements.append(token)
        else:
            before_digits = position + 1 < len(tokens) and _is_numeric(tokens[position + 1])
            elements.append(_element(token, before_digits, text))
    return Pattern(text, tuple(elements))


def _tokens(text: str) -> list[str | Literal]:
    """Runs of one letter as text, and the text between them as Literal."""
    tokens: list[str | Literal] = []
    position = 0
    while position < len(text):
        start = position
        if _is_letter(text[position]):
            while position < len(text) and text[position] == text[start]:
                position += 1
            tokens.append(text[start:position])
        else:
            literal, position = _literal(text, position)
            tokens.append(Literal(literal))
    return tokens


def _literal(text: str, position: int) -> tuple[str, int]:
    literal, quoted = "", False
    while position < len(text):
        char = text[position]
        if char == "'":
            if text[position + 1 : position + 2] == "'":
                literal += "'"
                position += 1
            else:
                quoted = not quoted
        elif not quoted and _is_letter(char):
            break
        else:
            literal += char
        position += 1
    return literal, position


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _is_numeric(token: str | Literal) -> bool:
    if isinstance(token, Literal):
        return False
    return token[0] in "cCxyYdhHmsSeDFwWkK" or (token[0] == "M" and len(token) <= 2)


def _element(token: str, before_digits: bool, pattern: str) -> Element:
    letter, length = token[0], len(token)
    if letter in _NUMBERS:
        field, most = _NUMBERS[letter]
        return Number(field, length, max(most, length))
    if letter in _YEARS:
        field = _YEARS[letter]
        if length == 2:
            return TwoDigitYear("weekyear" if letter == "x" else "year", lenient=not before_digits)
        most = length if before_digits else max(_LONGEST_YEAR, length)
        return Number(field, length, most, signed=letter != "Y")
    if letter == "M":
        return Number("month", length, 2) if length < 3 else Name("month", short=length == 3)
    if letter == "E":
        return Name("day_of_week", short=length < 4)
    if letter == "a":
        return Name("halfday", short=False)
    if letter == "G":
        return Name("era", short=False)
    if letter == "C":
        return Number("century_of_era", length, length, signed=True)
    if letter == "S":
        return Fraction(length)
    if letter == "Z" and length < 3:
        return Offset("" if length == 1 else ":")
    if letter in "Zz":
        raise PatternError(f"{pattern!r} has {token}: names of zones depend on the Java that prints them")
    raise PatternError(f"{pattern!r} has the letter {letter}, which Joda-Time does not know")
