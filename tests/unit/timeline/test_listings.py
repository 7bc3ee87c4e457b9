"""A listing that an archiver has come into shows no gap."""

from __future__ import annotations

import os

from hoodie.storage import LocalStorage
from hoodie.timeline import load_timeline, timeline
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


def test_a_listing_of_several_pages_is_made_again_when_its_oldest_commit_is_gone(tmp_path, monkeypatch):
    """Otherwise commits that were deleted between two pages would be missing in the middle, and with them their rows."""
    table = create(tmp_path / "t", FakeClock())
    for number in range(6):
        table.write(batch([(f"k{number}", "p", 1, number)]), "insert", SMALL_BLOOM)
    layout, commits = table.state().layout, table.timeline.commits
    monkeypatch.setattr(timeline, "_AT_ONCE", 5)

    class Paged(LocalStorage):
        """The first page is of before four commits were archived, the second of after it."""

        listed = 0

        def list(self, folder):
            found = super().list(folder)
            self.listed += 1
            if self.listed > 1:
                return found
            for commit in commits[:4]:
                self.delete(layout.path(commit))
            gone = {commit.time for commit in commits[1:4]}
            return type(found)(tuple(f for f in found.files if f.name[:17] not in gone), found.folders)

    storage = Paged(table.base_path)
    assert load_timeline(storage, layout).commits == commits[4:]
    assert storage.listed == 2
    assert load_timeline(storage, layout).commits == commits[4:]
    assert storage.listed == 3, "the oldest one is there: one listing is enough"


def test_a_local_listing_asks_for_the_newest_file_first(tmp_path, monkeypatch):
    """An archiver deletes the oldest first: if the newest is gone when it is asked for, so are all before it."""
    for number in range(5):
        (tmp_path / f"{number}.commit").write_text("x")
    asked = []
    scan = os.scandir

    class Entry:
        def __init__(self, entry):
            self.name, self.path, self.is_dir, self.is_symlink = entry.name, entry.path, entry.is_dir, entry.is_symlink

        def stat(self):
            asked.append(self.name)
            if len(asked) == 2:  # an archiver deletes three of them in between
                for number in range(3):
                    (tmp_path / f"{number}.commit").unlink()
            return os.stat(self.path)

    class Scan:
        def __init__(self, path):
            self.path = path

        def __enter__(self):
            return [Entry(entry) for entry in scan(self.path)]

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(os, "scandir", Scan)
    assert [file.name for file in LocalStorage(str(tmp_path)).list("").files] == ["3.commit", "4.commit"]
