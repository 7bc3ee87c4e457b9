"""The archive of timeline layout 1: log files of Avro blocks, an entry for each state of an instant
(format notes, section 3.1)."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import fastavro

from hoodie.cache import cached_property
from hoodie.errors import CorruptTableError
from hoodie.formats import avro_file
from hoodie.formats.log import BlockType, Header, LogBlock, read_content, scan_blocks
from hoodie.model.clean import CleanResult
from hoodie.model.commit import CommitMetadata
from hoodie.model.time import BEGINNING, Time
from hoodie.storage.base import Storage, list_whole
from hoodie.timeline.archive.base import Key, action_of, completion_times, torn
from hoodie.timeline.codecs.clean import clean_result_of
from hoodie.timeline.codecs.commit import commit_of
from hoodie.timeline.codecs.rollback import rollback_of
from hoodie.timeline.instant import WRITE_ACTIONS, Action, Instant, State
from hoodie.timeline.name_checks import reading

_NAME = re.compile(r"^\.commits_\.archive\.(\d+)(?:_.*)?$")
_MERGE_PLAN = "mergeArchivePlan"
_STATES = {state.name: state for state in State}
_OUTLINE = ("commitTime", "actionType", "actionState", "stateTransitionTime")
_BODIES = {
    Action.REPLACE_COMMIT: "hoodieReplaceCommitMetadata",
    Action.CLEAN: "hoodieCleanMetadata",
    Action.ROLLBACK: "hoodieRollbackMetadata",
    Action.SAVEPOINT: "hoodieSavePointMetadata",
    Action.INDEXING: "hoodieIndexCommitMetadata",
}


def body_member(action: Action) -> str:
    """The member of an entry that says what a completed action did."""
    return _BODIES.get(action, "hoodieCommitMetadata")


@dataclass(frozen=True, slots=True)
class _Entry:
    """Place of one state of an instant: bytes of a block's content."""

    instant: Instant
    block: LogBlock
    start: int
    end: int


class LogArchive:
    """`<archive folder>/.commits_.archive.<n>_1-0-1`. No name has the instants of a file, so the first question reads all
    files, but only the time and state of each entry; bodies are decoded one by one when they are asked for."""

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage = storage
        self._folder = folder
        self._content: tuple[LogBlock | None, bytes] = (None, b"")  # content of the block read last

    def stamp(self) -> str:
        return " ".join(f"{file.name}:{file.size}" for file in list_whole(self._storage, self._folder).files)

    def instants(self, after: Time = BEGINNING, until: Time | None = None) -> tuple[Instant, ...]:
        return tuple(
            entry.instant
            for (time, _), entry in self._entries.items()
            if time > after and (until is None or time <= until)
        )

    def newest(self) -> Iterator[Instant]:
        for entry in reversed(self._entries.values()):
            yield entry.instant

    def reaches(self, time: Time) -> bool:
        """Commits are archived in the order of their times, so the last file that has some has the latest one."""
        for path in reversed(self._paths()):
            times = [entry.instant.time for entry in self._of_file(path) if entry.instant.action in WRITE_ACTIONS]
            if times:
                return max(times) >= time
        return False

    def completion_times(self, times: Collection[Time]) -> Mapping[Time, Time]:
        return completion_times(self.instants(), times)

    def commit_metadata(self, instant: Instant) -> CommitMetadata:
        return commit_of(self._record(instant), self._instant_text(instant))

    def clean_result(self, instant: Instant) -> CleanResult:
        return clean_result_of(self._record(instant), self._instant_text(instant))

    def taken_back(self, instant: Instant) -> frozenset[Time] | None:
        if instant.action is Action.RESTORE:  # its entry has no body
            return None
        where = self._instant_text(instant)
        record = self._record(instant)
        with reading(where, "rollback"):
            return frozenset({rollback_of(record, where).instant})

    def archived_keys(self, instants: Collection[Instant]) -> frozenset[Key]:
        """Files are asked from the newest on, until one's commits are all older: commits are archived in the order of time."""
        requested, archived = {instant.key for instant in instants}, set[Key]()
        least = min((time for time, _ in requested), default=BEGINNING)
        for path in reversed(self._paths() if requested else ()):
            instants_of_file = [entry.instant for entry in self._of_file(path)]
            archived |= requested.intersection(instant.key for instant in instants_of_file)
            if (
                max((instant.time for instant in instants_of_file if instant.action in WRITE_ACTIONS), default=least)
                < least
            ):
                break
        return frozenset(archived)

    def states(self, instant: Instant) -> Iterator[tuple[Instant, dict[str, Any]]]:
        """The entries of an archived instant, each with the state that it shows, whole: the completed one comes last. An instant
        that was stored twice has each state once."""
        places = {entry.instant.state: entry for entry in self._places.get(instant.key, ())}
        for state in sorted(places):
            yield places[state].instant, self._whole(places[state])

    @cached_property
    def _places(self) -> dict[Key, list[_Entry]]:
        """Every state of every instant."""
        result: dict[Key, list[_Entry]] = {}
        for path in self._paths():
            for block in self._blocks(path):
                for entry in self._outlined(block):
                    result.setdefault(entry.instant.key, []).append(entry)
        return result

    @cached_property
    def _entries(self) -> dict[Key, _Entry]:
        result: dict[Key, _Entry] = {}
        for path in self._paths():
            result.update({entry.instant.key: entry for entry in self._of_file(path)})
        return {key: result[key] for key in sorted(result)}

    def _of_file(self, path: str) -> Iterator[_Entry]:
        for block in self._blocks(path):
            yield from (entry for entry in self._outlined(block) if entry.instant.is_completed)

    def _blocks(self, path: str) -> Iterator[LogBlock]:
        for block in scan_blocks(self._storage, path):
            if block.kind is not BlockType.AVRO_DATA:
                raise torn(
                    f"{self._storage.base_path}/{path}",
                    f"{block.content_length} bytes from byte {block.offset} on that are not a block of entries",
                )
            yield block

    def _paths(self) -> list[str]:
        files = {file.name: file.path for file in list_whole(self._storage, self._folder).files}
        if _MERGE_PLAN in files:
            try:
                files.pop(self._unfinished_merge(files), None)
            except FileNotFoundError:  # Hudi's archiver has ended the merge since the listing
                return self._paths()
        named = [(number, path) for name, path in files.items() if (number := archive_number(name)) is not None]
        return [path for _, path in sorted(named)]

    def _unfinished_merge(self, files: Mapping[str, str]) -> str:
        """The file into which an archiver was merging others when it died: it counts once the first of those is deleted."""
        try:
            plan = avro_file.decode(self._storage.read(files[_MERGE_PLAN]), files[_MERGE_PLAN])
        except CorruptTableError:  # it died while writing the plan: nothing was merged
            return ""
        merged = [path.rpartition("/")[2] for path in plan["candidate"]]
        name: str = plan["mergedArchiveFileName"].rpartition("/")[2]
        return name if all(name_of_file in files for name_of_file in merged) else ""

    def _outlined(self, block: LogBlock) -> Iterator[_Entry]:
        """The time and state of each entry of a block; none of one of an action that is not known."""
        writer, reader = self._schemas(block)
        content = read_content(self._storage, block)
        relative = f"{self._folder.rpartition('/')[2]}/{block.path.rpartition('/')[2]}"
        for start, end in self._bounds(block, content):
            entry = self._decode(block, content[start:end], writer, reader)
            action, state = action_of(entry["actionType"]), _STATES.get(entry["actionState"])
            if action is None or state is None:
                continue
            completion = entry.get("stateTransitionTime") if state is State.COMPLETED else None
            action = action if state is State.COMPLETED else Action(entry["actionType"])
            time = Time.of(entry["commitTime"])
            instant = Instant(time, action, state, Time.of(completion) if completion else None, relative)
            yield _Entry(instant, block, start, end)

    def _bounds(self, block: LogBlock, content: bytes) -> Iterator[tuple[int, int]]:
        """Start and end of each entry: version, count, then length and bytes of each."""
        try:
            _, count = struct.unpack_from(">ii", content)
            place = 8
            for _ in range(count):
                (length,) = struct.unpack_from(">i", content, place)
                yield place + 4, place + 4 + length
                place += 4 + length
        except struct.error as error:
            raise torn(self._where(block), error) from error

    def _record(self, instant: Instant) -> dict[str, Any]:
        entry = self._entries.get(instant.key)
        if entry is None:
            raise torn(f"{self._storage.base_path}/{self._folder}", f"no entry of instant {instant}")
        record = self._whole(entry)
        body: dict[str, Any] | None = record.get(body_member(instant.action))
        if body is None:
            raise torn(self._where(entry.block), f"an entry of instant {instant} that does not say what it did")
        return body

    def _whole(self, entry: _Entry) -> dict[str, Any]:
        if self._content[0] is not entry.block:
            self._content = (entry.block, read_content(self._storage, entry.block))
        writer, _ = self._schemas(entry.block)
        return self._decode(entry.block, self._content[1][entry.start : entry.end], writer, None)

    def _schemas(self, block: LogBlock) -> tuple[Any, Any]:
        try:
            return _schemas(block.headers[Header.SCHEMA])
        except (KeyError, ValueError, fastavro.schema.SchemaParseException) as error:
            raise torn(self._where(block), f"a header without a schema ({error!r})") from error

    def _decode(self, block: LogBlock, data: bytes, writer: Any, reader: Any) -> dict[str, Any]:
        try:
            record = fastavro.schemaless_reader(io.BytesIO(data), writer, reader)
        except Exception as error:
            raise torn(self._where(block), f"an entry that is not whole ({type(error).__name__}: {error})") from error
        assert isinstance(record, dict)
        return record

    def _instant_text(self, instant: Instant) -> str:
        return f"instant {instant} in {self._storage.base_path}/{self._folder}"

    def _where(self, block: LogBlock) -> str:
        return f"{self._storage.base_path}/{block.path}, block at byte {block.offset}"


def archive_number(name: str) -> int | None:
    """The place of an archived log among the others; None for any other file."""
    match = _NAME.match(name)
    return int(match[1]) if match else None


@lru_cache(maxsize=8)
def _schemas(text: str) -> tuple[Any, Any]:
    """The schema of entries, and that of their time and state only."""
    schema = json.loads(text)
    outline = {**schema, "fields": [field for field in schema["fields"] if field["name"] in _OUTLINE]}
    return fastavro.parse_schema(schema), fastavro.parse_schema(outline)
