"""Files of cleans that can be put back, and files that must stay where they are. Reads and lists, changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.errors import PendingInstantError, UndeleteError
from hoodie.model.names import LogFileName
from hoodie.model.time import Time
from hoodie.services.decision import Decision
from hoodie.services.stages import Item, Items, SetAside, StaysAside, Trash
from hoodie.storage.base import FileInfo
from hoodie.storage.content import same_content
from hoodie.timeline import WRITE_ACTIONS, Action
from hoodie.transaction.trash import TrashFolder, asides
from hoodie.view import TableState, TableView
from hoodie.view.files import PartitionFiles, parse_partition
from hoodie.view.slices import file_groups, latest_slices

_FOR_GOOD = (Action.ROLLBACK, Action.RESTORE)


@dataclass(frozen=True, slots=True)
class TrashFile:
    """A file that a clean has set aside: its path of before, and its size in bytes."""

    aside: TrashFolder
    path: str
    size: int

    @property
    def partition(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def place(self) -> str:
        """The path at which it is now."""
        return f"{self.aside.folder}/{self.path}"

    def item(self) -> Item:
        until = self.aside.until.isoformat()
        reason = f"set aside by clean {self.aside.clean} until {self.aside.until:%Y-%m-%d %H:%M} UTC"
        return Item(self.path, self.size, reason, {"clean": self.aside.clean, "until": until})


@dataclass(frozen=True, slots=True)
class UndeletePlan:
    """The files that are put back."""

    files: tuple[TrashFile, ...]


def decide_undelete(state: TableState, clean: Time | None, partitions: Collection[str]) -> Decision[UndeletePlan]:
    """The files that one clean set aside (None: all cleans), in these partitions (none named: in all), and that can be put back.

    Only what becomes an older slice again: a file that would change what the table holds now stays aside, and so does one
    whose commit was rolled back. Raises UndeleteError when nothing of that was set aside, PendingInstantError for a clean that is
    not complete.
    """
    _check_no_pending_clean(state)
    trash = _trash_files(state, clean, partitions)
    if not trash:
        return Decision(None, "nothing was set aside", stages=(Trash(()),))
    view = TableView(state, sorted({file.partition for file in trash}))
    stays = dict(_occupied(trash, view))
    stays.update(_taken_back(state, [file for file in trash if file not in stays]))
    while changing := _changing(view, [file for file in trash if file not in stays]):
        stays.update(changing)
    files = tuple(file for file in trash if file not in stays)
    size = sum(file.size for file in files)
    cleans = tuple(_of_clean(trash, clean_time) for clean_time in sorted({file.aside.clean for file in trash}))
    reason = f"{counted(len(cleans), 'clean')} set {counted(len(trash), 'file')} aside"
    return Decision(
        UndeletePlan(files) if files else None,
        reason if files else f"{reason}, and none can be put back",
        stages=(
            Trash(cleans),
            Items("put back", files, size, item=TrashFile.item),
            StaysAside(tuple((file.path, why) for file, why in stays.items())),
        ),
    )


def _check_no_pending_clean(state: TableState) -> None:
    pending = next((i for i in state.timeline.pending if i.action is Action.CLEAN), None)
    if pending is not None:
        raise PendingInstantError(
            f"Table {state.storage.base_path} cannot take files back: {state.where(pending)} is not complete",
            found="it may yet set files aside",
            fix="run `hudi-services clean`, which finishes it, and undelete then",
        )


def _trash_files(state: TableState, clean: Time | None, partitions: Collection[str]) -> list[TrashFile]:
    cleans = asides(state.storage)
    requested = [aside for aside in cleans if clean is None or aside.clean == clean]
    files = {
        aside.path_of(info): TrashFile(aside, aside.path_of(info), info.size)
        for aside in requested
        for info in aside.files(state.storage)
    }
    chosen = [file for _, file in sorted(files.items()) if not partitions or file.partition in partitions]
    if not chosen and (undone := next((i for i in state.timeline if i.time == clean and i.action in _FOR_GOOD), None)):
        raise UndeleteError(
            f"Files that {state.where(undone)} of table {state.storage.base_path} deleted cannot be put back",
            found=f"a {undone.action}, which deletes files for good; only cleans with a grace time set them aside",
            fix=f"see which files these were with `hudi-services show audit --instant {undone.time}`, and load their rows again",
        )
    if not chosen and (clean is not None or partitions):
        clean_times = ", ".join(aside.clean for aside in cleans) or "no clean"
        where = "" if not partitions else f" in {', '.join(sorted(partitions))}"
        raise UndeleteError(
            f"No such files were set aside{where} in table {state.storage.base_path}",
            found=f"{clean_times} has set files aside that are still there",
            fix="look at all of it with `hudi-services undelete --explain`",
        )
    return chosen


def _occupied(files: Iterable[TrashFile], view: TableView) -> Iterable[tuple[TrashFile, str]]:
    """A file that an undelete which was killed has left in both places has the same bytes."""
    present, storage = {info.path for group in view.files for info in _infos(group)}, view.state.storage
    for file in files:
        if file.path in present and not same_content(storage, file.place, file.path):
            yield file, "another file of that name is there"


def _taken_back(state: TableState, files: Sequence[TrashFile]) -> Mapping[TrashFile, str]:
    """Files of instants that are not complete any more. An instant that is older than the timeline has to be archived, if
    others of its time are: the archive shows which instants were rolled back before."""
    times = {file: _time(file) for file in files}
    old = {time for time in times.values() if not state.timeline.covers(time)}
    archived = [i.time for i in state.archive.instants() if i.action in WRITE_ACTIONS] if old else []
    first = min(archived, default=None)
    undone = {time for time in old if first is not None and time >= first and time not in set(archived)}
    undone |= {time for time in set(times.values()) - old if not state.timeline.is_committed(time)}
    return {file: f"commit {time} was taken back" for file, time in times.items() if time in undone}


def _time(file: TrashFile) -> Time:
    """The instant that wrote the file; for a log of version 6, that of its slice."""
    parsed = parse_partition(file.partition, [FileInfo(file.path, file.size, 0)])
    return parsed.base_files[0].instant if parsed.base_files else parsed.log_files[0].time


def _changing(view: TableView, trash_files: Sequence[TrashFile]) -> Mapping[TrashFile, str]:
    """Those that would be part of the table as it is now, or of no slice at all."""
    added: defaultdict[str, list[FileInfo]] = defaultdict(list)
    for file in trash_files:
        added[file.partition].append(FileInfo(file.path, file.size, 0))
    files = [
        parse_partition(file_group.partition, _infos(file_group, added[file_group.partition]))
        for file_group in view.files
    ]
    groups = file_groups(files, view.state)
    placed = {path for group in groups for file_slice in group.slices for path in file_slice.paths}
    now = {path for file_slice in latest_slices(groups, view.replaced) for path in file_slice.paths}
    current = {path for file_slice in view.slices for path in file_slice.paths}
    stays = {}
    for file in trash_files:
        log = LogFileName.parse(file.path.rpartition("/")[2])
        if file.path in now - current:
            stays[file] = "it would be part of the table as it is now"
        elif file.path not in placed and not (log is not None and log.is_cdc):
            stays[file] = "no slice would have it"
    return stays


def _infos(files: PartitionFiles, more: Iterable[FileInfo] = ()) -> list[FileInfo]:
    """The files of a partition, and more, each once."""
    result = {info.path: info for info in more}
    result.update((file.path, file.info) for file in files.base_files)
    result.update((file.path, file.info) for file in files.log_files)
    return list(result.values())


def _of_clean(trash_files: Sequence[TrashFile], clean: Time) -> SetAside:
    files = [file for file in trash_files if file.aside.clean == clean]
    partitions = len({file.partition for file in files})
    return SetAside(clean, files[0].aside.until.isoformat(), len(files), sum(file.size for file in files), partitions)
