"""Data files: those that should be there, and those that should not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from hoodie.config.properties.store import way_from_source
from hoodie.display import counted
from hoodie.doctor import catalogue, file_remedy
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.errors import CorruptTableError, MissingFileError
from hoodie.formats.log import scan_blocks
from hoodie.model.files import BaseFile, GroupId, LogFile, instant_of
from hoodie.model.names import FULL_BOOTSTRAP, METADATA_BOOTSTRAP, PARTITION_METAFILE
from hoodie.model.time import Time
from hoodie.read.incremental import time_in_range
from hoodie.storage import join
from hoodie.timeline import Action, Instant
from hoodie.timeline.codecs.commit_files import written_by
from hoodie.view.attempts import lost_by, with_foreign
from hoodie.view.files import partitions_above
from hoodie.view.missing_files import ExpectedFile, absent_files, archived_partitions, refuse_external
from hoodie.view.rollback_files import rolled_back_files
from hoodie.view.timeline_check import is_written_name

_BOOTSTRAPS = frozenset({METADATA_BOOTSTRAP, FULL_BOOTSTRAP})


def missing(facts: Facts) -> Iterator[Finding]:
    """Missing files of current slices, of pending plans, and of savepoints. Raises UnsupportedTableError for files that Hudi
    did not write."""
    absent = absent_files(facts.state, facts.slices)
    refuse_external(facts.state, absent)
    elsewhere = {lost: path for path, lost in facts.namesakes.items()}
    lost = [file for file in facts.lost if file.path not in elsewhere]
    result = {file.path: of_commit(file, file_remedy.remedy(facts, lost)) for file in lost}
    for file in facts.lost:
        if file.path in elsewhere:
            place = elsewhere[file.path]
            finding = of_commit(file, file_remedy.move_back(facts, file, place))
            result[file.path] = replace(
                finding, found=f"a file of its name with {facts.sizes[place]:,} bytes is at {place}"
            )
    planned = {plan: [path for path in paths if path not in facts.sizes] for plan, paths in facts.plans.items()}
    undone = rolled_back_files(facts.state) if any(planned.values()) else frozenset[str]()
    for plan, paths in planned.items():
        for path in (path for path in paths if path not in undone):  # a compaction leaves those out
            why = f"the plan of {plan.action} {plan.time} is to read"
            result.setdefault(path, _missing(path, plan.time, why, file_remedy.copy(facts, path)))
    for saved in facts.savepoints:
        for path in saved.paths:
            remedy = (
                "restore it from a copy of the table: without it the savepoint cannot be restored; if the savepoint is not "
                f"needed, `hudi-services savepoint delete --instant {saved.instant}`"
            )
            result.setdefault(path, _missing(path, saved.instant, f"savepoint {saved.instant} keeps", remedy))
    return (finding for path, finding in result.items() if path not in facts.sizes)


def of_commit(file: ExpectedFile, remedy: str) -> Finding:
    """The finding of a file of a commit that is gone."""
    return _missing(file.path, file.instant.time, f"{file.instant.action} {file.instant.time} wrote", remedy)


def _missing(path: str, time: Time, why: str, remedy: str) -> Finding:
    return catalogue.MISSING_FILE.finding(f"a file is missing that {why}", remedy, path=path, instant=time)


def sizes(facts: Facts) -> Iterator[Finding]:
    """Files of current slices that have another size than their commit says."""
    remedy = file_remedy.remedy(facts, [file for file, _ in facts.resized]) if facts.resized else ""
    for file, size in facts.resized:
        yield wrong_size(file, size, "reads, and writes to its file group, fail", remedy)


def wrong_size(file: ExpectedFile, size: int, effect: str, remedy: str) -> Finding:
    """The finding of a file that has `size` bytes, not those that its commit says, which has this effect."""
    fault = "a file was cut short" if size < file.size else "a base file was replaced"
    return catalogue.FILE_SIZE.finding(
        f"{fault}: {effect}",
        remedy,
        found=f"{size:,} bytes, where {file.instant.action} {file.instant.time} wrote {file.size:,}",
        path=file.path,
        instant=file.instant.time,
        bytes=size,
    )


def folders(facts: Facts) -> Iterator[Finding]:
    """Partitions that readers do not find, as the file is lost that marks them."""
    marked = {group.partition for group in facts.files if group.has_metafile}
    unmarked = [group for group in facts.files if not group.has_metafile and group.partition not in facts.written]
    archived: set[str] = set()
    with suppress(CorruptTableError, MissingFileError):  # other checks report an archive that cannot be read
        archived = {file.partition for file in archived_partitions(facts.state, unmarked)}
    for group in facts.files:
        if group.has_metafile:
            continue
        path = join(group.partition, PARTITION_METAFILE)
        size = sum(file.info.size for file in group.files)
        if group.partition in facts.written or group.partition in archived:
            yield catalogue.PARTITION_METAFILE.finding(
                f"partition {group.partition!r} is not found by listing: {PARTITION_METAFILE} is missing",
                "run `hudi-services doctor --fix`, which writes it",
                path=path,
                bytes=size,
            )
        elif "" not in marked and marked.isdisjoint(partitions_above(group.partition)):
            yield catalogue.UNMARKED_FOLDER.finding(
                f"folder {group.partition!r} holds files that are named like a table's, and no commit names it",
                f"if it is a partition, write {PARTITION_METAFILE} into it; if it is a copy, move it out of the table",
                path=path,
                bytes=size,
            )


def orphans(facts: Facts) -> Iterator[Finding]:
    """Files of no completed and no pending instant, and those of a completed one that it does not name.

    An instant before the active timeline was archived: its files are the table's. In version 6 a log that a commit wrote may
    carry the instant of a planned compaction: without that plan no reader reads it. Without any instant the timeline itself is
    lost, and no file is called an orphan, as `--fix` would move the whole table aside.
    """
    committed = {path for commit in facts.commits.values() for stat in commit.stats for path in stat.paths}
    timeline, logs_tell = facts.state.timeline, facts.state.layout.logs_tell_writer
    living = {i.time for i in timeline} | facts.torn | {time for time in facts.marked if facts.beats.alive(time)}
    living |= {time for time in facts.beats.ages if facts.beats.alive(time)}
    named = {
        time: {join(partition, name) for partition, names in written_by(commit, time).items() for name in names}
        for time, commit in facts.commits.items()
        if commit.stats and time not in facts.marked and time not in _BOOTSTRAPS
    }
    if not living and not timeline.instants:
        yield from _lost_timeline(facts)
        return
    first = timeline.commits[0].time if timeline.commits else None
    renamed = {path.rpartition("/")[0] for path in facts.namesakes}
    for group in with_foreign(facts.files, facts.state):
        if not group.has_metafile and group.partition not in facts.written:
            continue
        for file in group.files:
            time = instant_of(file)
            if time not in living and not timeline.is_committed(time):
                if file.path in committed:
                    yield _unread(file, time)
                else:
                    yield _rolled_back(file, time) if first is not None and time < first else _orphan(file, time)
            elif (
                time in named
                and file.path not in named[time]
                and _tells_writer(file, logs_tell=logs_tell)
                and not (isinstance(file, LogFile) and holds_others(facts, file))
            ):
                if group.partition not in renamed:  # perhaps the only copy of files that are missing elsewhere
                    yield uncommitted(file, time)
            elif isinstance(file, LogFile) and (lost_instants := lost_by(facts.storage, file)):
                yield uncommitted(file, max(lost_instants))


def _lost_timeline(facts: Facts) -> Iterator[Finding]:
    files = [file for group in facts.files for file in group.files if is_written_name(file.info.name)]
    if files:
        yield catalogue.LOST_TIMELINE.finding(
            "the timeline has no instant, though the table has data files: it is neither read nor written, and Hudi's readers "
            "see no rows",
            "restore the files of this folder from a copy of the table before anything is written to it. "
            f"{way_from_source(facts.storage.base_path)}",
            found=counted(len(files), "data file"),
            path=facts.state.layout.folder,
            bytes=sum(file.info.size for file in files),
        )


def replaced(facts: Facts) -> Iterator[Finding]:
    """Files that a commit wrote to a file group that a replacement had taken out before: no reader opens them.

    Hudi's writers of buckets do so after an insert_overwrite or a delete_partition, and beside one (apache/hudi#19791, #19793).
    """
    state = facts.state
    first: dict[GroupId, Instant] = {}
    for instant in state.timeline.completed(Action.REPLACE_COMMIT):
        if (body := facts.commits.get(instant.time)) is not None:
            for group in body.replaced_groups:
                first.setdefault(group, instant)
    for commit in state.timeline.commits if first else ():
        body = facts.commits.get(commit.time)
        if body is None or body.moves_rows:
            continue
        for stat in body.stats:
            replacer = first.get(GroupId(stat.partition, stat.file_id))
            if replacer is not None and time_in_range(state, commit) >= time_in_range(state, replacer):
                yield from (_replaced(path, facts, commit, replacer) for path in stat.paths if path in facts.sizes)


def _replaced(path: str, facts: Facts, commit: Instant, replacer: Instant) -> Finding:
    return catalogue.REPLACED_GROUP.finding(
        f"rows that {commit.action} {commit.time} wrote are not read: "
        f"{replacer.action} {replacer.time} had replaced their file group",
        "write these rows again from their source, by another writer than the one that made this file",
        path=path,
        instant=commit.time,
        bytes=facts.sizes[path],
    )


def _tells_writer(file: BaseFile | LogFile, *, logs_tell: bool) -> bool:
    """Return whether the name of a file has the instant that wrote it, so that its commit has the file among its stats."""
    return isinstance(file, BaseFile) or (logs_tell and not file.is_cdc)


def holds_others(facts: Facts, log: LogFile) -> bool:
    """Return whether the log has blocks of other completed commits: in an upgraded table a log may be named as in version 6."""
    try:
        instants = {block.instant for block in scan_blocks(facts.state.storage, log.path)}
    except (CorruptTableError, MissingFileError):
        return False
    return any(
        instant and instant != log.time and facts.state.timeline.is_committed(Time(instant)) for instant in instants
    )


def _orphan(file: BaseFile | LogFile, time: Time) -> Finding:
    return catalogue.ORPHAN.finding(
        f"a file of instant {time}, which is not on the timeline: no reader sees it, no service removes it",
        "run `hudi-services doctor --fix`, which moves it aside",
        path=file.path,
        instant=time,
        bytes=file.info.size,
    )


def _rolled_back(file: BaseFile | LogFile, time: Time) -> Finding:
    return catalogue.UNCOMMITTED_FILE.finding(
        f"a file of instant {time}, which was rolled back: Hudi's readers take it for a file of an archived commit",
        "run `hudi-services doctor --fix`, which moves it aside",
        path=file.path,
        instant=time,
        bytes=file.info.size,
    )


def _unread(file: BaseFile | LogFile, time: Time) -> Finding:
    return catalogue.UNREAD_FILE.finding(
        f"a completed commit wrote this file, and instant {time} in its name is not on the timeline: no reader sees its rows",
        "restore the files of that instant in the timeline from a copy; until then move nothing else of the table",
        path=file.path,
        instant=time,
        bytes=file.info.size,
    )


def uncommitted(file: BaseFile | LogFile, time: Time) -> Finding:
    """The finding of a file that the completed instant in its name does not name."""
    return catalogue.UNCOMMITTED_FILE.finding(
        f"a file of instant {time}, which completed and does not name it: Hudi's readers may take it for the table's",
        "run `hudi-services doctor --fix`, which moves it aside",
        path=file.path,
        instant=time,
        bytes=file.info.size,
    )
