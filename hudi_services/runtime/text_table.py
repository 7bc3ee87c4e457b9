"""Rows of text as lines of a table that fits a width: less important columns are left out, or each row goes down the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_GAP = "  "
_PROSE = 24  # cells of a column that wraps, at least
_LEAST = 10  # cells that are left for a value beside a long name


@dataclass(frozen=True)
class TextColumn:
    """A column of texts. The first column and those of rank 0 always stay. The highest rank is left out first, of
    equal ranks the rightmost.

    `wraps`: its texts are sentences, which may take several lines of a row.
    """

    header: str
    right: bool = False
    rank: int = 1
    wraps: bool = False


@dataclass(frozen=True)
class Line:
    """One line of output, and its style on a terminal, as rich names styles. The first `dim` characters are dim."""

    text: str
    style: str = ""
    dim: int = 0


def table_lines(
    columns: Sequence[TextColumn],
    rows: Sequence[Sequence[str]],
    width: int | None,
    hint: str = " (--wide shows all)",
) -> Iterator[Line]:
    """The lines of a table within `width` cells, without a limit for None. Names of columns that are left out follow, with the
    `hint` how to see them.

    If even the columns that stay are too wide, each row goes down the page, a line a value. The texts of a single column, such as
    a plan, go on in lines below. Texts are of one line and without control codes. A wide character, as of Chinese, counts two
    cells.
    """
    natural = [
        max(map(_cells, (column.header, *texts))) for column, texts in zip(columns, _turned(columns, rows), strict=True)
    ]
    widths = _fitting(columns, rows, natural, width)
    if widths is None and len(columns) == 1:
        yield from text_lines(columns[0].header, width, "bold")
        for (text,) in rows:
            yield from text_lines(text, width)
        return
    if widths is None:
        yield from vertical_lines([column.header for column in columns], rows, width)
        return
    yield _line(columns, [column.header for column in columns], widths, "bold")
    for row in rows:
        yield from _row_lines(columns, row, widths)
    if omitted := [column.header for place, column in enumerate(columns) if place not in widths]:
        yield from text_lines(f"left out: {', '.join(omitted)}{hint}", width, "dim")


def vertical_lines(names: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[Line]:
    """Each row down the page, a name and its value a line, below a line with the number of the row."""
    for number, row in enumerate(rows, 1):
        yield Line(f"── {number} ──", "bold")
        yield from fact_lines(list(zip(names, row, strict=True)), width)


def fact_lines(facts: Sequence[tuple[str, str]], width: int | None) -> Iterator[Line]:
    """Names in a column and what holds for them beside it, in as many lines as it takes."""
    names = max((_cells(name) for name, _ in facts), default=0)
    if width is not None:
        names = min(names, max(_LEAST, width - len(_GAP) - _LEAST))
    for name, value in facts:
        room = None if width is None else width - names - len(_GAP)
        sides = wrapped(name, None if width is None else names), wrapped(value, room)
        for place in range(max(map(len, sides))):
            left, right = (side[place] if place < len(side) else "" for side in sides)
            yield Line(f"{_padded(left, names)}{_GAP}{right}".rstrip(), dim=len(left))


def text_lines(text: str, width: int | None, style: str = "") -> Iterator[Line]:
    """The lines of a text, with what does not fit on lines of their own below, indented."""
    for line in text.split("\n"):
        first, *more = wrapped(line, width)
        yield Line(first, style)
        if more and width is not None:
            rest = line[len(first) :].lstrip(" ")
            yield from (Line(f"{_GAP}{part}", style) for part in wrapped(rest, width - len(_GAP)))


def wrapped(text: str, width: int | None) -> list[str]:
    """The text in lines of at most `width` cells, broken at blanks where there are some."""
    if width is None or _cells(text) <= width:
        return [text]
    lines: list[str] = []
    line: str | None = None
    for word in text.split(" "):
        longer = word if line is None else f"{line} {word}"
        if _cells(longer) <= width:
            line = longer
            continue
        if line is not None:
            lines.append(line)
        *full_lines, line = _chopped(word, width) or [""]
        lines += full_lines
    return [*lines, line or ""]


def _turned(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    return list(zip(*rows, strict=True)) if rows else [() for _ in columns]


def _fitting(
    columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], natural: Sequence[int], width: int | None
) -> dict[int, int] | None:
    """The columns that stay, by place, and their widths in cells; None where those that must stay do not fit."""
    places = list(range(len(columns)))
    empty = {place for place in places if not any(row[place] for row in rows)}
    while width is not None:
        least = {place: min(natural[place], _PROSE) if columns[place].wraps else natural[place] for place in places}
        spare = width - sum(least.values()) - len(_GAP) * (len(places) - 1)
        if spare >= 0:
            return _with_spare(least, natural, spare)
        may_go = [place for place in places if place and columns[place].rank]
        if not may_go:
            return None
        places.remove(max(may_go, key=lambda place: (place in empty, columns[place].rank, place)))
    return {place: natural[place] for place in places}


def _with_spare(least: dict[int, int], natural: Sequence[int], spare: int) -> dict[int, int]:
    """The widths with the spare cells shared out to columns that wrap, from the left."""
    widths = {}
    for place, cells in least.items():
        more = min(spare, natural[place] - cells)
        widths[place], spare = cells + more, spare - more
    return widths


def _row_lines(columns: Sequence[TextColumn], row: Sequence[str], widths: dict[int, int]) -> Iterator[Line]:
    cells = {place: wrapped(row[place], width) for place, width in widths.items()}
    for number in range(max(map(len, cells.values()))):
        parts = [
            cells[place][number] if place in cells and number < len(cells[place]) else "" for place in range(len(row))
        ]
        yield _line(columns, parts, widths)


def _line(columns: Sequence[TextColumn], texts: Sequence[str], widths: dict[int, int], style: str = "") -> Line:
    cells = (_padded(texts[place], width, right=columns[place].right) for place, width in widths.items())
    return Line(_GAP.join(cells).rstrip(), style)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    blanks = " " * (width - _cells(text))
    return f"{blanks}{text}" if right else f"{text}{blanks}"


def _cells(text: str) -> int:
    """The cells of a terminal that a text takes. Rich loads with the first table: help and completion need none."""
    from rich.cells import cell_len

    return cell_len(text)


def _chopped(text: str, width: int) -> list[str]:
    """The text in pieces of at most `width` cells."""
    from rich.cells import chop_cells

    return chop_cells(text, width)
