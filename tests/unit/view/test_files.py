"""Partitions are found by listing: also such as lie in each other, and nothing of another table."""

from __future__ import annotations

import pytest

from hoodie.model.names import PARTITION_METAFILE
from hoodie.storage import LocalStorage
from hoodie.view import StorageFiles


class Counting(LocalStorage):
    def __init__(self, base_path):
        super().__init__(base_path)
        self.listed = []

    def list(self, folder):
        self.listed.append(folder)
        return super().list(folder)


@pytest.fixture
def storage(tmp_path):
    return Counting(str(tmp_path))


def mark(storage, *partitions):
    for partition in partitions:
        storage.create("/".join(part for part in (partition, PARTITION_METAFILE) if part), b"")


def test_a_partition_in_a_partition_is_found(storage):
    mark(storage, "a", "a/b", "a/c/d", "e")
    assert StorageFiles(storage).partitions() == ["a", "a/b", "a/c/d", "e"]
    assert StorageFiles(storage).partitions_below("a") == ["a/b", "a/c/d"]
    assert StorageFiles(storage).partitions_below("e") == []


def test_partitions_without_folders_in_them_cost_one_listing_each(storage):
    mark(storage, "a", "b")
    StorageFiles(storage).partitions()
    assert sorted(storage.listed) == ["", "a", "b"]


def test_a_table_without_partitions_has_no_others(storage):
    mark(storage, "", "copy")
    assert StorageFiles(storage).partitions() == [""]


def test_the_partitions_of_a_table_in_the_folder_are_not_ours(storage):
    mark(storage, "a", "other/x")
    storage.create("other/.hoodie/hoodie.properties", b"")
    assert StorageFiles(storage).partitions() == ["a"]
