"""Files that say what was begun with a table that is not readable at the moment."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from hoodie.config.properties.store import COPYING, PROPERTIES, recover_properties
from hoodie.errors import TableExistsError
from hoodie.model.place import same_table
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own


@dataclass(frozen=True)
class CopyMark:
    """The source of a copy, which goes when a move is complete."""

    source: str
    is_move: bool

    def write(self, target: Storage) -> None:
        """Begin the copy, or go on with it. Raises TableExistsError for the copy of another table."""
        mark = read_copy_mark(target)
        if mark is None:
            create_own(target, COPYING, json.dumps(asdict(self)).encode())
        elif not (same_table(mark.source, self.source) and mark.is_move is self.is_move):
            raise TableExistsError(
                f"At {target.base_path} another {'move' if mark.is_move else 'copy'} has begun",
                found=f"that of {mark.source}",
                fix="end it by the same command, or drop what is there by `hudi-services table drop`",
            )


def read_copy_mark(target: Storage) -> CopyMark | None:
    """The mark of a copy that has begun and not ended."""
    try:
        return CopyMark(**json.loads(target.read(COPYING)))
    except FileNotFoundError:
        return None


def retire(storage: Storage, mark: str) -> None:
    """Make a table unreadable by one step, under its lock: its properties become the file `mark`. Can be repeated."""
    if storage.info(PROPERTIES) is None:
        return
    recover_properties(storage)
    if storage.info(mark) is not None and storage.read(mark) != storage.read(PROPERTIES):
        storage.delete(mark)  # the mark of an earlier table of this place
    storage.move(PROPERTIES, mark)


def is_retired(storage: Storage, mark: str) -> bool:
    """Return whether the table was made unreadable with this mark."""
    return storage.info(PROPERTIES) is None and storage.info(mark) is not None
