"""`make release` refuses a commit whose tag is not its version."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hudi_services.runtime.folders import PROJECT

pytestmark = pytest.mark.process
FILES = ("requirements/check_tag.py", "plugins/hoodie/__init__.py", "CHANGELOG.md")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository of one commit with the files that a release is judged by, and a changelog with a section for the version."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def verdict(folder: Path) -> str:
    done = subprocess.run(["python3", FILES[0]], cwd=folder, capture_output=True, text=True, check=False)
    assert bool(done.stderr) == bool(done.returncode)
    return done.stderr


def test_only_a_clean_tree_whose_tag_is_the_version_is_released(tree: Path) -> None:
    version = re.search(r'__version__ = "(.+)"', (tree / FILES[1]).read_text())[1]
    assert f"The version is {version}, but this commit has no tag. Fix: git tag v{version}" in verdict(tree)
    git(tree, "tag", "v9.9.9")
    assert "this commit has v9.9.9" in verdict(tree)
    git(tree, "tag", f"v{version}")
    assert verdict(tree) == ""
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
    assert "not committed" in verdict(tree)
    git(tree, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "second")
    git(tree, "tag", "-f", f"v{version}")
    assert f"CHANGELOG.md has no section [{version}]" in verdict(tree)
