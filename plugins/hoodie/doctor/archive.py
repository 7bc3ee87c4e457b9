"""Checks that read the bodies of archived commits."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.doctor import file_remedy
from hoodie.doctor.checks.files import holds_others, of_commit, uncommitted, wrong_size
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.model.files import LogFile, instant_of
from hoodie.model.time import Time
from hoodie.timeline import WRITE_ACTIONS
from hoodie.timeline.codecs.commit_files import written_by
from hoodie.view.archive_files import absent_archived
from hoodie.view.missing_files import resized
from hoodie.view.strays import archived_strays


def strays(facts: Facts) -> Iterator[Finding]:
    """Data files of archived commits that do not name them. Another archiver has not looked for them: readers see their rows."""
    files = [group for group in facts.files if group.has_metafile]
    for file in archived_strays(files, facts.state):
        if not (isinstance(file, LogFile) and holds_others(facts, file)):
            yield uncommitted(file, instant_of(file))


def missing(facts: Facts) -> Iterator[Finding]:
    """Files of current slices that an archived commit wrote, and that are gone. Reads of now do not miss these."""
    for file in absent_archived(facts.state, facts.slices):
        if file.path not in facts.sizes:
            yield of_commit(file, file_remedy.copy(facts, file.path))


def sizes(facts: Facts) -> Iterator[Finding]:
    """Files of current slices that have another size than their archived commit says. Reads do not compare these."""
    timeline, archive = facts.state.timeline, facts.state.archive
    earliest = min((file_slice.base_instant for file_slice in facts.slices), default=None)
    if earliest is None or timeline.covers(earliest):
        return
    before = Time.of(earliest[:-1])  # text that is less than any time which begins with it
    commits = [instant for instant in archive.instants(before) if instant.action in WRITE_ACTIONS]
    bodies = ((commit, written_by(archive.commit_metadata(commit), commit.time)) for commit in commits)
    for file, size in resized(facts.state, facts.slices, bodies):
        yield wrong_size(
            file,
            size,
            "readers pass over what is not a whole block of a log, and fail at a base file",
            file_remedy.copy(facts, file.path),
        )
