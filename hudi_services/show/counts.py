"""How many rows base files hold: by the commits that wrote them, else by their footers. No row is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

from hoodie.formats.base_file import BaseFileReader
from hoodie.model.files import BaseFile
from hoodie.timeline import Instant
from hudi_services.show.history import read_once
from hudi_services.show.look import Look

_READERS = 16  # files are waited for, not worked on


def base_file_rows(look: Look, files: Collection[BaseFile]) -> dict[str, int]:
    """Path -> rows of each of the files: a read for each commit that wrote some of them, one more for a file of an archived one.

    Raises CorruptTableError for a torn commit, CorruptFileError or MissingFileError for a file that is.
    """
    wanted = {file.path for file in files}
    writers = {file.instant for file in files}
    instants = [instant for instant in look.state.timeline.commits if instant.time in writers]

    def written(instant: Instant) -> dict[str, int]:
        stats = read_once(look, instant).stats
        return {stat.path: stat.num_writes for stat in stats if stat.num_writes and stat.path in wanted}

    def footer(path: str) -> int:
        with BaseFileReader(look.storage, path) as reader:
            return reader.rows

    with ThreadPoolExecutor(_READERS) as pool:
        found = _together(pool.map(written, instants))
        unknown = sorted(wanted - found.keys())
        return found | dict(zip(unknown, pool.map(footer, unknown), strict=True))


def _together(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in parts:
        found |= part
    return found
