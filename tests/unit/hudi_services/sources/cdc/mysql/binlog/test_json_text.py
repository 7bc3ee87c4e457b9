"""MySQL's binary JSON as text. No MySQL server runs here: bytes are those that others recorded, and those of an encoder."""

from __future__ import annotations

import json
import random
import struct

import pytest
from pymysqlreplication.json_binary import parse_json

from hudi_services.sources.cdc.mysql.binlog.json_text import json_text
from tests.support.json_binary import encoded, opaque
from tests.support.mariadb import only_mariadb

RECORDED = {
    # From go/mysql/binlog/binlog_json_test.go of vitessio/vitess at 0d4e03e (Apache License 2.0), recorded from MySQL.
    "": "null",
    "00 01000e00 0b000100 0c0c00 61 0162": '{"a": "b"}',
    "00 01000c00 0b000100 050200 61": '{"a": 2}',
    "00 01001d00 0b000400 000f00 61736466 01000e00 0b000300 057b00 666f6f": '{"asdf": {"foo": 123}}',
    "02 02000a00 050100 050200": "[1, 2]",
    "00 04003c00 20000100 21000100 22000200 24000200 0c2600 0c2800 0c2a00 022e00 61 63 6162 6263 0162 0164 03616263"
    "02000e00 0c0a00 0c0c00 0178 0179": '{"a": "b", "c": "d", "ab": "abc", "bc": ["x", "y"]}',
    "02 03002500 0c0d00 021200 0c2100 0468657265 02000f00 0c0a00 0c0c00 0149 02616d 03212121": '["here", ["I", "am"], "!!!"]',
    "0c 0d7363616c617220737472696e67": '"scalar string"',
    "04 01": "true",
    "04 02": "false",
    "04 00": "null",
    "05 ffff": "-1",
    "06 0100": "1",
    "05 ff7f": "32767",
    "07 00800000": "32768",
    "07 ff7fffff": "-32769",
    "08 00800000": "32768",
    "09 0000008000000000": "2147483648",
    "0a ffffffffffffffff": "18446744073709551615",
    "09 0000000000000080": "-9223372036854775808",
    "0b 6e861bf0f9210940": "3.14159",
    "00 00000400": "{}",
    "02 00000400": "[]",
    "0f 0c08 00000019761f9519": '"2015-01-15 23:24:25.000000"',
    "0f 0b08 0000001976010000": '"23:24:25.000000"',
    "0f 0b08 c0d4011976010000": '"23:24:25.120000"',
    "0f 0a08 00000000001e9519": '"2015-01-15"',
    "0f f608 0d04875bcd1504d2": "123456789.1234",
    "0f f604 03028163": "1.99",
    "0f f604 02018001": "0.1",
    "0f f604 02017ffe": "-0.1",
    "0f f607 0a098000000001": "0.000000001",
    "0f 1002 cafe": '"base64:type16:yv4="',
    "0f fc02 cafe": '"base64:type252:yv4="',
}


def test_recorded_documents_are_printed_as_the_server_prints_them():
    for data, text in RECORDED.items():
        assert json_text(bytes.fromhex(data.replace(" ", ""))) == text


def drawn(draw, depth=0):
    kind = draw.randrange(7 if depth < 4 else 5)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind == 1:
        return draw.choice([1, -1]) * draw.randrange(2 ** draw.choice([4, 15, 16, 31, 32, 62]))
    if kind == 2:
        return draw.uniform(-1, 1) * 10.0 ** draw.randrange(-30, 30)
    if kind in (3, 4):
        return "".join(
            draw.choices('aé中😀"\\/\n\t\x01\x7f', k=draw.choice([0, 3, 20, 200, 20_000 if depth == 0 else 5]))
        )
    if kind == 5:
        return [drawn(draw, depth + 1) for _ in range(draw.randrange(6))]
    return {
        "".join(draw.choices('bé"\x02', k=draw.randrange(5))): drawn(draw, depth + 1) for _ in range(draw.randrange(6))
    }


def plain(value):
    """A document of the other decoder, whose texts are bytes."""
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def test_random_documents_are_those_of_another_decoder():
    draw = random.Random(4)
    for number in range(400):
        document = drawn(draw)
        data = encoded(document, large=number % 2 == 0)
        assert json.loads(json_text(data)) == document
        assert plain(parse_json(data[0], data[1:])) == document
    many = [{"k": number, "v": "x" * 50} for number in range(3000)]
    assert json.loads(json_text(encoded(many, large=True))) == many


def test_the_text_is_the_one_of_the_server():
    """The server orders keys by length and bytes, escapes as json_dom.cc does, and breaks base64 after 76 characters."""
    assert (
        json_text(encoded({"bb": 1, "a": [], "c": 'x"\\\n\x1f\x7f/é'}))
        == '{"a": [], "c": "x\\"\\\\\\n\\u001f\x7f/é", "bb": 1}'
    )
    assert json_text(opaque(252, b"x" * 58)) == '"base64:type252:' + "eHh4" * 19 + '\\neA=="'
    assert json_text(opaque(253, "é".encode())) == '"é"'
    assert json_text(opaque(11, (-((838 << 12 | 59 << 6 | 59) << 24 | 1)).to_bytes(8, "little", signed=True))) == (
        '"-838:59:59.000001"'
    )
    wide = bytes([65, 30]) + b"\x80" + bytes(3) + bytes(12) + bytes(13) + b"\x07"
    assert json_text(opaque(246, wide)) == "0." + "0" * 29 + "7"
    for number, text in (
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (100000.0, "100000.0"),
        (999999999999999.0, "999999999999999.0"),
        (1e15, "1e15"),
        (123456789012345680.0, "1.2345678901234568e17"),
        (1234567890123456.7, "1234567890123456.8"),
        (1e-14, "0.00000000000001"),
        (1.5e-15, "0.0000000000000015"),
        (1e-16, "1e-16"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
    ):
        assert json_text(encoded(number)) == text


@only_mariadb
@pytest.mark.process
def test_numbers_are_written_as_the_server_writes_a_double(server):
    """MariaDB has the same function (my_gcvt). Its DOUBLE has no `.0`."""
    draw = random.Random(7)
    numbers = [draw.uniform(-1, 1) * 10.0 ** draw.randrange(-25, 25) for _ in range(500)]
    numbers += [float(draw.randrange(10 ** draw.randrange(1, 22))) for _ in range(500)]
    numbers += [10.0**exponent for exponent in range(-20, 21)] + [5e-324, 1.7976931348623157e308]
    connection = server.connection()
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE mysql.numbers (id INT PRIMARY KEY AUTO_INCREMENT, v DOUBLE)")
        cursor.executemany("INSERT INTO mysql.numbers (v) VALUES (%s)", [(repr(number),) for number in numbers])
        cursor.execute("SELECT CAST(v AS CHAR) FROM mysql.numbers ORDER BY id")
        printed = [text for (text,) in cursor]
    assert [json_text(encoded(number)).removesuffix(".0") for number in numbers] == printed


def test_what_is_no_document_is_refused():
    whole = encoded({"a": [1, "text", 1.5, 10**6], "b": {"c": None}})
    for end in range(1, len(whole)):
        with pytest.raises(ValueError, match="cut off"):
            json_text(whole[:end])
    deep = 1
    for _ in range(100):
        deep = [deep]
    assert json_text(encoded(deep)).startswith("[[[")
    for data, words in (
        (encoded([deep]), "deeper than 100"),
        (b"\x0d", "the kind 13"),
        (b"\x04\x03", "the kind 4"),
        (b"\x0b" + struct.pack("<d", float("nan")), "a JSON number that is nan"),
        (b"\x0c\x01\xff", "invalid start byte"),
    ):
        with pytest.raises(ValueError, match=words):
            json_text(data)
