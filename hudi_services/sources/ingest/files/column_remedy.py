"""The remedy for a file with columns that its feed does not declare: most often these are known, in another form."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.display import counted, nearest_first, some
from hoodie.errors import SourceError
from hoodie.storage import Storage
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.columns import is_near
from hudi_services.sources.ingest.files.csv_rows import HeaderError, read_start
from hudi_services.sources.ingest.files.dialect import dialect
from hudi_services.sources.ingest.files.text import READ_ERRORS, text_input

_DELIMITERS = ";\t|,"
_DATA = re.compile(r"(?=.*\d)[\s\d.,:/+TZ€$%-]*|true|false|\s*", re.IGNORECASE)
_MOST_TITLES = 30
_FEW = 3  # a header with more than a third of the declared columns is one


class UndeclaredColumnError(pa.ArrowInvalid):  # type: ignore[misc]
    """A column, by its dotted name, that the feed does not declare, and the columns of its file. A feed that skips broken files
    leaves its file out."""

    def __init__(self, column: str, names: Sequence[str]) -> None:
        super().__init__(
            f"column {column!r} is not in `schema`: declare it, or say `undeclared: keep` or `undeclared: drop`"
        )
        self.column = column
        self.names = tuple(names)


@dataclass(frozen=True)
class ColumnRemedy:
    """Errors of a file, with what is most likely meant."""

    storage: Storage
    file_format: str
    feed: Feed

    def undeclared(self, path: str, error: UndeclaredColumnError) -> SourceError:
        """The error of a file with a column that is not declared."""
        lacking = [name for name in self.feed.columns if name not in error.names]
        more = [name for name in error.names if name not in self.feed.columns] or [error.column]
        instead = f"; the file lacks {some(lacking)} and brings {some(more)}" if lacking else ""
        others = "or say `undeclared: keep`, which guesses its type, or `undeclared: drop`, which leaves it out"
        fix = self._of_text(path, error) or self._of_names(error.column, lacking, more)
        return SourceError(
            f"Source file {self._place(path)} has the undeclared column {error.column!r}",
            found=f"`schema` of the source declares {', '.join(self.feed.columns)}{instead}",
            fix=f"{fix or f'{_declaration(error.column)}, {others}'}; nothing was loaded",
        )

    def header(self, path: str, error: Exception, known: Sequence[str]) -> SourceError | None:
        """The error of a file whose header is no header, if a line below or above it has the `known` columns."""
        titles = self._titles(path, known) if isinstance(error, HeaderError) else None
        if titles is None:
            return None
        return SourceError(
            f"Source file {self._place(path)} has titles in place of its header",
            found=str(error),
            fix=f"{self._skip(titles)}; nothing was loaded",
        )

    def _place(self, path: str) -> str:
        return f"{self.storage.base_path}/{path}"

    def _of_text(self, path: str, error: UndeclaredColumnError) -> str | None:
        """The remedy for a name that is read wrongly."""
        if self.file_format != "csv":
            return None
        sign = next((sign for sign in _DELIMITERS if sign in error.column), None)
        if sign is not None:
            return (
                f"write `csv: {{delimiter: {json.dumps(sign)}}}` if it separates the columns of this name, or let the "
                "command infer look at the files"
            )
        encoding = self.feed.csv.encoding
        more = [name for name in error.names if name not in self.feed.columns]
        garbled = next((name for name in more if _as_utf8(name, encoding) in self.feed.columns), None)
        if garbled is not None:
            return (
                f"the file is in UTF-8, as `{garbled}` is `{_as_utf8(garbled, encoding)}` then, and the entry declares "
                f"`encoding: {encoding}`: write `encoding: utf-8` below `csv` if all files are so, or convert "
                f"this one to {encoding}"
            )
        return self._of_header(path, error.names)

    def _of_header(self, path: str, names: Sequence[str]) -> str | None:
        """The remedy for a header that is another line of the file."""
        if len({*names} & {*self.feed.columns}) * _FEW > len(self.feed.columns):
            return None
        titles = self._titles(path, list(self.feed.columns))
        if titles is not None:
            return self._skip(titles)
        data = [name for name in names if _DATA.fullmatch(name)]
        if not data:
            return None
        skipped = self.feed.csv.skip_rows
        less = f"write a `skip_rows` below {skipped} if it skips the header, or " if skipped else ""
        return (
            f"the header of the file looks like a row ({some(data)}): {less}deliver the file again with its header; if no file "
            "of the source has one, write `csv: {header: false}`, which takes the names of `schema` in their order"
        )

    def _skip(self, lines: int) -> str:
        now = self.feed.csv.skip_rows
        return (
            f"the names of the columns are below {_lines(lines)} of the file, and `skip_rows` is {now}: write "
            f"`skip_rows: {lines}` below `csv` if all files are so, or deliver this one again with {_lines(now)} above its header"
        )

    def _titles(self, path: str, known: Sequence[str]) -> int | None:
        """The number of lines above the first one with most of the known columns as its names."""
        for skipped in range(_MOST_TITLES if self.file_format == "csv" and self.feed.csv.header is True else 0):
            signs = dialect(self.feed.csv.model_copy(update={"skip_rows": skipped}))
            try:
                with text_input(self.storage, path, self.feed.csv.encoding) as source:
                    names = read_start(source, signs).names
            except READ_ERRORS:
                continue
            if len({*names} & {*known}) * 2 > len(known):
                return skipped
        return None

    def _of_names(self, column: str, lacking: Sequence[str], more: Sequence[str]) -> str | None:
        """The remedy for a column that was probably declared by another name."""
        twin = next((name for name in self.feed.columns if name.lower() == column.lower()), None)
        if twin is not None:
            return (
                f"write `{column}` in place of `{twin}` in `schema`, as they differ in case, and `rename: {{{column}: {twin}}}` "
                "for the name in the table"
            )
        if not lacking or "." in column:
            return None
        pairs = _renamed(lacking, more) or {column: lacking[0]}
        places = " and ".join(f"`{new}` in place of `{old}`" for new, old in pairs.items())
        renamed = ", ".join(f"{new}: {self.feed.rename.get(old, old)}" for new, old in pairs.items())
        subject = "they are" if len(pairs) > 1 else "it is"
        return (
            f"if {subject} renamed, write {places} in `schema`, and `rename: {{{renamed}}}` for the name in the table; if not, "
            f"{_declaration(column)}"
        )


def _renamed(lacking: Sequence[str], more: Sequence[str]) -> dict[str, str]:
    """The columns that a file brings, and those that they probably were: of a similar name, or in the same place of as many."""
    pairs: dict[str, str] = {}
    for new in more:
        near = [old for old in nearest_first(new, lacking) if is_near(old, new) and old not in pairs.values()]
        if near:
            pairs[new] = near[0]
    new_names = [new for new in more if new not in pairs]
    old_names = [old for old in lacking if old not in pairs.values()]
    return {**pairs, **dict(zip(new_names, old_names, strict=True))} if len(new_names) == len(old_names) else pairs


def _lines(count: int) -> str:
    return counted(count, "line") if count else "no line"


def _as_utf8(name: str, encoding: str) -> str | None:
    """The name that bytes in UTF-8 have which were read in another encoding; None if they are no UTF-8."""
    try:
        return name.encode(encoding).decode() if not name.isascii() else None
    except UnicodeError:
        return None


def _declaration(column: str) -> str:
    name, _, field = column.partition(".")
    if field:
        return f"add the field to the type of `{name}` in `schema`"
    return f"add `{column}: string`, or its type, to `schema`"
