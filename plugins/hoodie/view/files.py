"""Finding partitions and the data files in them, by listing (format notes, sections 4.1 to 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Protocol

from hoodie.engine.threads import map_on_threads
from hoodie.model.files import BaseFile, LogFile
from hoodie.model.names import PARTITION_METAFILE, BaseFileName, LogFileName
from hoodie.storage.base import FileInfo, Storage, join, list_whole

_LISTERS = 16  # listings wait for the store, not for this machine


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """The data files of one partition, committed or not."""

    partition: str
    base_files: tuple[BaseFile, ...]
    log_files: tuple[LogFile, ...]
    has_metafile: bool

    def without(self, paths: Collection[str]) -> PartitionFiles:
        """The other files."""
        bases = tuple(file for file in self.base_files if file.path not in paths)
        return replace(self, base_files=bases, log_files=tuple(log for log in self.log_files if log.path not in paths))

    @property
    def files(self) -> tuple[BaseFile | LogFile, ...]:
        """The base files, then the logs."""
        return (*self.base_files, *self.log_files)


def sizes_by_path(partitions: Iterable[PartitionFiles]) -> dict[str, int]:
    """Size in bytes of every data file."""
    result = list(partitions)
    sizes = {file.path: file.info.size for group in result for file in group.base_files}
    return sizes | {file.path: file.info.size for group in result for file in group.log_files}


class Choice(Protocol):
    """Choice of partitions by their paths."""

    def folders(self, paths: Sequence[str]) -> list[str]:
        """Those in or below which a wanted partition may be."""
        ...

    def partitions(self, paths: Sequence[str]) -> list[str]:
        """Those that are wanted."""
        ...


@dataclass(frozen=True, slots=True)
class ChosenFiles:
    """The data files of the wanted partitions, sorted by path, and the folders that were left out: of a partition, or of all
    partitions below. `unmarked` are wanted folders with data files and without a metafile: readers pass them over."""

    files: tuple[PartitionFiles, ...]
    left_out: tuple[str, ...]
    unmarked: tuple[PartitionFiles, ...] = ()


@dataclass(frozen=True, slots=True)
class StorageFiles:
    """Listing of a table's storage. Other listings of a table have the same methods."""

    storage: Storage

    def partitions(self) -> list[str]:
        """Relative paths of all partitions, sorted: the folders with a partition metafile. `""` is a table without partitions.

        Partitions may lie below each other: Hudi writes `a` and `a/b` if values hold slashes and are not url-encoded, and finds
        both by its metadata table (by listing alone it leaves out `a/b`). A table inside the table's folder is not one of its
        partitions.
        """
        return sorted(folder for folder, _ in _walk(self.storage))

    def partitions_below(self, partition: str) -> list[str]:
        """The partitions inside the folder of another, sorted. One listing where that has no folders in it."""
        return sorted(folder for folder, _ in _walk(self.storage, partition) if folder != partition)

    def all(self) -> list[PartitionFiles]:
        """The data files of all partitions, sorted by path, with no listing more than `partitions` needs."""
        result = [parse_partition(folder, files) for folder, files in _walk(self.storage)]
        return sorted(result, key=lambda file: file.partition)

    def of(self, partitions: Sequence[str]) -> list[PartitionFiles]:
        """The data files of each partition, one listing a partition."""
        listings = map_on_threads(partial(list_whole, self.storage), partitions, _LISTERS)
        return [parse_partition(path, listing.files) for path, listing in zip(partitions, listings, strict=True)]

    def chosen(self, choice: Choice | None, partitions: Sequence[str] | None = None) -> ChosenFiles:
        """The data files of the wanted partitions, of all or of the named ones. Folders that hold no wanted one are not
        listed. Without a choice each is wanted."""
        if partitions is not None:
            chosen = partitions if choice is None else choice.partitions(partitions)
            others = tuple(sorted(set(partitions).difference(chosen)))
            return ChosenFiles(tuple(self.of(chosen)), others)
        left_out: list[str] = []
        choose = tuple if choice is None else partial(_chosen_folders, choice, left_out)
        unmarked: dict[str, Sequence[FileInfo]] = {}
        result = dict(_walk(self.storage, choose=choose, unmarked=unmarked))
        marked_here, unmarked_here = sorted(result), sorted(unmarked)
        if choice is not None:
            marked_here, unmarked_here = choice.partitions(marked_here), choice.partitions(unmarked_here)
        left_out.extend(set(result).difference(marked_here))
        folders = (parse_partition(path, unmarked[path]) for path in unmarked_here)
        return ChosenFiles(
            tuple(parse_partition(path, result[path]) for path in marked_here),
            tuple(sorted(left_out)),
            tuple(folder for folder in folders if folder.files),
        )


def partitions_above(partition: str) -> list[str]:
    """The folders between the table and a partition, the topmost first."""
    return list(accumulate(partition.split("/")[:-1], join))


def _chosen_folders(choice: Choice, left_out: list[str], folders: Sequence[str]) -> list[str]:
    chosen = choice.folders(folders)
    left_out.extend(set(folders).difference(chosen))
    return chosen


def parse_partition(partition: str, files: Iterable[FileInfo]) -> PartitionFiles:
    """Sort the files of a partition's folder into base and log files; anything else is passed over."""
    base_files: list[BaseFile] = []
    log_files: list[LogFile] = []
    has_metafile = False
    for info in files:
        name = info.name
        if (base := BaseFileName.parse(name)) is not None:
            base_files.append(BaseFile(partition, base.file_id, base.instant, info))
        elif (log := LogFileName.parse(name)) is not None:
            log_files.append(LogFile(partition, log.file_id, log.time, log.version, log.is_cdc, info))
        elif name.startswith(PARTITION_METAFILE):
            has_metafile = True
    return PartitionFiles(partition, tuple(base_files), tuple(log_files), has_metafile)


def _walk(
    storage: Storage,
    root: str = "",
    choose: Callable[[Sequence[str]], Sequence[str]] = tuple,
    unmarked: dict[str, Sequence[FileInfo]] | None = None,
) -> Iterator[tuple[str, Sequence[FileInfo]]]:
    """The partitions with their files, level by level; `choose` are those of a level's folders that are looked into. `unmarked`
    gets the folders without a metafile that have files."""
    level: Sequence[str] = [root]
    while level:
        below: list[str] = []
        for folder, listing in zip(level, map_on_threads(partial(list_whole, storage), level, _LISTERS), strict=True):
            if folder and f"{folder}/.hoodie" in listing.folders:
                continue
            if any(file.name.startswith(PARTITION_METAFILE) for file in listing.files):
                yield folder, listing.files
                if not folder:
                    return
            elif unmarked is not None and listing.files:
                unmarked[folder] = listing.files
            below.extend(sub for sub in listing.folders if sub != ".hoodie")
        level = choose(below)
