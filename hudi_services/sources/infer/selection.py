"""The files that `infer` looks at: those of a folder, or those of a pattern such as `landing/orders_*.csv`."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.errors import SourceError
from hoodie.model.place import is_local
from hoodie.storage import open_storage, walk_files
from hudi_services.sources.ingest.files.listing import FORMATS, SourceFile, list_source
from hudi_services.sources.ingest.files.names import Names
from hudi_services.sources.ingest.files.pattern_check import WORKBOOKS
from hudi_services.sources.ingest.files.text import TO_CSV

_WILD = re.compile(r"[*?\[]")
_TABBED = (".tsv", ".tab", ".tsv.gz", ".tab.gz")
TABBED = "tsv"
"""The word for CSV files with a tab between values. A feed needs a pattern for them, as `.csv` is the ending of its format."""


@dataclass(frozen=True)
class Selection:
    """The `files` of one feed in a folder, the `patterns` that a feed needs for them, and words for `others` in the folder."""

    folder: str
    file_format: str
    files: Sequence[SourceFile]
    patterns: tuple[str, ...] = ()
    others: Sequence[str] = ()
    is_tabbed: bool = False


def split_pattern(path: str) -> tuple[str, str | None]:
    """The folder of a path, and the pattern of its files where it has signs such as `*`."""
    if not _WILD.search(path) or (is_local(path) and os.path.isdir(path.removeprefix("local:").removeprefix("file:"))):
        return path, None
    steps = path.split("/")
    first = next(number for number, step in enumerate(steps) if _WILD.search(step))
    return "/".join(steps[:first]) or ("/" if path.startswith("/") else "."), "/".join(steps[first:])


def stem(pattern: str) -> str:
    """The beginning of the names of a pattern's files, such as `orders` for `orders_*.csv`. It may be empty."""
    return re.sub(r"\W+", "_", _WILD.split(pattern.rpartition("/")[2])[0], flags=re.ASCII).strip("_")


def select(folder: str, pattern: str | None, file_format: str | None) -> Selection:
    """Raises SourceError for a folder without files, a pattern without any, and a pattern with files of several formats."""
    files = list_source(folder, "csv", None, any_ending=True)
    named = Names((pattern,)) if pattern is not None else Names()
    by_word: dict[str, list[SourceFile]] = {}
    for file in files:
        if file.path in named:
            by_word.setdefault(_word(file.path), []).append(file)
    return (
        _of_folder(folder, by_word, file_format)
        if pattern is None
        else _of_pattern(folder, pattern, by_word, file_format)
    )


def _of_folder(folder: str, by_word: dict[str, list[SourceFile]], file_format: str | None) -> Selection:
    words = [file_format, *([TABBED] if file_format == "csv" else [])] if file_format else [*FORMATS, TABBED]
    word = max(words, key=lambda word: len(by_word.get(str(word), ())))
    files = by_word.get(str(word))
    if not files:
        suffixes = sorted({os.path.splitext(file.name)[1] for file in walk_files(open_storage(folder), "")})
        endings = [ending for endings in FORMATS.values() for ending in endings]
        workbook = next((suffix for suffix in suffixes if suffix.lower() in WORKBOOKS), None)
        remedy = f"{TO_CSV} {folder}/*{workbook}`; or " if workbook is not None else ""
        raise SourceError(
            f"{folder} has no files of {'a known format' if file_format is None else f'the format {file_format}'}",
            found=f"files that end with {', '.join(map(repr, suffixes))}" if suffixes else "no files at all",
            fix=f"{remedy}name another folder; known are {', '.join([*endings, *_TABBED])}. For other endings name a pattern and "
            "the format, as in `infer '/data/landing/*.txt' --format csv`",
        )
    others = [other for other in (*FORMATS, TABBED) if other != word and by_word.get(other)]
    if word != TABBED:
        return Selection(folder, str(word), files, others=others)
    endings = sorted({_ending(file.path) for file in files})
    return Selection(folder, "csv", files, tuple(f"*{ending}" for ending in endings), others, is_tabbed=True)


def _of_pattern(folder: str, pattern: str, by_word: dict[str, list[SourceFile]], file_format: str | None) -> Selection:
    files = sorted((file for files_of_word in by_word.values() for file in files_of_word), key=lambda file: file.path)
    if not files:
        raise SourceError(
            f"No file below {folder} matches {pattern!r}",
            found=counted(len(list_source(folder, "csv", None, any_ending=True)), "other file"),
            fix="correct the pattern: * and ? match signs of one name, ** any folders; put it in quotes",
        )
    words = list(by_word)
    if file_format is None and len(words) > 1:
        counts = ", ".join(f"{len(by_word[word])} {word or 'of another ending'}" for word in words)
        raise SourceError(
            f"The files of {pattern!r} do not have one format",
            found=f"{counts}, such as {', '.join(by_word[word][0].path for word in words)}",
            fix=f"name a pattern of one format, such as {_narrowed(pattern, files)!r}, or the format with --format",
        )
    if file_format is None and words == [""]:
        raise SourceError(
            f"The endings of the files of {pattern!r} name no format",
            found=files[0].path,
            fix=f"name it with --format: {', '.join(FORMATS)}",
        )
    chosen = file_format or ("csv" if words == [TABBED] else words[0])
    return Selection(folder, chosen, files, (pattern,), is_tabbed=words == [TABBED])


def _narrowed(pattern: str, files: Sequence[SourceFile]) -> str:
    """The pattern with the ending of most of its files."""
    most = Counter(_ending(file.path) for file in files).most_common(1)[0][0]
    return f"{pattern.removesuffix('*').removesuffix('.')}*{most}"


def _word(path: str) -> str:
    """The format that the ending of a path names; empty for another one."""
    endings = {**FORMATS, TABBED: _TABBED}
    return next((word for word, known in endings.items() if path.lower().endswith(known)), "")


def _ending(path: str) -> str:
    """The ending of a path, with that of a compressed file before it."""
    start, last = os.path.splitext(path.rpartition("/")[2])
    return f"{os.path.splitext(start)[1]}{last}" if last.lower() == ".gz" else last
