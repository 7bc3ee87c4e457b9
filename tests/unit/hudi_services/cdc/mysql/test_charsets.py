"""Text in the character sets of servers."""

from __future__ import annotations

import pytest

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
