"""Effects that only S3 has on a file: races, lost answers, listings that are remembered, buckets that are not there."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from functools import partialmethod

import pytest
from s3fs import S3FileSystem

from hoodie import HoodieTable
from hoodie.errors import ConfigError
from hoodie.storage import S3Storage, open_storage
from tests.support.matrix import sample
from tests.support.servers import free_port
from tests.support.tables import SMALL_BLOOM, batch, content, create
from tests.support.unreliable import unreliable


class Answers:
    """Does `verdict` to the first requests of a kind."""

    def __init__(self, method, pattern, verdict, times=1):
        self.left = times
        self.asked = []
        self._wanted = (method, pattern, verdict)

    def __call__(self, method, path):
        wanted, pattern, verdict = self._wanted
        self.asked.append(method)
        if self.left and method == wanted and re.search(pattern, path):
            self.left -= 1
            return verdict
        return ""


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    """The client waits up to a second, by chance, before it asks again."""
    monkeypatch.setattr("botocore.retryhandler.random.random", lambda: 0.0)


@contextmanager
def storage_behind(s3, answers, url=None):
    with unreliable(s3.endpoint, answers) as endpoint:
        yield S3Storage(url or f"{s3.bucket()}/t", {"endpoint_url": endpoint, "skip_instance_cache": True})


def test_urls_of_hadoop_are_the_same_place(s3):
    bucket = s3.bucket()
    written = open_storage(bucket.replace("s3://", "s3a://") + "/t")
    written.create("x/f", b"1")
    assert isinstance(written, S3Storage)
    assert written.base_path.startswith("s3a://")
    assert open_storage(f"{bucket}/t").list("x").files == written.list("x").files


def test_of_many_writers_of_a_data_file_one_wins(s3):
    """Attempts of one task may give their files the same name; who looks first and writes then replaces the other's."""
    url, begin, won = f"{s3.bucket()}/t", threading.Barrier(8), []

    def contend(number):
        try:
            with open_storage(url).open_output("p/f.parquet") as sink:
                begin.wait()
                sink.write(f"{number}".encode())
        except FileExistsError:
            return
        won.append(number)

    threads = [threading.Thread(target=contend, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert open_storage(url).read("p/f.parquet") == f"{won[0]}".encode()


def test_a_large_file_is_exclusive_too(s3, monkeypatch):
    monkeypatch.setattr(S3FileSystem, "_pipe_file", partialmethod(S3FileSystem._pipe_file, chunksize=5 << 20))
    url = f"{s3.bucket()}/t"
    storage = S3Storage(url, {"default_block_size": 5 << 20})
    large = bytes(11 << 20)  # s3fs uploads it in parts, of at least 5 MB
    storage.create("f", large)
    assert s3.files().info(f"{url}/f")["ETag"].endswith('-3"'), "of three parts"
    with pytest.raises(FileExistsError):
        storage.create("f", large)
    with pytest.raises(FileExistsError), storage.open_output("f") as sink:
        sink.write(large[: 6 << 20])


def test_a_writer_that_fails_leaves_no_part_of_a_large_file(s3):
    bucket = s3.bucket()
    storage = S3Storage(f"{bucket}/t", {"default_block_size": 5 << 20})

    def fail():
        with storage.open_output("f") as sink:
            sink.write(bytes(6 << 20))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert storage.list("").files == ()
    assert s3.files().list_multipart_uploads(bucket.removeprefix("s3://")) == []


@pytest.mark.parametrize("code", ["ConditionalRequestConflict", "PreconditionFailed"])
def test_answers_to_a_race(s3, code):
    """Amazon says 409 while another request for the key is under way; some stores leave the condition out of their 412."""
    with storage_behind(s3, Answers("PUT", "/lock", code)) as storage:
        if code == "PreconditionFailed":
            with pytest.raises(FileExistsError):
                storage.create("lock", b"mine")
        storage.create("lock", b"mine")
        assert storage.read("lock") == b"mine"


@pytest.mark.parametrize("how", ["create", "output"])
def test_a_file_whose_answer_was_lost_is_ones_own(s3, how):
    """The client asks again by itself, and learns that the file is there."""
    answers = Answers("PUT", "/f", "lose")
    with storage_behind(s3, answers) as storage:
        if how == "create":
            storage.create("f", b"mine")
        else:
            with storage.open_output("f") as sink:
                sink.write(b"mine")
        assert answers.left == 0
        assert storage.read("f") == b"mine"
        with pytest.raises(FileExistsError):
            storage.create("f", b"mine")


@pytest.mark.parametrize(
    "lost", sample([r"/\.hoodie/lock$", r"\.requested$", r"\.inflight$", r"\.deltacommit$", r"\.parquet$"], 0, 3)
)
def test_a_write_with_lost_answers_is_done(s3, lost):
    url = f"{s3.bucket()}/t"
    create(open_storage(url), **{"hoodie.table.type": "MERGE_ON_READ"})
    answers = Answers("PUT", lost, "lose")
    with storage_behind(s3, answers, url) as storage:
        HoodieTable.open(storage).write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert answers.left == 0
    table = HoodieTable.open(url)
    assert content(table) == {"a": ("p", 1, 1)}
    assert len(table.timeline.commits) == 1
    assert open_storage(url).info(".hoodie/lock") is None


def test_creating_is_one_request(s3):
    answers = Answers("", "", "")
    with storage_behind(s3, answers) as storage:
        storage.create("first", b"1")
        answers.asked.clear()
        storage.create("a/b/c", b"1")
        with storage.open_output("a/b/d") as sink:
            sink.write(b"1")
    assert answers.asked == ["PUT", "PUT"]


def test_a_store_that_ignores_the_condition_is_refused(s3):
    """It would let two writers hold one lock, and neither would know."""
    with storage_behind(s3, Answers("PUT", "", "replace", times=99)) as storage:
        with pytest.raises(ConfigError, match=r"Cannot write tables to s3://.*If-None-Match.*conditional writes"):
            storage.create(".hoodie/lock", b"mine")
        assert storage.list(".hoodie").files == ()


def test_no_bucket_is_made(s3):
    """A misspelt URL must not become a bucket."""
    storage = open_storage("s3://not-a-bucket-of-ours/t")
    with pytest.raises(ConfigError, match="There is no bucket 'not-a-bucket-of-ours'"):
        storage.create("x", b"1")
    with pytest.raises((ConfigError, FileNotFoundError), match="bucket"), storage.open_output("y") as sink:
        sink.write(b"1")
    assert not s3.files().exists("not-a-bucket-of-ours")


def test_what_others_create_is_seen_and_deleted(s3):
    """A folder that was listed when it was empty may have got files since."""
    url = f"{s3.bucket()}/t"
    storage = open_storage(url)
    storage.create("m/first/x", b"1")
    storage.list("m")
    s3.files().pipe_file(f"{url}/m/second/x", b"1")
    s3.files().pipe_file(f"{url}/m/first/y", b"1")
    storage.delete_folder("m/second")
    storage.delete_folder("m/first")
    assert s3.files().find(f"{url}/m") == []


def test_a_server_that_is_not_there_is_a_storage_error():
    storage = S3Storage(
        "s3://lake/t",
        {
            "endpoint_url": f"http://127.0.0.1:{free_port()}",
            "key": "a",
            "secret": "b",
            "config_kwargs": {"retries": {"max_attempts": 0}},
        },
    )
    with pytest.raises(OSError, match="endpoint"):
        storage.create("x", b"1")


def test_no_credentials(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    storage = S3Storage("s3://lake/t", {"skip_instance_cache": True})
    with pytest.raises(ConfigError, match=r"bucket lake.*AWS_ACCESS_KEY_ID"):
        storage.read("x")


def test_a_replacement_whose_answer_was_lost_is_ones_own(s3):
    """The client asks again by itself, and learns that the object has changed."""
    with storage_behind(s3, answers := Answers("PUT", "/lock", "lose", times=0)) as storage:
        storage.create("lock", b"old")
        answers.left = 1
        assert storage.replace("lock", b"old", b"new")
        assert answers.left == 0
        assert storage.read("lock") == b"new"


def test_a_store_that_ignores_the_condition_of_a_replacement_is_found_out(s3):
    with storage_behind(s3, answers := Answers("PUT", "/lock", "replace", times=0)) as storage:
        storage.create("lock", b"old")
        answers.left = 2
        with pytest.raises(ConfigError, match="`If-Match`"):
            storage.replace("lock", b"old", b"new")


class LosesNth:
    """Passes the change number `left` of the lock from here on, and loses its answer."""

    left = 0

    def __call__(self, method, path):
        if method == "PUT" and "table_lock" in path:
            self.left -= 1
            return "lose" if self.left == 0 else ""
        return ""


@pytest.mark.deep("the answers of other files of a write are lost as well")
def test_a_write_whose_lock_gets_lost_answers_is_done(s3):
    """Taking, renewing and giving back a lock that runs out: each answer lost in turn."""
    url = f"{s3.bucket()}/t"
    create(open_storage(url))
    option = {"hoodie.write.lock.provider": "StorageBasedLockProvider", **SMALL_BLOOM}
    with storage_behind(s3, loses := LosesNth(), url) as storage:
        for nth in range(1, 7):
            loses.left = nth
            HoodieTable.open(storage).write(batch([(f"{nth}", "p", 1, 1)]), "upsert", option)
    assert len(content(HoodieTable.open(url))) == 6
    assert b'"expired":true' in open_storage(url).read(".hoodie/.locks/table_lock.json")
