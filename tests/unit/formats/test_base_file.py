"""Base files as options ask for them."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie.config.keys.write import COMPRESSION
from hoodie.errors import CorruptFileError, MissingFileError, UnsupportedTableError
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


@pytest.mark.parametrize("codec", ["zstd", "snappy", "uncompressed"])
@pytest.mark.parametrize("kind", ["base", "log"])
def test_a_damaged_page_is_refused(tmp_path, codec, kind):
    """Most damage of that kind becomes other values: Zstandard and Snappy have no checksum here."""
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    rows = batch([(f"k{n}", "p", n, n * 7919 % 1000) for n in range(300)])
    for _ in range(2 if kind == "log" else 1):
        table.write(rows, "upsert", {**SMALL_BLOOM, COMPRESSION.name: codec})
    marks = ".log." if kind == "log" else ".parquet"
    (path,) = (tmp_path / "t" / file.path for file in walk_files(table.storage, "part=p") if marks in file.name)
    whole = path.read_bytes()
    start = whole.index(b"PAR1") if kind == "log" else 0
    file = pq.ParquetFile(pa.BufferReader(whole[start : whole.rindex(b"PAR1") + 4]))
    value = file.metadata.row_group(0).column(file.schema_arrow.get_field_index("value"))
    first = start + (value.dictionary_page_offset or value.data_page_offset)
    last = first + value.total_compressed_size
    for place in range(last - 40, last, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CorruptFileError, match=path.name.replace("+", ".")):
            table.read()
    path.write_bytes(whole)
    assert table.read().num_rows == 300


def test_a_file_with_other_numbers_of_rows_is_refused(tmp_path):
    """Arrow gives as many rows as it finds, or none: those of the file, of a row group and of a column are compared."""
    table = create(tmp_path / "t")
    table.write(batch([(f"k{n}", "p", n, n) for n in range(300)]), "insert", SMALL_BLOOM)
    (path,) = (tmp_path / "t" / file.path for file in walk_files(table.storage, "part=p") if file.name[0] != ".")
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    places = [match.start() for match in re.finditer(b"\xd8\x04", whole[footer:])]  # 300, as Thrift writes it
    refused = 0
    for place in places:
        path.write_bytes(whole[: footer + place] + b"\x80\x00" + whole[footer + place + 2 :])
        try:
            assert table.read().num_rows == 300
        except CorruptFileError:
            refused += 1
    assert refused >= 3
    path.write_bytes(whole)
    assert table.read().num_rows == 300


@pytest.mark.parametrize("content", [b"torn", None])
def test_the_remedy_of_a_broken_or_missing_file_names_the_instant_that_wrote_it(tmp_path, content):
    for name, command in (
        ("f-0_0-1-2_20260102030405006.parquet", "`hudi-services rollback --instant 20260102030405006`"),
        ("delivered.parquet", "`hudi-services show commits`"),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises((CorruptFileError, MissingFileError)) as caught:
            BaseFileReader(LocalStorage(str(tmp_path)), name)
        assert command in caught.value.fix
        assert "…" not in caught.value.fix
