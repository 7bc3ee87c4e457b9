"""Parts of a file group (format notes, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hoodie.model.time import Time
from hoodie.storage.base import FileInfo


class GroupId(NamedTuple):
    """Key of a file group: file ids are unique in their partition only."""

    partition: str  # partition path relative to the base path, "" for a table without partitions
    file_id: str


class InGroup:
    """Part of one file group."""

    __slots__ = ()
    partition: str
    file_id: str

    @property
    def group(self) -> GroupId:
        return GroupId(self.partition, self.file_id)


@dataclass(frozen=True, slots=True)
class SourceRows:
    """The file of a bootstrapped table's source that holds the data columns of a skeleton file (format notes, section 10)."""

    uri: str  # absolute, as the bootstrap index names it
    size: int  # in bytes, when the table was bootstrapped
    modified_ms: int  # since 1970, when the table was bootstrapped; 0: not known
    values: tuple[tuple[str, str | None], ...] = ()  # partition columns as the source's folders give them, in text


@dataclass(frozen=True, slots=True)
class BaseFile(InGroup):
    """One version of a file group: a Parquet file that a commit wrote."""

    partition: str  # partition path relative to the base path, "" for a table without partitions
    file_id: str
    instant: Time  # requested time of the commit that wrote it
    info: FileInfo
    source: SourceRows | None = None  # set for a skeleton, which holds meta columns only

    @property
    def path(self) -> str:
        return self.info.path

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def size(self) -> int:
        return self.info.size


@dataclass(frozen=True, slots=True)
class LogFile(InGroup):
    """A log file, as found; which slice it belongs to is the view's business. CDC files are logs too."""

    partition: str
    file_id: str
    time: Time
    version: int
    is_cdc: bool
    info: FileInfo
    foreign: frozenset[Time] = frozenset()  # commits that did not write it: a lost attempt has left their blocks in it

    @property
    def path(self) -> str:
        return self.info.path


@dataclass(frozen=True, slots=True)
class FileSlice(InGroup):
    """A base file and the log files that came after it."""

    partition: str
    file_id: str
    base_instant: Time
    base_file: BaseFile | None
    log_files: tuple[LogFile, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the base file and all logs."""
        base = self.base_file.size if self.base_file else 0
        return base + sum(log.info.size for log in self.log_files)

    @property
    def files(self) -> tuple[BaseFile | LogFile, ...]:
        """The base file, if there is one, then the logs."""
        return (*((self.base_file,) if self.base_file else ()), *self.log_files)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)


@dataclass(frozen=True, slots=True)
class FileGroup(InGroup):
    """All committed slices that share a file id in a partition, newest first."""

    partition: str
    file_id: str
    slices: tuple[FileSlice, ...]


def instant_of(file: BaseFile | LogFile) -> Time:
    """Return the instant in the name of a data file: that of its write, or that of its slice for a log of version 6."""
    return file.instant if isinstance(file, BaseFile) else file.time
