"""A table whose archived timeline is lost: it has files of commits from before the active timeline, and no archived commit."""

from __future__ import annotations

from hoodie.errors import CorruptTableError
from hoodie.model.files import instant_of
from hoodie.model.time import BEGINNING, Time
from hoodie.timeline.archive.base import SEARCH_ON
from hoodie.view.state import TableState


def refuse_lost_archive(state: TableState, after: Time) -> None:
    """Raises CorruptTableError where commits after this time were archived, and the archive has none: a read of their range would
    miss them.

    Costs nothing if the time is on the active timeline. Otherwise it costs a look at the archive. If the archive is empty, as in
    a young table, it also costs a listing of the table.
    """
    first = state.timeline.commits[0].time if state.timeline.commits else after
    if first <= after or state.archive.reaches(BEGINNING):
        return
    trace = _older_base(state, first) or _older_file(state, first)
    if trace is not None:
        raise CorruptTableError(
            f"The archived timeline of table {state.storage.base_path} is lost",
            found=f"no commit in {state.layout.archive_folder}, and {trace}, from before the first commit {first}",
            fix=SEARCH_ON,
        )


def _older_base(state: TableState, first: Time) -> str | None:
    """Return a base file that the first commit wrote over."""
    for stat in state.commit_metadata(state.timeline.commits[0]).stats:
        if stat.prev_commit.isdigit() and stat.prev_commit < first:
            return f"a version {stat.prev_commit} of {stat.path}"
    return None


def _older_file(state: TableState, first: Time) -> str | None:
    for group in state.files.all():
        for file in group.files:
            time = instant_of(file)
            if time < first and state.timeline.is_committed(time):
                return file.path
    return None
