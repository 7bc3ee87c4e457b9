"""The history of timeline layout 2: Parquet files named by the instants they hold, and a manifest of those that count
(format notes, section 3.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.cache import cached_property
from hoodie.model.clean import CleanResult
from hoodie.model.commit import CommitMetadata
from hoodie.model.time import BEGINNING, Time
from hoodie.storage.base import Storage, closing_input
from hoodie.timeline.archive.base import Key, action_of, completion_times, missing, torn
from hoodie.timeline.archive.manifest import HistoryFile, Manifests
from hoodie.timeline.codecs.clean import decode_clean_result
from hoodie.timeline.codecs.commit import decode_commit_avro, decode_commit_json
from hoodie.timeline.codecs.restore import restored_instants
from hoodie.timeline.codecs.rollback import decode_rollback_result
from hoodie.timeline.instant import WRITE_ACTIONS, Action, Instant, State

_Key = tuple[Time, Action | None]


class LsmArchive:
    """`<archive folder>/<min>_<max>_<level>.parquet`, of which only those whose range is asked for are opened.

    Hudi's upgrade from layout 1 names a file by the first and the last instant that it has written, in no order. Without
    `trusts_names`, for a table that was upgraded, the times of all files are read to know their ranges.

    Times come from small columns; the bodies of instants are read from the one file that holds them.
    """

    def __init__(self, storage: Storage, folder: str, *, trusts_names: bool = True) -> None:
        self._storage = storage
        self._folder = folder
        self._trusts_names = trusts_names
        self._read: dict[str, tuple[Instant, ...]] = {}
        self._bodies: tuple[str, Mapping[_Key, bytes]] = ("", {})  # bodies in the file read last

    def stamp(self) -> str:
        return " ".join(file.name for file in self._named)

    def instants(self, after: Time = BEGINNING, until: Time | None = None) -> tuple[Instant, ...]:
        files = [f for f in self._files if f.greatest > after and (until is None or f.least <= until)]
        return tuple(
            instant
            for instant in _in_order(i for file in files for i in self._instants(file))
            if instant.time > after and (until is None or instant.time <= until)
        )

    def newest(self) -> Iterator[Instant]:
        files_left = sorted(self._files, key=lambda file: file.greatest)
        buffered: list[Instant] = []
        while files_left or buffered:
            # Instants of a file that is still closed must not come after those that are held.
            while files_left and (not buffered or files_left[-1].greatest >= buffered[-1].time):
                buffered = _in_order([*buffered, *self._instants(files_left.pop())])
            if buffered:
                yield buffered.pop()

    def reaches(self, time: Time) -> bool:
        files = (file for file in self._files if file.greatest >= time)
        return any(i.time >= time and i.action in WRITE_ACTIONS for file in files for i in self._instants(file))

    def completion_times(self, times: Collection[Time]) -> Mapping[Time, Time]:
        files = [f for f in self._files if any(f.least <= time <= f.greatest for time in times)]
        return completion_times([i for file in files for i in self._instants(file)], times)

    def archived_keys(self, instants: Collection[Instant]) -> frozenset[Key]:
        requested = {instant.key for instant in instants}
        files = [f for f in self._files if any(f.least <= time <= f.greatest for time, _ in requested)]
        return frozenset(requested.intersection(i.key for file in files for i in self._instants(file)))

    def commit_metadata(self, instant: Instant) -> CommitMetadata:
        body, where = self._body(instant)
        # An upgrade from layout 1 may have kept the older encoding.
        return (decode_commit_json if body.startswith(b"{") else decode_commit_avro)(body, where)

    def clean_result(self, instant: Instant) -> CleanResult:
        return decode_clean_result(*self._body(instant))

    def taken_back(self, instant: Instant) -> frozenset[Time] | None:
        body, where = self._body(instant)
        if instant.action is Action.RESTORE:  # one from before an upgrade has no body: layout 1 archives none
            return restored_instants(body, where) if body else None
        return frozenset({decode_rollback_result(body, where).instant})

    @cached_property
    def _named(self) -> tuple[HistoryFile, ...]:
        return Manifests(self._storage, self._folder).current().files

    @cached_property
    def _files(self) -> tuple[HistoryFile, ...]:
        """With the ranges of their instants."""
        return self._named if self._trusts_names else tuple(map(self._measured, self._named))

    def _measured(self, file: HistoryFile) -> HistoryFile:
        times = [instant.time for instant in self._instants(file)]
        return replace(file, least=min(times), greatest=max(times)) if times else file

    def _instants(self, file: HistoryFile) -> tuple[Instant, ...]:
        instants = self._read.get(file.name)
        if instants is None:
            rows = self._columns(file.name, ["instantTime", "completionTime", "action"])
            relative = f"{self._folder.rpartition('/')[2]}/{file.name}"
            instants = tuple(
                Instant(Time.of(time), action, State.COMPLETED, Time.of(completion) if completion else None, relative)
                for time, completion, word in zip(*(column.to_pylist() for column in rows.columns), strict=True)
                if (action := action_of(word)) is not None
            )
            self._read[file.name] = instants
        return instants

    def _body(self, instant: Instant) -> tuple[bytes, str]:
        """It holds only the row group of the instant: merged files are as large as a gigabyte."""
        name = instant.file_name.rpartition("/")[2]
        where = f"instant {instant} in {self._where(name)}"
        key = (instant.time, instant.action)
        if self._bodies[0] != name or key not in self._bodies[1]:
            self._bodies = (name, self._row_group(name, key))
        body = self._bodies[1].get(key)
        if body is None:
            raise torn(where, "no entry of it")
        return body, where

    def _row_group(self, name: str, key: _Key) -> Mapping[_Key, bytes]:
        """The bodies in the row group that has the instant `key`; nothing when none has."""
        with self._opened(name) as file:
            for number in range(file.num_row_groups):
                times, words = file.read_row_group(number, ["instantTime", "action"]).to_pydict().values()
                keys = [(time, action_of(word)) for time, word in zip(times, words, strict=True)]
                if key in keys:
                    bodies = file.read_row_group(number, ["metadata"]).column(0).to_pylist()
                    return {key: body or b"" for key, body in zip(keys, bodies, strict=True)}
        return {}

    def _columns(self, name: str, columns: Sequence[str]) -> pa.Table:
        with self._opened(name) as file:
            return file.read(list(columns)).select(list(columns))

    @contextmanager
    def _opened(self, name: str) -> Iterator[pq.ParquetFile]:
        try:
            with closing_input(self._storage, self._path(name)) as source:
                yield pq.ParquetFile(source)
        except FileNotFoundError:
            raise missing(self._where(name), "the manifest") from None
        except (pa.ArrowException, KeyError, OSError) as error:
            raise torn(self._where(name), error) from error

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _where(self, name: str) -> str:
        return f"{self._storage.base_path}/{self._path(name)}"


def _in_order(instants: Iterator[Instant] | list[Instant]) -> list[Instant]:
    """Ascending, each once: an archiver that was interrupted and started again may have stored some twice."""
    unique = {instant.key: instant for instant in instants}
    return sorted(unique.values(), key=lambda instant: instant.key)
