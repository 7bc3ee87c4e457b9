"""Files that a clean set aside stay until their grace time is over, and go then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hoodie.model.time import Time
from hoodie.storage import LocalStorage
from hoodie.transaction.trash import FOLDER, TrashFolder, asides, purge, set_aside, until_of, until_text
from tests.support.made_states import base_file

UNTIL = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ASIDE = TrashFolder(Time("20260101000000000"), UNTIL)
PATH = base_file("20260101000000000").path


class At:
    """A clock that does not move."""

    def __init__(self, time):
        self.time = time

    def now(self):
        return self.time


def test_files_go_once_their_grace_time_is_over(tmp_path):
    storage = LocalStorage(str(tmp_path))
    storage.create(PATH, b"rows")
    assert set_aside(storage, ASIDE, PATH, {PATH})
    assert not set_aside(storage, ASIDE, PATH, {PATH}), "it is gone"
    assert storage.info(PATH) is None
    (kept,) = ASIDE.files(storage)
    assert (ASIDE.path_of(kept), storage.read(kept.path)) == (PATH, b"rows")
    purge(storage, At(UNTIL - timedelta(seconds=1)))
    assert asides(storage) == [ASIDE]
    purge(storage, At(UNTIL))
    assert asides(storage) == []
    assert storage.info(kept.path) is None


def test_folders_of_another_form_are_left_alone(tmp_path):
    storage = LocalStorage(str(tmp_path))
    later = TrashFolder(Time("20260103000000000"), UNTIL)
    for folder in (later.folder, ASIDE.folder, f"{FOLDER}/mine", f"{FOLDER}/20260101000000000_20261301000000"):
        storage.create(f"{folder}/f", b"")
    assert asides(storage) == [ASIDE, later]
    purge(storage, At(UNTIL + timedelta(days=1000)))
    assert len(storage.list(FOLDER).folders) == 2


def test_times_of_plans():
    assert until_of(until_text(UNTIL)) == UNTIL
    assert until_of("soon") is None
    assert until_text(UNTIL.astimezone(None)) == "20260102030405"
