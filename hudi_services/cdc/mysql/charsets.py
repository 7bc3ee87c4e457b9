"""Character sets of MySQL and MariaDB, and Python's codecs for them."""

from __future__ import annotations

import codecs
import uuid

import pyarrow as pa
import pyarrow.compute as pc

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
    "euckr": "euc_kr",
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
}
"""Characters for which the server has others than Python's codec."""


def decoded(value: bytes, charset: str) -> str:
    """Return the text. Raises ValueError for a character set without a codec, and for bytes that are no text of it."""
    if charset not in _CODECS:
        raise ValueError(f"text of the character set {charset!r}, which cannot be read")
    try:
        text = codecs.decode(value, _CODECS[charset])
        return text.translate(_OWN[charset]) if charset in _OWN else text
    except UnicodeDecodeError:
        if charset != "latin1":
            raise ValueError(f"{value!r:.100}, which is no text of the character set {charset!r}") from None
        # The server's latin1 is cp1252, and its five bytes without a character there are control codes.
        return "".join(bytes([byte]).decode("latin1" if byte in _CONTROLS else "cp1252") for byte in value)


_CONTROLS = (0x81, 0x8D, 0x8F, 0x90, 0x9D)


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
    try:
        return codecs.encode(text, _CODECS[charset])
    except UnicodeEncodeError:
        if charset != "latin1":
            raise
        return b"".join(letter.encode("latin1" if ord(letter) in _CONTROLS else "cp1252") for letter in text)
