"""Versions of index definitions."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import CorruptTableError, UnsupportedTableError
from hoodie.services.upgrade.index_definitions import INDEX_DEFINITIONS, add_versions, definitions_without_version
from hoodie.storage import LocalStorage

CHECKSUM = ".hoodie/.index_defs/.index.json.crc"


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(str(tmp_path))


def test_only_what_has_no_version_gets_the_first(storage):
    assert not definitions_without_version(storage)
    definitions = {"column_stats": {"indexName": "column_stats"}, "record_index": {"version": "V2", "sourceFields": []}}
    storage.create(INDEX_DEFINITIONS, json.dumps({"indexDefinitions": definitions}).encode())
    storage.create(CHECKSUM, b"of the old content")
    assert definitions_without_version(storage)
    for _ in range(2):
        add_versions(storage)
        found = json.loads(storage.read(INDEX_DEFINITIONS))["indexDefinitions"]
        assert found["column_stats"] == {"indexName": "column_stats", "version": "V1"}
        assert found["record_index"] == definitions["record_index"]
    assert storage.info(CHECKSUM) is None
    assert not definitions_without_version(storage)


def test_a_version_of_null_is_none(storage):
    storage.create(INDEX_DEFINITIONS, json.dumps({"indexDefinitions": {"a": {"version": None}}}).encode())
    assert definitions_without_version(storage)
    add_versions(storage)
    assert json.loads(storage.read(INDEX_DEFINITIONS)) == {"indexDefinitions": {"a": {"version": "V1"}}}
    assert not definitions_without_version(storage)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"indexDefinitions": {"a": 5}}'])
def test_what_cannot_be_read_is_named(storage, content):
    storage.create(INDEX_DEFINITIONS, content)
    with pytest.raises(CorruptTableError, match=r"index\.json"):
        definitions_without_version(storage)


def test_a_storage_that_replaces_no_file_is_refused(storage):
    class Plain:
        base_path = "memory://t"

    with pytest.raises(UnsupportedTableError, match="in one step"):
        add_versions(Plain())
