"""Character sets of MySQL and MariaDB, and Python's codecs for them."""

from __future__ import annotations

import codecs
import uuid
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.mysql.charset_tables import CHARMAPS, EXTRAS

UTF8 = ("utf8mb4", "utf8mb3", "utf8", "ascii")
"""Sets whose bytes are UTF-8."""
WIDE = ("ucs2", "utf16", "utf16le", "utf32", "swe7")
"""Sets in which the bytes of ASCII are not ASCII."""
_CODECS = {
    "big5": "big5",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "cp932": "cp932",
    "eucjpms": "euc_jp",
    "euckr": "cp949",
    "gb18030": "gb18030",
    "gb2312": "gb2312",
    "gbk": "gbk",
    "greek": "iso8859_7",
    "hebrew": "iso8859_8",
    "hp8": "hp_roman8",
    "koi8r": "koi8_r",
    "koi8u": "koi8_u",
    "latin1": "cp1252",
    "latin2": "iso8859_2",
    "latin5": "iso8859_9",
    "latin7": "iso8859_13",
    "macce": "mac_latin2",
    "macroman": "mac_roman",
    "sjis": "shift_jis",
    "tis620": "tis_620",
    "ucs2": "utf_16_be",
    "ujis": "euc_jp",
    "utf16": "utf_16_be",
    "utf16le": "utf_16_le",
    "utf32": "utf_32_be",
}


_OWN = {
    "cp866": str.maketrans("№¤", "ⁿ²"),
    "eucjpms": str.maketrans("〜‖−¢£¬¦", "～∥－￠￡￢￤"),
    "greek": str.maketrans("‘’", "ʽʼ"),
    "hebrew": str.maketrans("¯", "‾"),
    "koi8u": str.maketrans("∙", "•"),
    "gb18030": str.maketrans("\ue7c7ḿ", "ḿ\ue7c7"),  # the standard of 2005: Python has that of 2000
    "sjis": str.maketrans("＼", "\\"),
    "ujis": str.maketrans("＼", "\\"),
}
"""Characters for which the server has others than Python's codec."""


def decoded(value: bytes, charset: str) -> str:
    """Return the text. Raises ValueError for a character set without a codec, and for bytes that are no text of it."""
    if charset not in _CODECS and charset not in CHARMAPS:
        raise ValueError(f"text of the character set {charset!r}, which cannot be read")
    try:
        if charset in CHARMAPS:
            return codecs.charmap_decode(value, "strict", CHARMAPS[charset])[0]
        if charset == "eucjpms":
            value = value.replace(b"\x8f\xa2\xb7", b"\xa1\xc1")  # Python takes it for the tilde of ASCII
        text = codecs.decode(value, _CODECS[charset], _handler(charset))
    except UnicodeDecodeError:
        raise ValueError(f"{value!r:.100}, which is no text of the character set {charset!r}") from None
    return text.translate(_OWN[charset]) if charset in _OWN else text


def encoded_texts(texts: pa.Array, charset: str) -> pa.Array:
    """Return the bytes by which a server stores texts. Texts that the character set does not have get bytes of no text."""
    if charset not in WIDE and pc.all(pc.string_is_ascii(texts), min_count=0).as_py():
        return texts.cast(pa.binary())
    encoded = texts.dictionary_encode()
    stored = pa.array([_encoded(text.as_py(), charset) for text in encoded.dictionary], pa.binary())
    return stored.take(encoded.indices)


_NO_TEXT = uuid.uuid4().bytes  # no value of a server begins so


def _encoded(text: str, charset: str) -> bytes:
    pythons = {server: python for python, server in _OWN.get(charset, {}).items()}
    try:
        stored = _stored(text.translate(pythons), charset)
        return stored if decoded(stored, charset) == text else _NO_TEXT + stored
    except ValueError:
        return _NO_TEXT + text.encode()


def _stored(text: str, charset: str) -> bytes:
    if charset in CHARMAPS:
        return codecs.charmap_encode(
            text, "strict", {ord(letter): code for code, letter in enumerate(CHARMAPS[charset])}
        )[0]
    return codecs.encode(text, _CODECS[charset], _handler(charset))


def _handler(charset: str) -> str:
    """The name of what handles bytes and characters that Python's codec of the set lacks."""
    return f"mysql-{charset}" if charset in EXTRAS else "strict"


def _extras(charset: str) -> Callable[[UnicodeError], tuple[str | bytes, int]]:
    characters = EXTRAS[charset]
    codes = {character: code for code, character in characters.items()}

    def handle(error: UnicodeError) -> tuple[str | bytes, int]:
        if isinstance(error, UnicodeEncodeError) and (code := codes.get(error.object[error.start])) is not None:
            return code, error.start + 1
        if isinstance(error, UnicodeDecodeError):
            for length in (3, 2, 1):
                code = error.object[error.start : error.start + length]
                if code in characters:
                    return characters[code], error.start + len(code)
        raise error

    return handle


for _charset in EXTRAS:
    codecs.register_error(f"mysql-{_charset}", _extras(_charset))
