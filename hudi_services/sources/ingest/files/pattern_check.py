"""Patterns of a source that match no file, with what is there instead."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Collection, Sequence

from hoodie.display import counted
from hoodie.storage import open_storage
from hudi_services.sources.ingest.files.listing import FORMATS, DatePattern, is_hidden, walk_source
from hudi_services.sources.ingest.files.names import Names
from hudi_services.sources.ingest.files.text import TO_CSV

DATE = "date_pattern"
"""The first word of the sentence about dates."""
_COMPARED = 1000  # paths that a pattern is compared with
WORKBOOKS = (".xlsx", ".xlsm", ".xls")
"""Endings of workbooks of Excel."""
_PACKED = (".gz", ".bz2", ".zst", ".xz")


def idle_patterns(
    folder: str,
    patterns: Sequence[str],
    file_format: str,
    left_out: Collection[str],
    date_pattern: str | None = None,
) -> list[str]:
    """A sentence for each pattern that matches no file below the folder, but for the folders `left_out` (canonical paths), and
    for the pattern of dates. None without any file. Without patterns the endings of the format count as one. The walk ends once
    each has a file.

    Raises OSError for a folder that cannot be listed.
    """
    missing = _names(patterns, file_format)
    dates = DatePattern(date_pattern) if date_pattern is not None else None
    paths: list[str] = []
    for file in walk_source(open_storage(folder), "", frozenset(left_out)):
        if is_hidden(file.name):
            continue
        paths.append(file.path)
        missing = {words: names for words, names in missing.items() if file.path not in names}
        dates = None if dates is not None and dates.find(file.path) is not None else dates
        if not missing and dates is None:
            return []
    if not paths:
        return []
    sentences = [_sentence(words, names, folder, paths) for words, names in missing.items()]
    return [*sentences, *([undated(date_pattern, folder, paths)] if dates is not None and date_pattern else [])]


def undated(date_pattern: str, folder: str, paths: Sequence[str]) -> str:
    """The sentence about a pattern of dates that no file has."""
    return (
        f"{DATE} {date_pattern!r} is in no path of {counted(len(paths), 'file')} below {folder}, such as {max(paths)}"
    )


def idle_patterns_of(paths: Sequence[str], folder: str, patterns: Sequence[str], file_format: str) -> list[str]:
    """The same of files that are listed."""
    if not paths:
        return []
    return [
        _sentence(words, names, folder, paths)
        for words, names in _names(patterns, file_format).items()
        if not any(path in names for path in paths)
    ]


def _names(patterns: Sequence[str], file_format: str) -> dict[str, Names]:
    if not patterns:
        return {f"format {file_format}": Names((), FORMATS[file_format])}
    return {f"pattern {pattern!r}": Names((pattern,)) for pattern in patterns}


def _sentence(words: str, names: Names, folder: str, paths: Sequence[str]) -> str:
    endings = Counter(map(_ending, paths))
    ending, number = endings.most_common(1)[0]
    alike = [path for path in paths if _ending(path) == ending][:_COMPARED]
    pattern = next(iter(names.patterns), "")
    (nearest,) = difflib.get_close_matches(pattern, alike, 1, 0.0)
    other = f"{pattern.removesuffix(_ending(pattern))}{ending}" if pattern else f"*{ending}"
    fits = sum(path in Names((other,)) for path in paths)
    would = f"; {other!r} would match {fits:,}" if fits else ""
    if ending.lower() in WORKBOOKS:
        would = f", a workbook of Excel; {TO_CSV} {folder}/{nearest}`"
    one = number == 1
    end = f"{'ends' if one else 'end'} in {ending}" if ending else f"{'has' if one else 'have'} no ending"
    return f"{words} matches nothing: {number:,} of {counted(len(paths), 'file')} below {folder} {end}, such as {nearest}{would}"


def _ending(path: str) -> str:
    name = path.rpartition("/")[2]
    root, last = os.path.splitext(name)
    return os.path.splitext(root)[1] + last if last in _PACKED else last
