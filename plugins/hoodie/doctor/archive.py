"""Checks that read the bodies of archived commits."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.doctor.checks.files import holds_others, uncommitted
from hoodie.doctor.facts import Facts
from hoodie.doctor.finding import Finding
from hoodie.model.files import BaseFile, LogFile
from hoodie.view.strays import archived_strays


def strays(facts: Facts) -> Iterator[Finding]:
    """Data files of archived commits that do not name them. Another archiver has not looked for them: readers see their rows."""
    files = [each for each in facts.files if each.has_metafile]
    for file in archived_strays(files, facts.state):
        if not (isinstance(file, LogFile) and holds_others(facts, file)):
            yield uncommitted(file, file.instant if isinstance(file, BaseFile) else file.time)
