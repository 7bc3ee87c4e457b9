"""Savepoints: which files they keep."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError, UnsafePathError
from hoodie.formats import avro_file
from hoodie.timeline.codecs.savepoint import decode_savepoint


def body(**files):
    partitions = {
        partition: {"partitionPath": partition, "savepointDataFile": names} for partition, names in files.items()
    }
    record = {"savepointedBy": "me", "savepointedAt": 0, "comments": "", "partitionMetadata": partitions, "version": 1}
    return avro_file.encode("HoodieSavepointMetadata", record)


def test_the_files_of_a_savepoint():
    found = decode_savepoint(body(p=["a.parquet", ".a.log.1"], q=[]), "here")
    assert found.files == {"p": ("a.parquet", ".a.log.1"), "q": ()}
    assert set(found.paths) == {"p/a.parquet", "p/.a.log.1"}


def test_a_savepoint_that_leads_out_of_the_table_is_refused():
    with pytest.raises(UnsafePathError, match="here"):
        decode_savepoint(body(p=["../a.parquet"]), "here")


def test_a_torn_savepoint_is_refused_at_any_byte():
    data = body(p=["a.parquet"])
    for end in range(len(data)):
        with pytest.raises(CorruptTableError, match="here"):
            decode_savepoint(data[:end], "here")
