"""The protocols that a source of an ingestion implements.

Files of a folder are one (`sources.ingest.files`). A topic, the log of a database and the changes of a table are others.
The pipeline does not look into a position: it finds the newest one of the table, hands it over, and puts the one after the batch
into the commit of the batch's rows. So rows and position become visible in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from hoodie.config.operations import Operation
from hoodie.engine import Engine
from hoodie.services.stages import Items, Stage
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.plan import WritePlan
from hudi_services.sources.ingest.locations import Places
from hudi_services.sources.positions import Position, Since

Where = Callable[[Sequence[int]], Sequence[str]]
"""The origins of rows of a table, such as `line 7` of a file, by their numbers from 0. They are computed only on request."""

Reject = Callable[[str, str | Mapping[str, object], str], None]
"""Takes what is no row of the table to the quarantine: where it is from, its text or its values by column, the reason."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """Some rows of a source: from which file or message, and where in it."""

    origin: str
    rows: pa.Table
    where: Where


class SourceSplit(Protocol):
    """The part of a batch that one task reads. Picklable."""

    @property
    def size(self) -> int:
        """About how many bytes."""
        ...

    @property
    def files(self) -> int:
        """The number of files that it reads, each counted by one split; 0 if the source has no files."""
        ...

    def tables(self, reject: Reject) -> Iterator[Delivered]:
        """All rows, some at a time; any types that cast to those of the table.

        Raises SourceError when they are not those that were discovered any more, or cannot be read: nothing is then loaded.
        """
        ...


class Batch(Protocol):
    """The new data of a source."""

    @property
    def items(self) -> Items:
        """Its items, such as files or ranges of offsets, in the order in which they are read. None: nothing is new."""
        ...

    @property
    def reason(self) -> str:
        """One line for people: why these items, or why there are none."""
        ...

    @property
    def outcome(self) -> str:
        """The same line, for items that are in the table now."""
        ...

    @property
    def again(self) -> int:
        """The number of items that the table took in before."""
        ...

    @property
    def stage(self) -> Stage:
        """The rest of the plan: values for programs, and what the source leaves out."""
        ...

    @property
    def files(self) -> int:
        """The number of files that the result counts as read."""
        ...

    @property
    def files_skipped(self) -> int:
        """The number of files that are left out because they cannot be read."""
        ...

    @property
    def position(self) -> str:
        """The source's position after it, for the extra metadata of the commit."""
        ...

    @property
    def operation(self) -> Operation | None:
        """The operation that the batch needs; None: the one that was asked for."""
        ...

    @property
    def is_history(self) -> bool:
        """True where the operation for the history of a table loads the rows, if the table has no commit yet."""
        ...

    @property
    def deletions(self) -> str | None:
        """The boolean column of its rows that is true for rows to be deleted. It is not stored. None: there is no such column."""
        ...

    def opened(self, known: pa.Schema | None, engine: Engine) -> tuple[Batch, pa.Schema]:
        """The readable part of the batch, and its columns; null if no value showed the type. `known` are the table's columns:
        their types win over guesses.

        Raises SourceError, or SchemaConflictError naming the column.
        """
        ...

    def splits(self, schema: pa.Schema, tasks: int, plan: WritePlan) -> Sequence[SourceSplit]:
        """About `tasks` splits, in order. The columns of the rows will be `schema`, and `plan` is the write that takes them."""
        ...


@runtime_checkable
class PartialBatch(Batch, Protocol):
    """A batch that may lack values, which are those that the table has."""

    @property
    def lacks_values(self) -> bool:
        """True if rows of an opened batch lack values."""
        ...

    def with_stored(self, table: HoodieTable, state: TableState) -> PartialBatch:
        """The batch whose splits take these values from the table as it is in `state`."""
        ...


class Source(Protocol):
    """A source of rows."""

    @property
    def name(self) -> str:
        """The source's name in messages, such as its path."""
        ...

    @property
    def position_key(self) -> str:
        """The key of its positions in the extra metadata of commits: one for all sources of a kind."""
        ...

    def discover(
        self, position: Position | None, places: Places, *, start_fresh: bool, since: Since | None = None
    ) -> Batch:
        """The data that is new since `position`; None: all of it. With `since` also data that was loaded after it. Changes
        nothing.

        With `start_fresh` everything of this source is new, even if the position cannot be read; deliveries of other sources of
        the kind stay known. Raises ConfigError for arguments that it does not support, SourceError if the source is not there,
        and CorruptTableError for a position that it cannot read.
        """
        ...


@runtime_checkable
class EndlessSource(Source, Protocol):
    """A source that is taken in batch by batch, each a part of what it has."""

    def until_now(self) -> EndlessSource:
        """The same source, whose batches end with what it has now."""
        ...
