"""The same promises on local files and on any fsspec URL."""

from __future__ import annotations

import itertools
import pickle
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import TableExistsError, TableNotFoundError, UnsafePathError
from hoodie.storage import FsspecStorage, LocalStorage, S3Storage, closing_input, join, open_storage, walk_files
from hoodie.storage.base import ReplacingStorage
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture(params=["local", "file:", "memory://", pytest.param("s3://", marks=pytest.mark.process)])
def storage(request, tmp_path):
    if request.param == "s3://":
        yield open_storage(request.getfixturevalue("s3").bucket() + "/a table")
        return
    if request.param != "memory://":
        yield open_storage({"local": "", "file:": "file://"}[request.param] + f"{tmp_path}/a table")
        return
    name = f"memory://{uuid.uuid4()}/a table"
    yield open_storage(name)
    fsspec.filesystem("memory").store.clear()


def paths(listing):
    return [file.path for file in listing.files], list(listing.folders)


def test_what_is_created_is_read_whole(storage):
    storage.create("a/b/c.bin", b"\0content\xff")
    assert storage.read("a/b/c.bin") == b"\0content\xff"
    storage.create("empty", b"")
    assert storage.read("empty") == b""
    assert storage.info("empty").size == 0


def test_create_is_exclusive_and_leaves_the_first(storage):
    storage.create("x/commit", b"first")
    with pytest.raises(FileExistsError):
        storage.create("x/commit", b"second")
    assert storage.read("x/commit") == b"first"
    assert paths(storage.list("x")) == (["x/commit"], []), "nothing temporary is left"
    assert storage.delete("x/commit")
    storage.create("x/commit", b"third")
    assert storage.read("x/commit") == b"third"


def test_nothing_has_a_name_that_is_too_long(tmp_path):
    storage = LocalStorage(str(tmp_path))
    for name in ("x" * 5000, "x/" * 2500 + "x"):
        assert (paths(storage.list(name)), storage.info(name)) == (([], []), None)


def test_of_many_creators_one_wins(storage):
    won = []
    begin = threading.Barrier(8)

    def contend(number):
        begin.wait()
        try:
            storage.create("lock", f"{number}".encode())
        except FileExistsError:
            return
        won.append(number)

    threads = [threading.Thread(target=contend, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert storage.read("lock") == f"{won[0]}".encode()


def replacing(storage):
    if isinstance(storage, FsspecStorage) and not isinstance(storage, S3Storage):
        assert not isinstance(storage, ReplacingStorage)
        return None
    assert isinstance(storage, ReplacingStorage)
    return storage


def test_a_file_is_replaced_only_if_it_is_as_expected(storage):
    if (known := replacing(storage)) is None:
        return
    assert not known.replace("x/lock", b"", b"new")
    storage.create("x/lock", b"old")
    assert not known.replace("x/lock", b"other", b"new")
    assert storage.read("x/lock") == b"old"
    assert known.replace("x/lock", b"old", b"new")
    assert not known.replace("x/lock", b"old", b"newer")
    assert storage.read("x/lock") == b"new"


def test_of_many_that_replace_a_file_one_wins(storage):
    if (known := replacing(storage)) is None:
        return
    storage.create("lock", b"old")
    begin = threading.Barrier(8)

    def contend(number):
        begin.wait()
        return known.replace("lock", b"old", f"{number}".encode())

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(contend, range(8)))
    assert won.count(True) == 1
    assert storage.read("lock") == f"{won.index(True)}".encode()


def test_a_listing_is_one_level_in_order_with_sizes_and_times(storage):
    before = time.time() * 1000
    for path in ("b", "a", "f/x", "f/y/z", "g/x", "fx"):
        storage.create(path, path.encode())
    after = time.time() * 1000
    assert paths(storage.list("")) == (["a", "b", "fx"], ["f", "g"])
    assert paths(storage.list("f")) == (["f/x"], ["f/y"])
    assert [file.path for file in walk_files(storage, "f")] == ["f/x", "f/y/z"]
    [file] = storage.list("f").files
    assert (file.name, file.size) == ("x", 3)
    assert before - 2000 <= file.modified_ms <= after + 2000
    assert storage.info("f/x") == file


def test_what_is_not_there(storage):
    storage.create("file", b"x")
    storage.create("folder/file", b"x")
    assert storage.info("folder") is None
    assert paths(storage.list("nowhere")) == ([], [])
    assert paths(storage.list("file")) == ([], [])
    assert storage.info("nowhere/file") is None
    assert not storage.delete("nowhere/file") or isinstance(storage, S3Storage)
    storage.delete_folder("nowhere")
    with pytest.raises(FileNotFoundError):
        storage.read("nowhere")
    with pytest.raises(FileNotFoundError), closing_input(storage, "nowhere"):
        pass


def test_a_storage_without_its_folder_is_empty(storage):
    assert paths(storage.list("")) == ([], [])
    assert list(walk_files(storage, "")) == []


def test_deleting(storage):
    for path in ("f/x", "f/y/z", "fx"):
        storage.create(path, b"x")
    assert storage.delete("f/x")
    assert not storage.delete("f/x") or isinstance(storage, S3Storage)
    storage.delete_folder("f")
    assert [file.path for file in walk_files(storage, "")] == ["fx"]


def test_a_writer_never_replaces_a_file(storage):
    with storage.open_output("p/data.parquet") as sink:
        sink.write(b"one")
        sink.write(b"two")
    assert storage.read("p/data.parquet") == b"onetwo"
    with pytest.raises(FileExistsError), storage.open_output("p/data.parquet") as sink:
        sink.write(b"three")
    assert storage.read("p/data.parquet") == b"onetwo"


def test_a_writer_that_fails_leaves_nothing(storage):
    def fail():
        with storage.open_output("p/half.parquet") as sink:
            sink.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert storage.info("p/half.parquet") is None
    assert storage.list("p").files == ()


def test_a_reader_moves_freely(storage):
    storage.create("data", bytes(range(100)))
    with closing_input(storage, "data") as source:
        source.seek(90)
        assert source.read(5) == bytes(range(90, 95))
        source.seek(-3, 2)
        assert source.read() == bytes(range(97, 100))


def test_a_storage_travels_to_workers(storage):
    storage.create("x", b"1")
    copy = pickle.loads(pickle.dumps(storage))
    assert copy.base_path == storage.base_path
    assert copy.read("x") == b"1"


def test_names_with_strange_characters(storage):
    strange = "p=São Paulo/a b%2F#[1].parquet"
    storage.create(strange, b"x")
    assert [file.path for file in walk_files(storage, "")] == [strange]
    assert storage.read(strange) == b"x"


@pytest.mark.parametrize(
    ("parts", "joined"), [(("", "a"), "a"), (("a", "b"), "a/b"), (("", ""), ""), (("a/b", "", "c"), "a/b/c")]
)
def test_paths_are_joined_without_empty_parts(parts, joined):
    assert join(*parts) == joined


@pytest.mark.parametrize(
    ("storage", "version"),
    [
        *itertools.product(("local", "file:", "memory://"), ("9", "6")),
        pytest.param("s3://", "9", marks=pytest.mark.process),
        pytest.param(
            "s3://", "6", marks=[pytest.mark.process, pytest.mark.deep("the same path with another table version")]
        ),
    ],
    indirect=["storage"],
)
def test_a_whole_table(storage, version):
    clock = FakeClock()
    create(storage, clock, **{"hoodie.write.table.version": version})
    with pytest.raises(TableExistsError):
        create(storage, clock)
    table = HoodieTable.open(storage, clock=clock, engine=LocalEngine(1))
    for step in (1, 2, 3):
        table.write(batch([("a", "p", step, step), (f"b{step}", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("b1", "q", 0, 0)]), "delete", SMALL_BLOOM)
    expected = {"a": ("p", 3, 3), "b2": ("q", 1, 1), "b3": ("q", 1, 1)}
    assert content(table) == expected
    assert content(table, as_of=table.timeline.commits[0].time) == {"a": ("p", 1, 1), "b1": ("q", 1, 1)}
    before = {file.path for file in walk_files(storage, "")}
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted == 4
    gone = before - {file.path for file in walk_files(storage, "")}
    assert len(gone) == 4
    assert content(HoodieTable.open(storage.base_path)) == expected
    assert table.timeline.pending == ()


def test_a_table_on_a_url_is_opened_by_the_url():
    url = f"memory://{uuid.uuid4()}"
    with pytest.raises(TableNotFoundError, match=url):
        HoodieTable.open(url)
    created = create(open_storage(url))
    created.write(batch([("a", "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    assert content(HoodieTable.open(url)) == {"a": ("p", 1, 1)}
    assert HoodieTable.open(url).base_path == url
    assert not Path("memory:").exists()


def test_a_file_is_moved(storage):
    storage.create("a/f", b"one")
    assert storage.move("a/f", ".hoodie/x/a/f")
    assert storage.info("a/f") is None
    assert storage.read(".hoodie/x/a/f") == b"one"
    assert not storage.move("a/f", ".hoodie/x/a/f"), "it is there already"
    assert storage.move(".hoodie/x/a/f", "a/f")
    assert not storage.move("nowhere/f", "a/g")
    assert storage.info("a/g") is None


def test_a_file_that_is_moved_replaces_no_other(storage):
    storage.create("a/f", b"one")
    for other in (b"another", b"two"):
        storage.delete("b/f")
        storage.create("b/f", other)
        with pytest.raises(FileExistsError):
            storage.move("a/f", "b/f")
        assert (storage.read("a/f"), storage.read("b/f")) == (b"one", other)


def test_where_a_move_copies_one_that_was_cut_short_is_ended():
    storage = open_storage(f"memory://{uuid.uuid4()}/t")
    storage.create("a/f", b"one")
    storage.create("b/f", b"one")
    assert storage.move("a/f", "b/f")
    assert (storage.info("a/f"), storage.read("b/f")) == (None, b"one")


@pytest.mark.parametrize("to", ["../f", "/f", "a/../../f"])
def test_nothing_is_moved_out_of_the_table(storage, to):
    storage.create("a/f", b"one")
    with pytest.raises(UnsafePathError):
        storage.move("a/f", to)
    with pytest.raises(UnsafePathError):
        storage.move(to, "a/g")
    assert storage.read("a/f") == b"one"
