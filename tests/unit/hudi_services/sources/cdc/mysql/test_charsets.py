"""Text in the character sets of servers."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.binlog.values import texts_of
from hudi_services.sources.cdc.mysql.charsets import UTF8, decoded, encoded_texts
from tests.support.binlog import log_end, logged, rows_of
from tests.unit.hudi_services.sources.cdc.mysql.test_snapshot import snapped


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


def test_two_characters_are_those_of_gb18030_of_2005():
    for code, character in ((b"\xa8\xbc", "ḿ"), (b"\x81\x35\xf4\x37", "\ue7c7"), ("中".encode("gb18030"), "中")):
        assert decoded(code, "gb18030") == character
        assert encoded_texts(pa.array([character]), "gb18030").to_pylist() == [code]


def test_what_is_no_text_is_refused():
    assert decoded(b"\x81a", "latin1") == "\x81a"
    for value, charset, words in (
        (b"\xff", "gbk", "no text of the character set 'gbk'"),
        (b"\xad\xff", "eucjpms", "no text of the character set 'eucjpms'"),
        (b"a\x7f", "swe7", "no text of the character set 'swe7'"),
        (b"a", "klingon", "'klingon', which cannot be read"),
    ):
        with pytest.raises(ValueError, match=words):
            decoded(value, charset)
    assert texts_of(pa.array([b"ab"], pa.large_binary()), "dec8", "c").to_pylist() == ["ab"]
    assert texts_of(pa.array([b"[]"], pa.large_binary()), "swe7", "c").to_pylist() == ["ÄÅ"]


def codes(server, cursor, charset, first, last, prefix=""):
    """Sequences of bytes that the server takes for one character, and that character."""
    width = (len(f"{last:x}") + 1) // 2 * 2
    stored = f"CONVERT(UNHEX(CONCAT('{prefix}', LPAD(HEX(seq), {width}, '0'))) USING {charset})"
    [query] = server.dialect(
        f"SELECT HEX({stored}), CONVERT({stored} USING utf8mb4) FROM mysql.seq_{first}_to_{last}"
        f" WHERE CHAR_LENGTH({stored}) = 1 AND HEX({stored}) = CONCAT('{prefix}', LPAD(HEX(seq), {width}, '0'))"
    )
    cursor.execute(query)
    for code, character in cursor.fetchall():
        if character not in "?\ufffd" or code == "3F":  # the server has no character
            yield bytes.fromhex(code), character


@pytest.mark.process
def test_each_character_of_each_set_is_the_one_of_the_server_by_snapshot_and_by_binlog(server):
    """Some bytes are left out, for which the server prints a question mark: they keep the character of Python's codec, if any."""
    texts = {}
    connection = server.connection("mysql")
    with connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = ''")
        cursor.execute("SELECT character_set_name, maxlen FROM information_schema.character_sets")
        for charset, longest in cursor.fetchall():
            if is_unicode(charset):
                text = "a~?" if charset in ("ascii", "binary") else "aé~?ż中\uffff"
                texts[charset] = [(text.encode(), text)]
                continue
            found = list(codes(server, cursor, charset, 0, 255))
            found += codes(server, cursor, charset, 0x8140, 0xFFFF) if longest > 1 else ()
            found += codes(server, cursor, charset, 0xA1A1, 0xFEFE, "8F") if longest > 2 else ()
            assert len(found) > 120
            texts[charset] = found
            wrong = [(code, character) for code, character in found if decoded(code, charset) != character]
            assert wrong == [], charset
    assert len(texts) >= 40
    columns = [f"`{charset}` LONGTEXT CHARACTER SET {charset}" for charset in texts]
    values = [
        f"CONVERT(UNHEX('{b''.join(code for code, _ in found).hex()}') USING {'utf8mb4' if is_unicode(charset) else charset})"
        for charset, found in texts.items()
    ]
    server.run("CREATE DATABASE all_letters", f"CREATE TABLE all_letters.t (id INT PRIMARY KEY, {', '.join(columns)})")
    start = log_end(server)
    server.run(f"INSERT INTO all_letters.t VALUES (1, {', '.join(values)})")
    [row] = rows_of(logged(server, start))
    expected = {charset: "".join(character for _, character in found) for charset, found in texts.items()}
    assert {name: row[name] for name in expected} == expected | {"binary": b"a~?"}
    with snapped(server, "all_letters", "t") as found:
        assert found.rows.read_all().to_pylist() == [row]


def is_unicode(charset):
    return charset in ("binary", *UTF8) or charset.startswith(("utf", "ucs"))
