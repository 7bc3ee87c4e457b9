"""Refuse to release a commit whose tag is not its version, or a tree with changes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def git(*arguments: str) -> str:
    """Return what Git prints, or nothing where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def fault() -> str | None:
    """Return why this tree cannot be released, and the command that helps. None: it can."""
    version = re.search(r'^__version__ = "(.+)"$', (ROOT / "plugins/hoodie/__init__.py").read_text(), re.MULTILINE)
    tag = f"v{version[1] if version else ''}"
    if git("status", "--porcelain"):
        return "The tree has changes that are not committed. Fix: git commit, or git checkout ."
    tags = git("tag", "--points-at", "HEAD").split()
    if tag not in tags:
        named = ", ".join(tags) or "no tag"
        return f"The version is {tag[1:]}, but this commit has {named}. Fix: git tag {tag}"
    if f"## [{tag[1:]}]" not in (ROOT / "CHANGELOG.md").read_text():
        return f"CHANGELOG.md has no section [{tag[1:]}]. Fix: rename the section [Unreleased]"
    return None


if __name__ == "__main__":
    sys.exit(fault())
