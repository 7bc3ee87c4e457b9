"""A batch of a topic: ranges of offsets, and once it is opened the changes of their messages."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.errors import SourceError
from hoodie.model.changes import AFTER, BEFORE, OP
from hoodie.services.stages import Facts, Item, Items
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.plan import WritePlan
from hudi_services.sources.cdc.masks import NO_MASKS, Masks
from hudi_services.sources.cdc.messages.contract import MessageFormat, Statement
from hudi_services.sources.ingest.changes.rows import DELETED
from hudi_services.sources.ingest.kafka.missing_columns import lacking, places_text
from hudi_services.sources.ingest.kafka.order import Ordered
from hudi_services.sources.ingest.kafka.position import Place, TopicPosition
from hudi_services.sources.ingest.kafka.ranges import Range, counted_offsets
from hudi_services.sources.ingest.kafka.rows import applied, image_columns
from hudi_services.sources.ingest.kafka.statements import stopped
from hudi_services.sources.ingest.kafka.stored_rows import StoredRows
from hudi_services.sources.ingest.kafka.topic_masks import masked, without_hashes
from hudi_services.sources.ingest.source import Delivered, Reject, SourceSplit

HIDDEN = "hidden: columns of the table are masked"
_BYTES = 256  # bytes of a message, until one is read
_MANY = 100_000  # messages, none of which can be read
Read = Callable[[Sequence[Range]], Ordered]
"""Reads ranges; the result has a place for each of their partitions."""
Next = Callable[[Mapping[int, Place]], tuple[Range, ...]]
"""The ranges after these places."""
Wrong = tuple[int, int, str | None, str]
"""A message that is no change: partition, offset, its value as text, and the reason."""


@dataclass(frozen=True)
class SplitRows:
    """Some rows, with the partitions and offsets of their messages; and messages that are no changes."""

    topic: str
    rows: pa.Table
    partitions: pa.Array
    offsets: pa.Array
    wrong: Sequence[Wrong] = ()
    files: int = 0

    @property
    def size(self) -> int:
        return int(self.rows.nbytes)

    def tables(self, reject: Reject) -> Iterator[Delivered]:
        for partition, offset, text, reason in self.wrong:
            reject(f"topic {self.topic}", {"value": text}, f"partition {partition}, offset {offset}: {reason}")
        yield Delivered(f"topic {self.topic}", self.rows, self._where)

    def _where(self, places: Sequence[int]) -> Sequence[str]:
        return [f"partition {self.partitions[place].as_py()}, offset {self.offsets[place].as_py()}" for place in places]


@dataclass(frozen=True)
class Opened:
    """The content of ranges. The numbers of changes are rows of `messages`. `places` are those after them."""

    messages: pa.Table
    changes: pa.Table
    wrong: Sequence[Wrong]
    places: Mapping[int, Place]
    ignored: Mapping[str, int]
    unavailable: Mapping[str, np.ndarray] = field(
        default_factory=dict
    )  # rows of `messages` that lack the value of a column
    stopped: SourceError | None = None  # by a statement that comes after the changes
    lacking: Mapping[str, np.ndarray] = field(default_factory=dict)  # rows of `messages` without a column of the table


@dataclass(frozen=True)
class TopicBatch:
    """The part of a topic that is new: nothing, where there are no ranges.

    `after` is the position after it, and before it is opened that of the table. Messages may be rows (`are_rows`) in place of
    changes. Messages without any change for the table are nothing new. Only where it would cost much to read them again
    (`is_kept` of their number) a commit moves the position.
    """

    name: str  # name of the source, for messages
    format: MessageFormat
    ranges: tuple[Range, ...]
    after: TopicPosition
    read: Read
    next: Next
    stops: Callable[[Sequence[Statement], pa.Schema | None], Statement | None]
    is_kept: Callable[[int], bool]
    are_rows: bool = False
    masks: Masks = NO_MASKS
    opened_: Opened | None = None
    stored: StoredRows | None = None
    read_messages: int = 0
    again: int = 0
    files: int = 0
    files_skipped: int = 0
    operation: None = None
    is_history: bool = False

    @property
    def items(self) -> Items:
        """A range of offsets each."""
        items = [
            Item(
                f"partition {span.partition}, offsets {span.place.next} to {span.end}",
                _BYTES * span.count,
                facts={"partition": span.partition, "offset": span.place.next, "end": span.end},
            )
            for span in self.ranges
        ]
        size = sum(item.bytes for item in items) if self.opened_ is None else self.opened_.changes.nbytes
        return Items("load", tuple(items), int(size), "offset range")

    @property
    def reason(self) -> str:
        opened = self.opened_
        if opened is None:
            if not self.ranges:
                return f"{self.name} has no message that is not taken in"
            offsets, partitions = counted_offsets(self.ranges), counted(len(self.ranges), "partition")
            return f"{counted(offsets, 'new offset')} in {partitions} of {self.name}"
        messages = f"{counted(self.read_messages, 'message')} of {self.name}"
        if opened.ignored:
            messages += (
                f", of which {', '.join(f'{count:,} {kind}' for kind, count in opened.ignored.items())} passed over"
            )
        if not self.ranges:
            return f"no change of the table in {messages}"
        return f"{counted(opened.changes.num_rows, 'change')} in {messages}"

    @property
    def outcome(self) -> str:
        return self.reason

    @property
    def stage(self) -> Facts:
        positions = {str(span.partition): span.place.next for span in self.ranges}
        return Facts({"topic": self.after.topic, "offsets": counted_offsets(self.ranges), "positions": positions})

    @property
    def position(self) -> str:
        return self.after.encode()

    @property
    def deletions(self) -> str | None:
        return DELETED

    def opened(self, known: pa.Schema | None, engine: Engine) -> tuple[TopicBatch, pa.Schema]:
        """The batch with the changes of its messages.

        If there are none for the table it reads on, up to the end of what was there at first. Raises SourceError for a
        statement that comes before any change, and where none of the messages can be read.
        """
        places, ranges, count = dict(self.after.places), self.ranges, 0
        wrong: list[Wrong] = []
        ignored: Counter[str] = Counter()
        while True:
            result = self._read(ranges, known)
            places |= result.places
            count += result.messages.num_rows
            wrong += result.wrong
            ignored += Counter(result.ignored)
            ranges = self.next(places)
            settled = result.changes.num_rows or (wrong and (known is not None or len(wrong) > _MANY))
            if settled or not ranges or result.stopped is not None:
                break
        result = replace(result, wrong=wrong, ignored=ignored)
        batch = replace(self, opened_=result, after=replace(self.after, places=places), read_messages=count)
        if result.changes.num_rows:
            return batch, image_columns(result.changes)
        if result.stopped is not None and not wrong:
            raise result.stopped
        if known is not None and (wrong or self.is_kept(count)):
            return replace(batch, opened_=replace(result, changes=_no_changes(known))), _marked(known)
        if wrong:
            raise _unreadable(self.name, wrong)
        return replace(batch, ranges=()), known if known is not None else pa.schema([])

    def messages_without(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return the messages of an opened batch that lack each of these columns, in words."""
        opened = self.opened_
        if opened is None:
            return {}
        return {name: [places_text(opened.messages, opened.lacking[name])] for name in names if name in opened.lacking}

    @property
    def lacks_values(self) -> bool:
        return self.opened_ is not None and bool(self.opened_.unavailable)

    def with_stored(self, table: HoodieTable, state: TableState) -> TopicBatch:
        return replace(self, stored=StoredRows(table, state, self.name))

    def splits(self, _schema: pa.Schema, tasks: int, plan: WritePlan) -> Sequence[SourceSplit]:
        """The rows in order, about evenly."""
        assert self.opened_ is not None, "an opened batch"
        opened = self.opened_
        self.masks.check(self.masks.columns, (*plan.record_keys.fields, *plan.paths.fields), self.name)
        result = applied(
            opened.changes, plan, are_rows=self.are_rows, unavailable=opened.unavailable, stored=self.stored
        )
        messages = self.opened_.messages
        numbers = self.opened_.changes["number"].combine_chunks()
        wrong = [*self.opened_.wrong]
        wrong += [self._wrong(messages, numbers[place].as_py(), why) for place, why in sorted(result.rejected.items())]
        rows = numbers.take(result.places.combine_chunks())
        origin = {name: messages[name].combine_chunks().take(rows) for name in ("partition", "offset")}
        size = max(1, -(-result.rows.num_rows // max(1, tasks)))
        topic = self.after.topic
        return [
            SplitRows(
                topic,
                result.rows.slice(start, size),
                origin["partition"].slice(start, size),
                origin["offset"].slice(start, size),
                wrong if start == 0 else (),
            )
            for start in range(0, max(1, result.rows.num_rows), size)
        ]

    def _wrong(self, messages: pa.Table, number: int, reason: str) -> Wrong:
        """A message that is no change. Its text may have values of masked columns."""
        text = HIDDEN if self.masks.columns else _text(messages["value"][number].as_py())
        return messages["partition"][number].as_py(), messages["offset"][number].as_py(), text, reason

    def _read(self, ranges: Sequence[Range], known: pa.Schema | None) -> Opened:
        ordered = self.read(ranges)
        messages = ordered.messages
        decoded = masked(
            self.format.decode(messages, without_hashes(known, self.masks)), self.masks, first=known is None
        )
        statement = self.stops(decoded.statements, known)
        changes, rejected, end = decoded.changes, decoded.rejected, None
        if statement is not None:
            end = statement.number
            changes = changes.filter(pc.less(changes["number"], end))
            rejected = tuple(rejection for rejection in rejected if rejection.number < end)
        lacks = {}
        if known is not None:
            lacks = lacking(replace(decoded, changes=changes), messages, known, names_nulls=not self.are_rows)
        wrong = [self._wrong(messages, rejection.number, rejection.reason) for rejection in rejected]
        error = stopped(self.name, statement, messages) if statement is not None else None
        places = ordered.places(end)
        return Opened(messages, changes, wrong, places, decoded.ignored, decoded.unavailable, error, lacks)


def _unreadable(name: str, wrong: Sequence[Wrong]) -> SourceError:
    partition, offset, text, reason = wrong[0]
    return SourceError(
        f"None of {counted(len(wrong), 'message')} of {name} can be read",
        found=f"{reason} in partition {partition}, offset {offset}: {(text or 'no value')[:200]!r}",
        fix="correct `source.format`, or what is sent; nothing was loaded",
    )


def _text(value: bytes | None) -> str | None:
    """The value of a message for people; what is no text as base64."""
    try:
        return value.decode() if value is not None else None
    except UnicodeDecodeError:
        return f"base64:{base64.b64encode(value or b'').decode()}"


def _no_changes(known: pa.Schema) -> pa.Table:
    image = pa.struct([column.with_nullable(True) for column in known])
    return pa.schema([(OP, pa.string()), ("number", pa.int64()), (BEFORE, image), (AFTER, image)]).empty_table()


def _marked(known: pa.Schema) -> pa.Schema:
    return known.append(pa.field(DELETED, pa.bool_()))
