"""Hudi's metadata table against what the storage lists and the timeline says: its readers list files by it alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hoodie.cache import cached_property
from hoodie.display import counted
from hoodie.doctor import catalogue, file_remedy
from hoodie.doctor.checks import files
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.errors import HoodieError
from hoodie.model.files import BaseFile, LogFile, instant_of
from hoodie.model.names import METADATA_TABLE, is_data_file
from hoodie.storage import FileInfo, join
from hoodie.timeline import WRITE_ACTIONS, Action
from hoodie.view.files import PartitionFiles, parse_partition, sizes_by_path
from hoodie.view.log_blocks import blocks_of, counting
from hoodie.view.metadata_table import FILES, MetadataListing
from hoodie.view.replaced_groups import replaced_groups
from hoodie.view.slices import groups_without, latest_slices

_FIX = (
    "run `hudi-services doctor --fix`, or any change of the table by this library: the metadata table is switched off, and "
    "Hudi's next write makes it again"
)
_NO_HURRY = (
    "nothing for current rows; the metadata table is made again after the next change of the table by this library"
)


def metadata_table(facts: Facts) -> Iterator[Finding]:
    """Check that it can be read, knows the last commits, and names the files that exist, with their sizes. A metadata table
    that readers do not use is not checked."""
    listing = facts.metadata
    if FILES not in facts.state.properties.metadata_partitions:
        return
    if listing is None:
        yield catalogue.METADATA_GONE.finding(
            "hoodie.properties names a metadata table that is not there: readers of Hudi 1.x list the storage instead",
            _FIX,
            path=METADATA_TABLE,
        )
    elif isinstance(listing, HoodieError):
        yield catalogue.METADATA_UNREADABLE.finding(
            "the metadata table cannot be read, and Hudi's readers list files by it alone",
            _FIX,
            found=" ".join(str(listing.found or listing.what).split()),
            path=METADATA_TABLE,
        )
    else:
        yield from _behind(facts, listing)
        sides = _Sides(facts, listing)
        yield from _not_named(sides)
        yield from _not_there(sides)
        yield from _other_sizes(sides)


def _behind(facts: Facts, listing: MetadataListing) -> Iterator[Finding]:
    """Commits that it lacks: Hudi's writers add a commit to it first, and then to the timeline."""
    if listing.last is None:  # made from a listing, and nothing written since
        return
    later = [i for i in facts.state.timeline.completed(*WRITE_ACTIONS, Action.CLEAN) if i.time > listing.last]
    if later:
        yield catalogue.METADATA_BEHIND.finding(
            "the metadata table lacks the last instants of the table: readers miss their files",
            _FIX,
            found=f"it ends with {listing.last}; {counted(len(later), 'instant')} later, the last one {later[-1]}",
            path=METADATA_TABLE,
            instant=later[0].time,
        )


@dataclass(frozen=True)
class _Sides:
    """Files of both sides. Files that other checks report, or that do not count, are left out."""

    facts: Facts
    listing: MetadataListing

    @cached_property
    def named(self) -> list[PartitionFiles]:
        """Files of the metadata table, as a listing of the storage would give them. Invalid names are left out."""
        by_partition: defaultdict[str, list[FileInfo]] = defaultdict(list)
        columns = (self.listing.files[name].to_pylist() for name in ("partition", "name", "size"))
        for partition, name, size in zip(*columns, strict=True):
            by_partition[partition].append(FileInfo(join(partition, name), size, 0))
        return [parse_partition(partition, infos) for partition, infos in sorted(by_partition.items())]

    @cached_property
    def strange(self) -> list[str]:
        """Paths in the metadata table that lead elsewhere, or whose names are not those of data files."""
        pairs = zip(self.listing.files["partition"].to_pylist(), self.listing.files["name"].to_pylist(), strict=True)
        return sorted(f"{partition}/{name}" for partition, name in pairs if "/" in name or not is_data_file(name))

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        return sizes_by_path(self.named)

    @cached_property
    def current(self) -> frozenset[str]:
        """Paths of the slices that readers take for the newest, by either side. Hudi's take what the metadata table names."""
        state = self.facts.state
        named_slices = latest_slices(groups_without((), self.named, state), replaced_groups(state))
        return frozenset(path for file_slice in (*self.facts.slices, *named_slices) for path in file_slice.paths)

    @cached_property
    def elsewhere(self) -> frozenset[str | None]:
        """Paths that other checks report: lost files and files without an owner."""
        return frozenset(finding.path for check in (files.missing, files.orphans) for finding in check(self.facts))

    @cached_property
    def pending_deletes(self) -> frozenset[Action]:
        """Actions that have begun and delete files: they update the metadata table when they complete."""
        return frozenset(i.action for i in self.facts.state.timeline.pending)

    @cached_property
    def written(self) -> Mapping[str, int]:
        """Paths that commits of the active timeline name, and the largest size (bytes) that they say; 0 where they say none."""
        sizes: defaultdict[str, int] = defaultdict(int)
        for commit in self.facts.commits.values():
            for stat in commit.stats:
                sizes[stat.path] = max(sizes[stat.path], stat.file_size)
        return sizes

    @cached_property
    def cleaned(self) -> frozenset[str]:
        """Paths that completed cleans of the active timeline have removed."""
        state = self.facts.state
        cleans = [state.clean_result(i) for i in state.timeline.completed(Action.CLEAN)]
        return frozenset(
            join(part, name) for clean in cleans for part, names in clean.deleted.items() for name in names
        )

    def committed(self, file: BaseFile | LogFile) -> bool:
        time = instant_of(file)
        return time not in self.facts.torn and self.facts.state.timeline.is_committed(time)

    def holds_rows(self, file: BaseFile | LogFile) -> bool:
        """Return whether the file has committed rows. In version 6 the name of a log does not show it, nor whether it has more
        than the command block of a rollback."""
        if isinstance(file, BaseFile) or self.facts.state.layout.logs_tell_writer or file.path in self.written:
            return True
        try:
            return bool(counting(blocks_of(self.facts.storage, file), self.facts.state.timeline))
        except HoodieError:  # other checks report it
            return False


def _not_named(sides: _Sides) -> Iterator[Finding]:
    facts = sides.facts
    for group in facts.files:
        if not group.has_metafile and group.partition not in facts.written:
            continue
        lacking = [
            file
            for file in group.files
            if file.path not in sides.sizes
            and file.path not in sides.elsewhere
            and sides.committed(file)
            and sides.holds_rows(file)
        ]
        current = [file for file in lacking if file.path in sides.current]
        if current and group.partition not in sides.listing.partitions:
            yield _partition_not_named(facts, group.partition, current)
            continue
        for file in lacking:
            if file.path in sides.current:
                title = "the metadata table does not name a committed file: Hudi's readers miss its rows"
                yield _of_file(catalogue.METADATA_MISSING, file, title)
            else:
                title = "the metadata table does not name an older file that is there: queries of the past miss it"
                yield _of_file(catalogue.METADATA_OLD_FILE, file, title, remedy=_NO_HURRY)


def _partition_not_named(facts: Facts, partition: str, current: list[BaseFile | LogFile]) -> Finding:
    written = partition in facts.written
    return (catalogue.METADATA_PARTITION if written else catalogue.METADATA_UNKNOWN_PARTITION).finding(
        f"the metadata table does not name partition {partition!r}: Hudi's readers miss its rows"
        if written
        else f"neither the metadata table nor a commit of the timeline names partition {partition!r}: readers that list the "
        "storage have its rows, others do not",
        _FIX
        if written
        else "if it is a copy, move it out of the table; if it is the table's, make any change of the table",
        found=counted(len(current), "current file"),
        path=partition or ".",
        bytes=sum(file.info.size for file in current),
    )


def _not_there(sides: _Sides) -> Iterator[Finding]:
    """The metadata table may be the last that knows of a file, so only one that a clean has removed is held against it."""
    for path in sides.strange:
        yield catalogue.METADATA_EXTRA.finding(
            "the metadata table has names that no file of a table can have", _FIX, found="nothing was opened", path=path
        )
    if sides.pending_deletes & {Action.ROLLBACK, Action.RESTORE}:
        return
    partitions = {group.partition for group in sides.facts.files if group.files}
    for group in sides.named:
        missing = [
            file
            for file in group.files
            if file.path not in sides.facts.sizes and file.path not in sides.elsewhere and sides.committed(file)
        ]
        current = [file for file in missing if file.path in sides.current]
        unexplained = [file for file in current if file.path not in sides.cleaned] if current else []
        if unexplained and group.partition not in partitions:
            yield _missing(
                group.partition or ".",
                f"{counted(len(unexplained), 'current file')} of a partition of which nothing is left",
            )
        else:
            yield from (_missing(file.path, "a current file", file) for file in unexplained)
        for file in missing:
            if file.path in sides.current and file.path in sides.cleaned:
                title = "the metadata table names a file that a clean has removed: Hudi's readers fail"
                yield _of_file(catalogue.METADATA_EXTRA, file, title)
            elif file.path not in sides.current and Action.CLEAN not in sides.pending_deletes:
                title = "the metadata table names an older file that is not there: queries of the past fail"
                yield _of_file(catalogue.METADATA_OLD_FILE, file, title, remedy=_NO_HURRY)


def _missing(path: str, subject: str, file: BaseFile | LogFile | None = None) -> Finding:
    return catalogue.MISSING_FILE.finding(
        f"the metadata table names {subject}, which does not exist",
        "restore it from a copy of the table; the metadata table is switched off by the next change of the table, and then "
        "readers that list the storage take older rows for current",
        path=path,
        instant=instant_of(file) if file is not None else None,
        bytes=file.info.size if file is not None else 0,
    )


def _other_sizes(sides: _Sides) -> Iterator[Finding]:
    """If the commit, or nothing else, confirms the size in the metadata table, the file is wrong."""
    appended = not sides.facts.state.layout.logs_tell_writer and bool(sides.pending_deletes)
    resized = {file.path for file, _ in sides.facts.resized}
    for group in sides.named:
        for file in group.files:
            size = sides.facts.sizes.get(file.path)
            if size is None or size == file.info.size or not sides.committed(file) or file.path in resized:
                continue
            if appended and isinstance(file, LogFile) and size > file.info.size:
                continue  # in version 6 a write may append to a log of others, and adds the size when it completes
            detail = f"{size:,} bytes, where the metadata table says {file.info.size:,}"
            if sides.written.get(file.path) != size:
                yield catalogue.FILE_SIZE.finding(
                    "a file has not the size with which it was committed: it was cut short, or replaced",
                    file_remedy.copy(sides.facts, file.path),
                    found=detail,
                    path=file.path,
                    instant=instant_of(file),
                    bytes=size,
                )
            else:
                title = (
                    "a file has another size than the metadata table says: Hudi's readers read as many bytes as it says"
                )
                yield _of_file(catalogue.METADATA_SIZE, file, title, detail)


def _of_file(
    check: catalogue.Check, file: BaseFile | LogFile, title: str, detail: str | None = None, remedy: str = _FIX
) -> Finding:
    return check.finding(title, remedy, found=detail, path=file.path, instant=instant_of(file), bytes=file.info.size)
