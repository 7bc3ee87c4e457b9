"""A URL chooses the storage."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError
from hoodie.storage import FsspecStorage, open_storage


def test_urls_choose_the_storage(tmp_path):
    assert isinstance(open_storage("memory://x"), FsspecStorage)
    for url in (str(tmp_path), f"{tmp_path}/", f"file://{tmp_path}", f"file:{tmp_path}", f"file://localhost{tmp_path}"):
        assert open_storage(url).base_path == str(tmp_path)
    assert open_storage("memory://x/y/").base_path == "memory://x/y"


def test_a_url_of_no_known_storage():
    with pytest.raises(ConfigError, match=r"nowhere://bucket/t.*install"):
        open_storage("nowhere://bucket/t")


@pytest.mark.parametrize("url", ["file://data/lake/t", "file://data", "file://localhost", "file://server/data/t"])
def test_a_file_url_with_the_name_of_a_host_is_no_folder_here(url):
    with pytest.raises(ConfigError, match="names a host"):
        open_storage(url)


def test_a_file_url_without_a_path_is_not_the_working_directory():
    with pytest.raises(ConfigError, match="empty"):
        open_storage("file://")


def test_a_library_that_cannot_be_loaded_is_named_in_one_line(monkeypatch):
    def load(_storage):
        raise OSError("Unable to load libjvm\ndlopen(/usr/lib/jvm/libjvm.so) failed" * 50)

    monkeypatch.setattr(FsspecStorage, "_open_file_system", load)
    with pytest.raises(ConfigError) as raised:
        open_storage("hdfs://lake/t")
    assert (raised.value.found, "Java" in raised.value.fix) == ("Unable to load libjvm", True)


def test_an_outage_is_no_wrong_setting(monkeypatch):
    def connect(_storage):
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(FsspecStorage, "_open_file_system", connect)
    with pytest.raises(ConnectionRefusedError):
        open_storage("hdfs://lake/t")
