"""Formats in which the texts of a column may be times."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from hudi_services.entry.feed.times import ISO, Times
from hudi_services.sources.ingest.shape.duck import Duck
from hudi_services.sources.ingest.shape.moments import TimesFit

_DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y")
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p")

_MOST_FORMATS = 3


def fitting_formats(values: pa.Array, duck: Duck) -> list[str]:
    """The formats that all values have, of a text column without nulls."""
    if not len(values):
        return []
    return [text for text in _formats(values[0].as_py()) if not TimesFit(Times((text,)), duck)(values).misfits]


def mixed_formats(values: pa.Array, duck: Duck) -> list[str]:
    """Several formats of which each text of a column has one, if there are at most three; otherwise none."""
    chosen: list[str] = []
    while len(values) and len(chosen) < _MOST_FORMATS:
        misfits = {text: TimesFit(Times((text,)), duck)(values).misfits for text in (*_formats(values[0].as_py()), ISO)}
        text = min(misfits, key=lambda text: len(misfits[text]))
        if 0 in misfits[text]:
            return []
        chosen.append(text)
        values = values.take(pa.array(sorted(misfits[text]), pa.int64()))
    return chosen if len(chosen) > 1 and not len(values) else []


def _formats(value: str) -> Iterator[str]:
    """The formats in which a text of such a form may be a time."""
    for day in _DATES:
        for clock in _CLOCKS:
            text = day + clock
            form = re.escape(text)
            for directive in set(re.findall(r"%[A-Za-z]", text)):
                digits = {"%Y": r"\d{4}", "%f": r"\d{1,6}", "%p": "[AaPp][Mm]"}.get(directive, r"\d{1,2}")
                form = form.replace(re.escape(directive), digits)
            if re.fullmatch(form, value.strip()):
                yield text
