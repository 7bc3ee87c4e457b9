"""The history of a table's schemas that `hoodie.schema.on.read.enable` keeps in `.hoodie/.schema` (docs/decisions/0052)."""

from __future__ import annotations

from hoodie.model.time import Time
from hoodie.schema.internal import InternalSchema, parse_history
from hoodie.storage.base import Storage
from hoodie.timeline import Timeline

FOLDER, SUFFIX = ".hoodie/.schema", ".schemacommit"


def schema_history(storage: Storage, timeline: Timeline) -> tuple[InternalSchema, ...]:
    """The schemas that the table has had, the oldest first; none where nobody kept them: one listing.

    Each file of the folder holds all of them; the one that counts is that of the last commit which completed. Raises
    CorruptTableError.
    """
    names = [info.name for info in storage.list(FOLDER).files]
    files = {Time.of(time_of(name)): name for name in names if name.endswith(SUFFIX) and time_of(name).isdigit()}
    for time in sorted(files, reverse=True):
        if timeline.is_committed(time):
            return parse_history(storage.read(f"{FOLDER}/{files[time]}").decode("utf-8", "replace"))
    return ()


def time_of(name: str) -> str:
    """The instant of a file of the folder: `<instant>_<completion>.schemacommit`, before table version 8 without completion."""
    return name.partition(".")[0].partition("_")[0]
