"""A mistake in the registry file, and the error that shows all of them at once."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hoodie.display import counted, some
from hoodie.errors import RegistryError


@dataclass(frozen=True)
class Mistake:
    """A mistake: the file, its line (from 1), the key in words, and what to do.

    `table` is the name of the table that cannot be used because of it; None when it concerns the whole file.
    """

    file: str
    line: int
    key: str
    message: str
    table: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}: {self.message}"


@dataclass(frozen=True)
class LeftOut:
    """A table `name` that is left out since its entry has mistakes, and the source that the entry names.

    `table` is empty where the entry does not say which table of the `server` it is about.
    """

    name: str
    base_path: str
    server: str
    table: str


def left_out(entries: Iterable[object]) -> Iterator[LeftOut]:
    """Yield the tables of a server among entries with mistakes, as far as their names can be read."""
    for entry in entries:
        source = entry.get("source") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(source, dict) and "topic" not in source:
            texts = (entry.get("name"), entry.get("base_path"), source.get("server"), source.get("table"))
            name, base_path, server, table = (text if isinstance(text, str) else "" for text in texts)
            if server:
                yield LeftOut(name, base_path, server, table)


def not_utf_8(data: bytes, start: int, file: str) -> tuple[int, str]:
    """The line (from 1) of the byte at `start`, which is no UTF-8, and the mistake with its remedy."""
    before = data[:start]
    line, place = before.count(b"\n") + 1, start - before.rfind(b"\n")
    encoding, kind = "CP1252", f"which is {data[start : start + 1].decode('cp1252', 'replace')!r} in cp1252"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding, kind = "UTF-16", "which begins text in UTF-16"
    convert = f"`iconv -f {encoding} -t UTF-8 {shlex.quote(file)} > utf8.yaml`"
    byte = f"byte 0x{data[start]:02X}, number {place} of the line, {kind}"
    return line, f"is not UTF-8: {byte}; save it as UTF-8, or convert it: {convert}"


def merged(mistakes: Iterable[Mistake]) -> list[tuple[Mistake, tuple[str, ...]]]:
    """Each mistake once, with the tables that it keeps out. One of a section for all tables comes once for each of them: then the
    key is that of the section, and `table` is None."""
    alike: dict[Mistake, list[Mistake]] = {}
    for mistake in mistakes:
        key = mistake.key.removeprefix(f"{mistake.table}.") if mistake.table is not None else mistake.key
        alike.setdefault(replace(mistake, key=key, table=None), []).append(mistake)
    return [
        (shared if len(same) > 1 else same[0], tuple(mistake.table for mistake in same if mistake.table is not None))
        for shared, same in alike.items()
    ]


def sharers(tables: Sequence[str]) -> str:
    """The tables that share a mistake, to put behind it; empty for that of one table, or of the whole file."""
    return f" (of {len(tables):,} tables: {some(tables, 3)})" if len(tables) > 1 else ""


def lines_of(mistakes: Iterable[Mistake]) -> list[str]:
    """A line for each mistake, with the tables if it is that of several."""
    return [f"{mistake}{sharers(tables)}" for mistake, tables in merged(mistakes)]


def as_error(file: str, mistakes: Iterable[Mistake]) -> RegistryError:
    """All mistakes in one error, a line each."""
    lines = lines_of(mistakes)
    return RegistryError(f"{counted(len(lines), 'mistake')} in the registry {file}", found="\n  " + "\n  ".join(lines))
