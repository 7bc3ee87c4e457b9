"""Remedies for data files that are lost: a backup, a way back to before their commits, and the rows of the source."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from hoodie.doctor.facts import Facts
from hoodie.errors import HoodieError
from hoodie.model.commit import NO_PREVIOUS_COMMIT
from hoodie.model.time import Time
from hoodie.view.missing_files import ExpectedFile, absent_files, resized_files
from hoodie.view.replaced_groups import replaced_groups
from hoodie.view.slices import latest_slices

_LOOKED_AT = 20  # commits that may be whole
_LOAD = "then `hudi-services ingest`, which loads the source files again; repeat what other programs wrote since"
OVERWRITE = (
    "if the source still has all rows: "
    "`hudi-services ingest --reload --operation insert_overwrite --hoodie-conf hoodie.combine.before.insert=true`, "
    "which replaces each partition of its rows, so that rows from elsewhere are lost and deleted ones come back"
)


def copy(facts: Facts, path: str) -> str:
    """The remedy for this file by a copy of it, or by the newest savepoint without it."""
    times = [saved.instant for saved in facts.savepoints if path not in saved.paths]
    restore = f", or restore the table: `hudi-services restore --savepoint {max(times)}`" if times else ""
    return f"restore it from a copy of the table{restore}"


def move_back(facts: Facts, file: ExpectedFile, place: str) -> str:
    """The command that moves a file from `place` to where its commit wrote it, or its whole folder if nothing is there."""
    stats = facts.commits[file.instant.time].stats if file.instant.time in facts.commits else ()
    written = next((stat.file_size for stat in stats if stat.path == file.path), 0)
    if not file.is_log and written not in (0, facts.sizes[place]):
        return f"restore it from a backup: its commit wrote {written:,} bytes"
    folder = place.rpartition("/")[0]
    is_renamed = file.partition and folder and all(group.partition != file.partition for group in facts.files)
    old, new = (folder, file.partition) if is_renamed else (place, file.path)
    base_path = facts.storage.base_path
    if "://" in base_path:
        return f"move {old} back to {new}, with the client of the storage"
    old, new, parent = (shlex.quote(f"{base_path}/{path}") for path in (old, new, new.rpartition("/")[0]))
    return f"move it back: `mkdir -p {parent} && mv -T {old} {new}`"


def remedy(facts: Facts, lost: Sequence[ExpectedFile]) -> str:
    """The ways to repair a table without these files of its current slices: for all of them together."""
    ways = ["restore it from a backup", *_way_back(facts, lost), OVERWRITE]
    return ". Or, ".join(ways).replace(". Or, ", ". Without one, ", 1)


def _way_back(facts: Facts, lost: Sequence[ExpectedFile]) -> list[str]:
    """The commands that take the commits back which wrote the files, to the newest state before them that is whole; none if
    no such state is left."""
    commits = facts.state.timeline.commits
    first = min(file.instant.time for file in lost)
    before = [commit.time for commit in commits if commit.time < first]
    if commits[-1].time == first and (_is_whole_at(facts, before[-1]) if before else _began(facts, lost)):
        return [f"take its commit back: `hudi-services rollback --instant {first}`, {_LOAD}"]
    whole = next((time for time in reversed(before[-_LOOKED_AT:]) if _is_whole_at(facts, time)), None)
    return [way_to_before(whole)] if whole is not None else []


def way_to_before(commit: Time) -> str:
    """The commands that take the table back to this commit, and load what came after it."""
    return (
        "take the table back to before its commit: "
        f"`hudi-services savepoint create --instant {commit}`, `hudi-services restore --savepoint {commit}`, {_LOAD}. "
        f"Once the table is right, `hudi-services savepoint delete --instant {commit}`, as the savepoint keeps its files "
        "from cleans"
    )


def _is_whole_at(facts: Facts, commit: Time) -> bool:
    """True if each file of the table as of this commit is there, and has the size that its commit says."""
    state = facts.state
    try:
        slices = latest_slices(facts.groups, replaced_groups(state, commit), as_of=commit)
        return not absent_files(state, slices, as_of=commit) and not resized_files(state, slices, as_of=commit)
    except HoodieError:  # a clean has begun to remove them, or a commit is torn
        return False


def _began(facts: Facts, lost: Sequence[ExpectedFile]) -> bool:
    """True if their commits began the file groups: without these, nothing is lacking."""
    for file in lost:
        commit = facts.commits.get(file.instant.time)
        stats = commit.stats if commit is not None else ()
        if not any(stat.path == file.path and stat.prev_commit == NO_PREVIOUS_COMMIT for stat in stats):
            return False
    return True
