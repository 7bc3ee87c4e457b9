"""States of tables and files of theirs made by hand, without a file on the storage."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping

from hoodie.model.commit import CommitMetadata, LogStat, WriteStat
from hoodie.model.files import BaseFile, LogFile
from hoodie.model.time import Time
from hoodie.storage.base import FileInfo, Storage
from hoodie.timeline import Action, Instant, State, Timeline
from hoodie.view.state import TableState
from tests.support.tables import create

PARTITION, GROUP = "p", "f"


def done(time: str, completed: str, action: Action = Action.DELTA_COMMIT) -> Instant:
    """A completed instant. Any text is a time as long as it sorts."""
    return Instant(Time(time), action, State.COMPLETED, Time(completed), f"{time}_{completed}.{action}")


def pending(time: str, action: Action = Action.DELTA_COMMIT, state: State = State.INFLIGHT) -> Instant:
    return Instant(Time(time), action, state, None, f"{time}.{action}.{state.name.lower()}")


def base_file(time: str, group: str = GROUP, partition: str = PARTITION) -> BaseFile:
    return BaseFile(partition, group, Time(time), FileInfo(f"{partition}/{group}_0-0-0_{time}.parquet", 1, 0))


def log_file(time: str, group: str = GROUP, partition: str = PARTITION) -> LogFile:
    return LogFile(partition, group, Time(time), 1, False, FileInfo(f"{partition}/.{group}_{time}.log.1_0-0-0", 1, 0))


def wrote(*files: BaseFile | LogFile, operation: str = "UPSERT", **fields: object) -> CommitMetadata:
    """The body of a commit that wrote these files."""
    stats = tuple(
        WriteStat(
            file.file_id,
            file.path,
            file.partition,
            file_size=file.info.size,
            log=LogStat("", (file.info.name,), file.version) if isinstance(file, LogFile) else None,
        )
        for file in files
    )
    return CommitMetadata(operation, stats, **fields)  # type: ignore[arg-type]


def state_of(
    version: str,
    bodies: Mapping[Instant, CommitMetadata],
    others: Iterable[Instant] = (),
    storage: Storage | None = None,
) -> TableState:
    """The state of a merge-on-read table with these completed commits, and other instants. It is in no folder, unless a
    `storage` is given, which need not have anything of it."""
    with tempfile.TemporaryDirectory() as folder:
        options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
        empty = create(f"{folder}/t", **options).state()
    known = {instant.file_name: body for instant, body in bodies.items()}
    return TableState(storage or empty.storage, empty.properties, empty.layout, Timeline.of([*bodies, *others]), known)
