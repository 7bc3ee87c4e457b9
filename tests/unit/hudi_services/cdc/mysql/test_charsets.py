"""Text in the character sets of servers."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hudi_services.cdc.mysql.binlog.values import texts_of
from hudi_services.cdc.mysql.charsets import decoded


def test_each_set_has_its_codec():
    for charset, text in (
        ("latin1", "€é"),
        ("latin2", "žš"),
        ("cp1251", "да"),
        ("greek", "αβ"),
        ("hebrew", "אב"),
        ("gbk", "中文"),
        ("big5", "中文"),
        ("sjis", "日本"),
        ("ujis", "日本"),
        ("euckr", "한국"),
        ("tis620", "ไทย"),
        ("utf16le", "ż😀"),
        ("utf32", "ż😀"),
    ):
        codec = {
            "latin1": "cp1252",
            "latin2": "iso8859_2",
            "greek": "iso8859_7",
            "hebrew": "iso8859_8",
            "sjis": "shift_jis",
        }
        codec |= {
            "ujis": "euc_jp",
            "euckr": "euc_kr",
            "tis620": "tis_620",
            "utf16le": "utf_16_le",
            "utf32": "utf_32_be",
        }
        assert decoded(text.encode(codec.get(charset, charset)), charset) == text


def test_what_is_no_text_is_refused():
    assert decoded(b"\x81a", "latin1") == "\x81a"
    for value, charset, words in (
        (b"\xff", "gbk", "no text of the character set 'gbk'"),
        (b"a", "swe7", "'swe7', which cannot be read"),
    ):
        with pytest.raises(ValueError, match=words):
            decoded(value, charset)
    assert texts_of(pa.array([b"ab"], pa.large_binary()), "dec8", "c").to_pylist() == ["ab"]
    with pytest.raises(ValueError, match="'swe7', which cannot be read"):
        texts_of(pa.array([b"[]"], pa.large_binary()), "swe7", "c")  # these bytes are Ä and Å


@pytest.mark.process
def test_characters_are_those_of_the_server(server):
    """Bytes that the server prints as a question mark are left out: they keep what Python's codec says."""
    texts = {
        "cp866": b"\xfc\xfd\x80",
        "eucjpms": b"\xa1\xc1\xa1\xc2\xa1\xdd\xa1\xf1\xa1\xf2\xa2\xcc\x8f\xa2\xc3\xb0\xa1",
        "greek": b"\xa1\xa2\xe1",
        "hebrew": b"\xaf\xe0",
        "koi8u": b"\x95\xa4",
    }
    connection = server.connection()
    with connection, connection.cursor() as cursor:
        for charset, value in texts.items():
            cursor.execute(f"SELECT CONVERT(CONVERT(UNHEX('{value.hex()}') USING {charset}) USING utf8mb4)")
            assert [(decoded(value, charset),)] == list(cursor.fetchall()), charset
