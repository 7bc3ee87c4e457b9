"""One folder in many spellings."""

from __future__ import annotations

import pytest

from hoodie.model.place import absolute, identity, is_local, is_relative, lies_in, same_table


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://lake/landing", "s3a://lake//landing/./x/../"),
        ("s3://lake/landing", "s3n://lake/landing/"),
        ("s3://lake/landing", "s3a:///lake/landing"),
        ("memory://lake/landing", "memory://lake/x/../landing"),
        ("memory://lake/landing", "memory:///lake/landing"),
        ("/lake/t", "local:/lake/t/"),
        ("/lake/t", "local:///lake/./t"),
        ("gs://lake/t", "gcs://lake/t/"),
        ("abfss://c@a.dfs.core.windows.net/t", "abfs://c@a.dfs.core.windows.net//t"),
        ("abfss://c/t", "az://c/t"),
        ("/data/landing", "file:///data/landing/"),
        ("/data/landing", "file:/data//landing"),
        ("/data/landing", "file://localhost/data/landing"),
        ("/data/landing", "//data/x/../landing"),
    ],
)
def test_spellings_of_one_folder(one, other):
    assert identity(other) == identity(one) == one


def test_other_folders_are_others():
    assert identity("s3://lake/landing") != identity("s3://lake/landing2")
    assert identity("s3://lake/data") != identity("/lake/data")
    assert lies_in("/a/b", "/a")
    assert lies_in("/a", "/a")
    assert lies_in("/a", "/")
    assert not lies_in("/ab", "/a")
    assert identity("/data/\0") == "/data/\0"


def test_a_link_is_what_it_leads_to(tmp_path, monkeypatch):
    (tmp_path / "t").mkdir()
    (tmp_path / "link").symlink_to("t")
    monkeypatch.chdir(tmp_path)
    assert {identity(each) for each in ("t", "./link/", "link/../t", str(tmp_path / "link"))} == {str(tmp_path / "t")}
    assert same_table("link", f"file:{tmp_path}/t")
    assert not same_table("link", "t2")


def test_paths_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("lake/orders", "./x", "a:b", "a:b/c", "file:lake", "~/lake"):
        assert (is_local(path), is_relative(path)) == (True, True), path
        assert absolute(path) == f"{tmp_path}/{path.removeprefix('file:').removeprefix('./')}"
    for path in ("/lake", "file:/lake", "file:///lake", "local:///lake"):
        assert (is_local(path), is_relative(path), absolute(path)) == (True, False, path)
    for path in ("s3://b/x", "s3:/b/x", "memory://x", "hdfs:/x"):
        assert (is_local(path), is_relative(path), absolute(path)) == (False, False, path)
