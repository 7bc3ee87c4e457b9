"""Completed commits that build on files of an instant which is not complete."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hoodie.doctor import catalogue
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.doctor.instant_remedy import way_before
from hoodie.model.files import BaseFile, GroupId, LogFile, instant_of
from hoodie.model.names import BaseFileName
from hoodie.model.time import Time
from hoodie.timeline import Action, Instant
from hoodie.view.rollback_files import rollback_results, rolled_back_files


def built_on(facts: Facts) -> Iterator[Finding]:
    """Commits that add to a file of an instant that neither completed nor was archived.

    Its files are rolled back, or will be. Rows that it had replaced are read beside those that a base file took over from it, and
    logs have lost the rows below them. A base file on one of a write that replaced nothing has all rows, so that it is right.
    A torn instant has a finding of its own.
    """
    groups: dict[GroupId, list[BaseFile | LogFile]] = {}
    for folder in facts.files:
        for file in folder.files:
            groups.setdefault(GroupId(folder.partition, file.file_id), []).append(file)
    undone = _undone(facts, groups)
    overwritten = {id for body in facts.commits.values() if not body.moves_rows for id in body.replaced_groups}
    first: dict[tuple[Time, bool], tuple[Instant, str]] = {}
    for commit in facts.state.timeline.commits:
        for stat in facts.commits[commit.time].stats if commit.time in facts.commits else ():
            if stat.group in overwritten:
                continue
            bases: Collection[Time]
            if stat.log is None:
                bases = {Time(stat.prev_commit)} - {commit.time}
            else:
                bases = _bases(facts, commit, groups.get(stat.group, ()), undone.get(stat.group, ()))
            for time in bases:
                if _is_incomplete(facts, time):
                    first.setdefault((time, stat.log is None), (commit, stat.path))
    updates = _updates(facts) if first else frozenset[Time]()
    result = {time: at for (time, is_base), at in first.items() if not is_base or time not in updates}
    for time, (commit, path) in result.items():
        yield catalogue.INCOMPLETE_BASE.finding(
            f"{commit.action} {commit.time} builds on {time}, which is not complete: rows are there twice, or lacking",
            f"put the completed file of {time} back into the timeline from a copy of the table, unless it was rolled back. "
            f"Without one: {way_before(facts, time)}",
            path=path,
            instant=commit.time,
        )


def _bases(
    facts: Facts, commit: Instant, files: Sequence[BaseFile | LogFile], undone: Collection[Time]
) -> Collection[Time]:
    """The instants of the base files that a log may add to, if no complete file is before it.

    A stat of a log may name its own commit, or a compaction that was given up later, so that it does not count.
    """
    before = {instant_of(file) for file in files if instant_of(file) < commit.time}
    if any(facts.state.timeline.is_committed(time) for time in before):
        return ()
    present = {file.instant for file in files if isinstance(file, BaseFile)}
    return {time for time in {*present, *undone} if time < commit.time}


def _undone(facts: Facts, groups: Mapping[GroupId, Sequence[BaseFile | LogFile]]) -> Mapping[GroupId, set[Time]]:
    """The instants of base files that rollbacks deleted, of file groups that have only logs."""
    only_logs = {id for id, files in groups.items() if not any(isinstance(file, BaseFile) for file in files)}
    result: dict[GroupId, set[Time]] = {}
    for path in rolled_back_files(facts.state) if only_logs else ():
        partition, _, name = path.rpartition("/")
        base = BaseFileName.parse(name)
        if base is not None and GroupId(partition, base.file_id) in only_logs:
            result.setdefault(GroupId(partition, base.file_id), set()).add(base.instant)
    return result


def _updates(facts: Facts) -> frozenset[Time]:
    """Writes that replaced no file group, and are pending or rolled back."""
    pending = {i.time for i in facts.state.timeline.pending if i.action is not Action.REPLACE_COMMIT}
    undone = {result.instant for result in rollback_results(facts.state) if result.action != Action.REPLACE_COMMIT}
    return frozenset(pending | undone)


def _is_incomplete(facts: Facts, time: Time) -> bool:
    """True for an instant that did not complete, and that no plan can complete."""
    if not time.isdigit() or time in facts.torn or any(plan.time == time for plan in facts.plans):
        return False
    return not facts.state.timeline.is_committed(time)
