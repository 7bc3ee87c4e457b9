"""The history of timeline layout 2: Parquet files named by the instants they hold, and a manifest of those that count
(docs/format.md, section 3.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.model.clean import CleanResult
from hoodie.model.commit import CommitMetadata
from hoodie.model.time import BEGINNING, Time
from hoodie.storage.base import Storage, closing_input
from hoodie.timeline.archive.base import action_of, completion_times, missing, torn
from hoodie.timeline.codecs.clean import decode_clean_result
from hoodie.timeline.codecs.commit import decode_commit_avro, decode_commit_json
from hoodie.timeline.instant import Action, Instant, State

_NAME = re.compile(r"^(\d+)_(\d+)_(\d+)\.parquet\Z", re.ASCII)
_VERSION = "_version_"
_MANIFEST = "manifest_"
_Key = tuple[Time, Action | None]


@dataclass(frozen=True, slots=True)
class _File:
    """A data file: its name, and the least and greatest requested time of its instants."""

    name: str
    least: Time
    greatest: Time


class LsmArchive:
    """`<archive folder>/<min>_<max>_<level>.parquet`, of which only those whose range is asked for are opened.

    Times come from small columns; the bodies of instants are read from the one file that holds them.
    """

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage = storage
        self._folder = folder
        self._read: dict[str, tuple[Instant, ...]] = {}
        self._bodies: tuple[str, Mapping[_Key, bytes]] = ("", {})  # bodies in the file read last

    def instants(self, after: Time = BEGINNING, until: Time | None = None) -> tuple[Instant, ...]:
        files = [f for f in self._files if f.greatest > after and (until is None or f.least <= until)]
        return tuple(
            instant
            for instant in _in_order(i for file in files for i in self._instants(file))
            if instant.time > after and (until is None or instant.time <= until)
        )

    def newest(self) -> Iterator[Instant]:
        left = sorted(self._files, key=lambda file: file.greatest)
        held: list[Instant] = []
        while left or held:
            # What a file that is still closed may hold must not come after what is held.
            while left and (not held or left[-1].greatest >= held[-1].time):
                held = _in_order([*held, *self._instants(left.pop())])
            if held:
                yield held.pop()

    def completion_times(self, times: Collection[Time]) -> Mapping[Time, Time]:
        files = [f for f in self._files if any(f.least <= time <= f.greatest for time in times)]
        return completion_times([i for file in files for i in self._instants(file)], times)

    def commit_metadata(self, instant: Instant) -> CommitMetadata:
        body, where = self._body(instant)
        # An upgrade from layout 1 may have kept the older encoding.
        return (decode_commit_json if body.startswith(b"{") else decode_commit_avro)(body, where)

    def clean_result(self, instant: Instant) -> CleanResult:
        return decode_clean_result(*self._body(instant))

    @cached_property
    def _files(self) -> tuple[_File, ...]:
        version = self._manifest_version()
        if version is None:  # nothing was archived yet
            return ()
        manifest = f"{_MANIFEST}{version}"
        try:
            names = [entry["fileName"] for entry in json.loads(self._storage.read(self._path(manifest)))["files"]]
        except FileNotFoundError:
            raise missing(self._where(manifest), _VERSION) from None
        except (ValueError, KeyError, TypeError) as error:
            raise torn(self._where(manifest), f"no list of files ({error!r})") from error
        return tuple(self._named(name, manifest) for name in names)

    def _manifest_version(self) -> int | None:
        """Hudi replaces `_version_` in two steps. Without a whole one the newest manifest counts, as in Hudi's reader."""
        with suppress(FileNotFoundError):
            version = self._storage.read(self._path(_VERSION)).strip()
            if version.isdigit():
                return int(version)
        numbers = (file.name.removeprefix(_MANIFEST) for file in self._storage.list(self._folder).files)
        return max((int(number) for number in numbers if number.isascii() and number.isdigit()), default=None)

    def _named(self, name: str, manifest: str) -> _File:
        match = _NAME.match(str(name))
        if match is None:
            raise torn(self._where(manifest), f"the entry {name!r}, which is no file of the history")
        return _File(name, Time.of(match[1]), Time.of(match[2]))

    def _instants(self, file: _File) -> tuple[Instant, ...]:
        known = self._read.get(file.name)
        if known is None:
            rows = self._columns(file.name, ["instantTime", "completionTime", "action"])
            relative = f"{self._folder.rpartition('/')[2]}/{file.name}"
            known = tuple(
                Instant(Time.of(time), action, State.COMPLETED, Time.of(completion) if completion else None, relative)
                for time, completion, word in zip(*(column.to_pylist() for column in rows.columns), strict=True)
                if (action := action_of(word)) is not None
            )
            self._read[file.name] = known
        return known

    def _body(self, instant: Instant) -> tuple[bytes, str]:
        name = instant.file_name.rpartition("/")[2]
        where = f"instant {instant} in {self._where(name)}"
        if self._bodies[0] != name:
            rows = self._columns(name, ["instantTime", "action", "metadata"])
            times, words, bodies = (column.to_pylist() for column in rows.columns)
            self._bodies = (
                name,
                {(time, action_of(word)): body or b"" for time, word, body in zip(times, words, bodies, strict=True)},
            )
        body = self._bodies[1].get((instant.time, instant.action))
        if body is None:
            raise torn(where, "no entry of it")
        return body, where

    def _columns(self, name: str, columns: Sequence[str]) -> pa.Table:
        try:
            with closing_input(self._storage, self._path(name)) as source:
                return pq.ParquetFile(source).read(list(columns)).select(list(columns))
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
