"""Base files as options ask for them."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from hoodie.config.write_keys import COMPRESSION
from hoodie.errors import CorruptFileError, UnsupportedTableError
from hoodie.formats.base_file import BaseFileReader
from hoodie.storage import LocalStorage, walk_files
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "lz4_raw", "uncompressed"])
def test_each_codec_that_may_be_asked_for(tmp_path, codec):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    for value in (1, 2):
        table.write(batch([("a", "p", 1, value)]), "upsert", {**SMALL_BLOOM, COMPRESSION.name: codec})
    assert content(table) == {"a": ("p", 1, 2)}
    (base,) = (file.path for file in walk_files(table.storage, "part=p") if file.name.endswith(".parquet"))
    found = pq.ParquetFile(f"{table.base_path}/{base}").metadata.row_group(0).column(0).compression
    assert found == {"lz4_raw": "LZ4"}.get(codec, codec.upper())


@pytest.mark.parametrize(("kind", "error"), [("orc", UnsupportedTableError), ("parquet", CorruptFileError)])
def test_a_file_of_another_format_is_not_called_damaged(tmp_path, kind, error):
    (tmp_path / f"f_0-0-1_20260101000000000.{kind}").write_bytes(b"no Parquet")
    with pytest.raises(error, match=rf"Base file .*\.{kind} cannot be read"):
        BaseFileReader(LocalStorage(str(tmp_path)), f"f_0-0-1_20260101000000000.{kind}")
