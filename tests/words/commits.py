"""Subjects of commits: short, and one change each."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

LONGEST = 72  # characters of a subject
BASE = "d1854b0"  # the first commits that are checked come after this one


def faults(subject: str) -> Iterator[str]:
    """The faults of a subject."""
    if len(subject) > LONGEST:
        yield f"{len(subject)} characters: write at most {LONGEST}, and the why into the body"
    if ";" in subject:
        yield 'a ";" joins two changes: name one, and commit the other by itself'


def subject_of(message: str) -> str:
    """The first line of a commit message that is no comment."""
    return next((line.strip() for line in message.splitlines() if line.strip() and not line.startswith("#")), "")


def subjects(root: Path) -> dict[str, str] | None:
    """Id and subject of each commit since the base; None where the base is not there, as in an archive of the sources."""
    command = ["git", "-C", str(root), "log", "--no-merges", "--format=%h %s", f"{BASE}..HEAD"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        return None
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in result.stdout.splitlines()}


def added_lines(root: Path, path: str, since: Path) -> set[int]:
    """Numbers of the lines of a file that are newer than the last commit of another file."""
    last = _git(root, "log", "-1", "--format=%h", "--", str(since)).strip()
    added = set[int]()
    for line in _git(root, "diff", "-U0", last or "HEAD", "--", path).splitlines():
        if line.startswith("@@"):
            first, _, count = line.split(" ")[2].removeprefix("+").partition(",")
            added.update(range(int(first), int(first) + int(count or 1)))
    return added


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False).stdout
