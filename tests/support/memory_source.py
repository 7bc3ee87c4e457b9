"""A source without files: Arrow tables, and messages that are no rows, in a log whose offsets are positions."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from hoodie.display import counted
from hoodie.errors import CorruptTableError
from hoodie.services.stages import Facts, Item, Items
from hudi_services.sources.ingest.source import Delivered

KEY = "tests.memory.offset"


@dataclass(frozen=True)
class MemorySource:
    """`log` is what was sent so far, a table or a text each."""

    log: tuple[pa.Table | str, ...]
    name: str = "memory:trips"
    position_key: str = KEY

    def discover(self, position, places, *, start_fresh, since=None):
        known = 0 if start_fresh else _offset(position)
        return MemoryBatch(self.log, known if since is None else _offset(since.before), known)


def _offset(position):
    if position is None:
        return 0
    if not position.text.startswith("offset:"):
        raise CorruptTableError(f"The offset in {position.where} cannot be read", found=position.text)
    return int(position.text.removeprefix("offset:"))


@dataclass(frozen=True)
class MemoryBatch:
    """The entries from `begin` to the end of the log as it was."""

    log: tuple[pa.Table | str, ...]
    begin: int
    known: int  # number of rows the table took in
    files: int = 0
    files_skipped: int = 0
    operation: None = None
    is_history: bool = True
    deletions: None = None

    @property
    def items(self):
        listed = [Item(f"offset {place}", _size(each)) for place, each in enumerate(self.log) if place >= self.begin]
        return Items("load", tuple(listed), sum(item.bytes for item in listed), "message")

    @property
    def reason(self):
        return f"{counted(len(self.log) - self.begin, 'message')} from offset {self.begin} on"

    outcome = reason

    @property
    def again(self):
        return self.known - self.begin

    @property
    def stage(self):
        return Facts({"from_offset": self.begin})

    @property
    def position(self):
        return f"offset:{len(self.log)}"

    def opened(self, known, engine):
        tables = [each for each in self.log[self.begin :] if isinstance(each, pa.Table)]
        return self, pa.unify_schemas([each.schema for each in tables]) if tables else known

    def splits(self, schema, tasks, plan):
        """One a message."""
        return [MemorySplit(self.log[place], place) for place in range(self.begin, len(self.log))]


@dataclass(frozen=True)
class MemorySplit:
    """One message."""

    message: pa.Table | str
    offset: int

    @property
    def size(self):
        return _size(self.message)

    @property
    def files(self) -> int:
        """None."""
        return 0

    def tables(self, reject):
        origin = f"offset {self.offset}"
        if isinstance(self.message, str):
            reject(origin, self.message, "no rows")
        else:
            yield Delivered(origin, self.message, lambda places: [f"row {place + 1}" for place in places])


def _size(message):
    return len(message) if isinstance(message, str) else message.nbytes
