"""Markers in batches: a few files for any number of them, and what was answered is on the storage."""

from __future__ import annotations

import errno
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from hoodie.errors import StorageError, UnsafePathError, WriteConflictError
from hoodie.markers import Batching, LocalMarkers, MarkerBatches, MarkerType, read_markers
from hoodie.model.time import Time
from hoodie.storage import LocalStorage, walk_files
from hoodie.transaction.reconcile import delete_markers
from tests.support.faulty import FaultyStorage, Killed

TIME = Time.of("20260101000000000")
FOLDER = f".hoodie/.temp/{TIME}"
QUICK = Batching(interval_ms=1, threads=20)


def path(number):
    return f"p{number % 7}/{number:08}-0_0-1-2_{TIME}.parquet"


def marker(number):
    return f"{path(number)}.marker.CREATE"


def answered(storage, numbers, batching=QUICK):
    """The markers, of those asked for by 8 tasks at once, that were answered."""
    found = []

    def ask(number):
        try:
            batches.request(marker(number)).result(30)
        except (OSError, Killed):
            return
        found.append(path(number))

    with MarkerBatches(storage, TIME, batching) as batches, ThreadPoolExecutor(8) as tasks:
        list(tasks.map(ask, numbers))
    return set(found)


def names(storage):
    return {file.name for file in walk_files(storage, FOLDER) if not file.name.startswith(".")}


@pytest.mark.parametrize("threads", [1, 3, 20])
def test_any_number_of_markers_is_in_a_few_files(tmp_path, threads):
    storage = FaultyStorage(tmp_path)
    assert answered(storage, range(1000), Batching(1, threads)) == {path(number) for number in range(1000)}
    calls = len(storage.log)
    assert read_markers(storage, TIME) == {path(number) for number in range(1000)}
    assert names(storage) <= {"MARKERS.type", *(f"MARKERS{number}" for number in range(threads))}
    assert storage.read(f"{FOLDER}/MARKERS.type") == b"TIMELINE_SERVER_BASED"
    assert calls < 600, "8 tasks that wait for each other ask for 8 markers a batch"


def test_requests_wait_for_each_other(tmp_path):
    """All of an interval go into one file, by one storage call."""
    storage = FaultyStorage(tmp_path)
    with MarkerBatches(storage, TIME, Batching(interval_ms=500)) as batches:
        batches.request(marker(0)).result(30)
        before = storage.calls
        for each in [batches.request(marker(number)) for number in range(1, 200)]:
            each.result(30)
        assert storage.calls <= before + 3, "one, on a machine that is not at its limits"


def test_what_is_known_is_answered_from_memory(tmp_path):
    storage = FaultyStorage(tmp_path)
    with MarkerBatches(storage, TIME, QUICK) as batches:
        first = batches.request(marker(1))
        assert batches.request(marker(1)) is first, "also while it is on its way"
        first.result(30)
        before = storage.calls
        assert batches.request(marker(1)).done()
        assert storage.calls == before


def test_who_comes_after_a_killed_server_knows_what_it_has_answered(tmp_path):
    storage = FaultyStorage(tmp_path)
    before = answered(storage, range(50))
    storage.create(f"{FOLDER}/MARKERS19", f"{marker(77)}\n{marker(78)}"[:-5].encode())  # torn by a storage that can
    calls = storage.calls
    with MarkerBatches(storage, TIME, QUICK) as batches:
        assert storage.calls == calls, "nothing is read before the first request"
        for number in range(50):
            batches.request(marker(number)).result(30)
        assert {name for name, _ in storage.log[calls:]} == {"list", "read"}
        batches.request(marker(100)).result(30)
    assert read_markers(storage, TIME) >= {*before, path(77), path(100)}
    assert answered(storage, range(200, 400)) <= read_markers(storage, TIME)


@pytest.mark.parametrize("kind", ["kill", "full", "lost", "retried", "deaf"])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_was_answered_is_found_whatever_fails(tmp_path, kind, threads):
    for fail_at in range(1, 12):
        folder = tmp_path / f"{fail_at}"
        told = answered(FaultyStorage(folder, fail_at, kind), range(40), Batching(1, threads))
        assert told <= read_markers(LocalStorage(str(folder)), TIME), fail_at
        if kind in ("lost", "retried"):
            assert len(told) == 40 or fail_at <= 2, f"{fail_at}: what was done is done"


def test_one_that_failed_may_be_asked_for_again(tmp_path):
    storage = FaultyStorage(tmp_path, 3, "full")
    with MarkerBatches(storage, TIME, QUICK) as batches:
        with pytest.raises(OSError, match="No space left"):
            batches.request(marker(1)).result(30)
        batches.request(marker(1)).result(30)
    assert read_markers(storage, TIME) == {path(1)}


@pytest.mark.parametrize("threads", [1, 2])
def test_two_processes_at_the_same_files(tmp_path, threads):
    """Neither takes the other's markers away, as when one was stopped and another began its plan again."""
    storage = LocalStorage(str(tmp_path))
    batching = Batching(1, threads)
    with (
        MarkerBatches(storage, TIME, batching) as one,
        MarkerBatches(storage, TIME, batching) as other,
        ThreadPoolExecutor(8) as tasks,
    ):
        list(tasks.map(lambda n: (one if n % 2 else other).request(marker(n)).result(30), range(60)))
    assert read_markers(storage, TIME) == {path(number) for number in range(60)}


def test_another_process_that_changes_the_files_all_the_time(tmp_path):
    class Contested(LocalStorage):
        def replace(self, path, old, new):
            super().replace(path, self.read(path), self.read(path) + f"{marker(len(old))}\n".encode())
            return super().replace(path, old, new)

    with MarkerBatches(Contested(str(tmp_path)), TIME, Batching(1, 1)) as batches:
        batches.request(marker(1)).result(30)
        with pytest.raises(StorageError, match="another process has changed their files"):
            batches.request(marker(2)).result(30)


@pytest.mark.parametrize("threads", [1, 3])
def test_markers_that_were_deleted_are_known_no_more(tmp_path, threads):
    """When a writer begins the instant again, new markers are on the storage, beside the type that Hudi uses."""
    storage = LocalStorage(str(tmp_path))
    with MarkerBatches(storage, TIME, Batching(1, threads)) as batches:
        for number in range(1, 4):
            batches.request(marker(number)).result(30)
        delete_markers(storage, TIME)
        batches.request(marker(4)).result(30)
        assert storage.read(f"{FOLDER}/MARKERS.type") == b"TIMELINE_SERVER_BASED"
        batches.request(marker(1)).result(30)
        assert read_markers(storage, TIME) == {path(1), path(4)}


def test_the_folder_goes_while_requests_are_on_their_way(tmp_path):
    storage = LocalStorage(str(tmp_path))
    with MarkerBatches(storage, TIME, Batching(1, 3)) as batches, ThreadPoolExecutor(8) as tasks:
        for _ in range(5):
            early = [tasks.submit(lambda n: batches.request(marker(n)).result(30), n) for n in range(50)]
            with suppress(OSError):  # a file came while they went
                delete_markers(storage, TIME)
            for each in early:
                each.result(30)
        delete_markers(storage, TIME)
        batches.request(marker(100)).result(30)
        for number in range(50):
            batches.request(marker(number)).result(30)
    assert read_markers(storage, TIME) == {path(number) for number in (100, *range(50))}
    assert storage.read(f"{FOLDER}/MARKERS.type") == b"TIMELINE_SERVER_BASED"


def test_the_folder_goes_between_its_listing_and_a_read(tmp_path):
    class Emptied(LocalStorage):
        def list(self, folder):
            listing = super().list(folder)
            if listing.files and not emptied:
                emptied.append(folder)
                delete_markers(self, TIME)
            return listing

    emptied = []
    with MarkerBatches(LocalStorage(str(tmp_path)), TIME, QUICK) as before:
        before.request(marker(1)).result(30)
    with MarkerBatches(Emptied(str(tmp_path)), TIME, QUICK) as batches:
        batches.request(marker(2)).result(30)
    assert emptied
    assert read_markers(LocalStorage(str(tmp_path)), TIME) == {path(2)}


@pytest.mark.parametrize("name", ["../x", marker(1) + "\n" + marker(2), "/etc/passwd", ".hoodie/hoodie.properties"])
def test_a_request_names_a_data_file(tmp_path, name):
    storage = LocalStorage(str(tmp_path))
    with MarkerBatches(storage, TIME, QUICK) as batches, pytest.raises(UnsafePathError):
        batches.request(name)
    assert names(storage) == set()


def test_what_stands_against_markers_is_told_before_they_are_written(tmp_path):
    storage = LocalStorage(str(tmp_path))
    free = threading.Event()

    def check(markers):
        if not free.is_set():
            raise WriteConflictError(f"{len(markers)} in the way")

    with MarkerBatches(storage, TIME, QUICK, check) as batches:
        with pytest.raises(WriteConflictError):
            batches.request(marker(1)).result(30)
        assert read_markers(storage, TIME) == set()
        free.set()
        batches.request(marker(1)).result(30)


def test_after_its_end_nothing_is_promised(tmp_path):
    batches = MarkerBatches(LocalStorage(str(tmp_path)), TIME, QUICK)
    batches.close()
    with pytest.raises(StorageError, match="the write has ended"):
        batches.request(marker(1)).result(30)


def test_a_partition_that_no_line_can_hold_gets_a_marker_of_its_own(tmp_path):
    storage = LocalStorage(str(tmp_path))
    with MarkerBatches(storage, TIME, QUICK) as batches:
        for partition in ("a\nb", "plain"):
            LocalMarkers(batches).create(f"{partition}/{path(1)}", MarkerType.MERGE)
    assert read_markers(storage, TIME) == {f"a\nb/{path(1)}", f"plain/{path(1)}"}


def test_permission_denied(tmp_path):
    class Refusing(LocalStorage):
        def create(self, path, data):
            raise PermissionError(errno.EACCES, "Permission denied", path)

    with MarkerBatches(Refusing(str(tmp_path)), TIME, QUICK) as batches, pytest.raises(PermissionError):
        batches.request(marker(1)).result(30)


def test_files_of_markers_that_somebody_has_damaged(tmp_path):
    """Torn, no text, empty, of a name that means the same number: they stay as they are, but for lines below."""
    storage = LocalStorage(str(tmp_path))
    bodies = {
        "MARKERS0": f"{marker(1)}\n{marker(2)}"[:-7].encode(),
        "MARKERS1": b"",
        "MARKERS2": b"\xff\xfe\x00\n\n",
        "MARKERS01": f"{marker(3)}\n".encode(),
        "MARKERS99999999999999999999": f"{marker(4)}\n".encode(),
        "MARKERS-1": b"?",
        "MARKERS0.crc": b"crc",
    }
    for name, body in bodies.items():
        storage.create(f"{FOLDER}/{name}", body)
    with MarkerBatches(storage, TIME, Batching(1, 3)) as batches:
        for number in range(20):
            batches.request(marker(number)).result(30)
    assert {path(number) for number in range(20)} <= read_markers(storage, TIME)
    for name, body in bodies.items():
        assert storage.read(f"{FOLDER}/{name}").startswith(body)
