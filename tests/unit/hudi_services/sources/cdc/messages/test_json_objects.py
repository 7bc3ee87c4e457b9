"""Objects in JSON: Arrow's reader and Python's give the same, and no text is lost, moved or changed in silence."""

from __future__ import annotations

import json
import math
import time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from hudi_services.sources.cdc.messages import json_objects
from hudi_services.sources.cdc.messages.json_objects import JsonObjects

KIND = pa.struct(
    [
        ("i", pa.int32()),
        ("l", pa.int64()),
        ("f", pa.float32()),
        ("d", pa.float64()),
        ("b", pa.bool_()),
        ("s", pa.string()),
        ("n", pa.decimal128(10, 2)),
        ("o", pa.struct([("x", pa.int32())])),
        ("a", pa.list_(pa.int64())),
    ]
)


def read(texts: list[str | bytes], kind: pa.StructType = KIND, *, lenient: bool = False):
    """Values by their places, and errors."""
    errors: dict[int, str] = {}
    array = pa.array([(text.encode() if isinstance(text, str) else text) + b"}" for text in texts], pa.binary())
    found = {}
    for places, structs in JsonObjects(kind, errors, lenient=lenient).read(array, np.arange(len(texts))):
        found |= dict(zip(places.tolist(), structs.to_pylist(), strict=True))
    assert len(found) + len(errors) == len(texts)
    return found, errors


GOOD = [
    ('{"i":1,"l":-9223372036854775808,"d":0.1,"b":true,"s":"\\ud83d\\ude00\\u0000"}', {"l": -(2**63), "s": "😀\0"}),
    ('{"s":null, "o":{"x":1,"y":[{"x":2}]} ,"a":[1,null]}', {"s": None, "o": {"x": 1}, "a": [1, None]}),
    ('{\n"n":-1.5,\t"unknown":{"s":1}}', {"n": Decimal("-1.50")}),
    ('{"n":"12345678.91"}', {"n": Decimal("12345678.91")}),
    ('{"n":1.50e2}', {"n": Decimal("150.00")}),
    ("{}", {"i": None}),
    ("null", None),
]
SLOW = [
    ('{"o":{"x":1,"y":[1,{"x":2}]}}', {"o": {"x": 1}}),
    ('{"i":1.0}', {"i": 1}),
    ('{"l":1e3}', {"l": 1000}),
    ('{"d":"NaN","f":"-Infinity"}', {"d": math.nan, "f": -math.inf}),
    ('{"d":1e308}', {"d": 1e308}),
    ('{"d":9007199254740992}', {"d": 2.0**53}),
    ('{"b":1}', {"b": True}),
]
BAD = {
    '{"i":2147483648}': "'i' of the type int32 with a number",
    '{"i":true}': "'i' of the type int32 with true or false",
    '{"i":1.5}': "'i' of the type int32",
    '{"l":9223372036854775808}': "'l' of the type int64",
    '{"d":9007199254740993}': "'d' of the type double",
    '{"f":16777217}': "'f' of the type float",
    '{"f":1e39}': "'f' of the type float",
    '{"d":1e400}': "'d' of the type double",
    '{"b":2}': "'b' of the type bool",
    '{"s":1}': "'s' of the type string with a number",
    '{"n":1.005}': "'n' of the type decimal",
    '{"n":123456789}': "'n' of the type decimal",
    '{"n":"x"}': "'n' of the type decimal",
    '{"o":[1]}': "'o' of the type",
    '{"a":{"x":1}}': "'a' of the type",
    '{"s":"a"}{"s":"b"}': "no JSON",
    '{"s":"a"},"m":{"s":"b"}': "the name 'm' twice",
    '{"s":"a"}}\n{"m":{"s":"b"}': "no JSON",
    '{"s":"a","s":"b"}': "the name 's' twice",
    '{"unknown":{"x":1,"x":1}}': "the name 'x' twice",
    '{"unknown":' + "[" * 150 + "]" * 150 + "}": "nested more than 100 levels",
    '{"s":"\\ud800"}': "half of a character",
    '{"s":"a\nb"}': "no JSON",
    "{\"s\":'a'}": "no JSON",
    '{"i":01}': "no JSON",
    '{"i":1,}': "no JSON",
    "": "no JSON",
    "1": "in place of an object",
    '{"a":' + "[" * 30_000 + "]" * 30_000 + "}": "nested more than 100 levels",
    b'{"s":"\xff"}': "no UTF-8",
}


@pytest.mark.parametrize(("few", "block"), [(1, 1), (1, 1 << 20), (256, 1 << 20)])
def test_each_text_is_its_value_or_an_error(few, block, monkeypatch):
    monkeypatch.setattr(json_objects, "_FEW", few)
    monkeypatch.setattr(json_objects, "_READ", block)
    texts = [*BAD, *(text for text, _ in [*GOOD, *SLOW])]
    found, errors = read(texts)
    for place, reason in enumerate(BAD.values()):
        assert reason in errors.pop(place)
    assert errors == {}
    for place, (text, right) in enumerate([*GOOD, *SLOW], len(BAD)):
        value = found[place]
        if right is None:
            assert value is None
            continue
        for name, expected in right.items():
            assert value[name] == expected or (expected != expected and math.isnan(value[name])), text


def test_arrow_reads_good_texts_by_itself(monkeypatch):
    monkeypatch.setattr(JsonObjects, "_rest", None)
    found, _ = read([text for text, _ in GOOD])
    assert len(found) == len(GOOD)


@pytest.mark.parametrize("block", [1, 64, 100, 1000])
def test_arrow_reads_objects_of_any_length_in_blocks(block, monkeypatch):
    monkeypatch.setattr(JsonObjects, "_rest", None)
    monkeypatch.setattr(json_objects, "_READ", block)
    texts = [json.dumps({"i": number, "s": "x" * (number * 37 % 500), "unknown": number}) for number in range(300)]
    texts[17], texts[200] = '{"i":17,"unknown":null}', '{"s":null,"i":200}'
    found, _ = read(texts)
    assert [found[number]["i"] for number in range(300)] == [*range(300)]
    assert [len(found[number]["s"] or "") for number in (16, 17, 18, 200, 299)] == [92, 0, 166, 0, 63]


def test_blocks_end_between_texts(monkeypatch):
    monkeypatch.setattr(json_objects, "_BLOCK", 50)
    texts = [f'{{"i":{number},"s":"{"x" * (number % 40)}"}}' for number in range(200)]
    texts[77] = "wrong"
    found, errors = read(texts)
    assert [value["i"] for _, value in sorted(found.items())] == [number for number in range(200) if number != 77]
    assert [*errors] == [77]


def test_lenient_columns_of_text_take_what_is_written():
    text = '{"s":{"b":1.50,"a":[true,null,"ü"]}}'
    found, _ = read([text, '{"s":12345678901234567890}', '{"s":false}'], lenient=True)
    assert [value["s"] for value in found.values()] == [
        '{"b": 1.50, "a": [true, null, "ü"]}',
        "12345678901234567890",
        "false",
    ]


def test_maps_are_objects():
    kind = pa.struct([("m", pa.map_(pa.string(), pa.int32()))])
    found, errors = read(['{"m":{"a":1,"b":null}}', '{"m":[]}'], kind)
    assert found == {0: {"m": [("a", 1), ("b", None)]}}
    assert "'m' of the type map" in errors[1]


def test_one_wrong_text_among_many_costs_little():
    texts = [json.dumps({"i": number, "s": "x" * 50}) for number in range(20_000)]
    texts[12_345] = "{"
    start = time.process_time()
    found, errors = read(texts)
    assert time.process_time() - start < 5
    assert (len(found), [*errors]) == (19_999, [12_345])


@pytest.mark.parametrize(
    "text",
    ['{"i":1,"unknown":{"x":1,"x":1}}', '{"i":1,"unknown":' + "[" * 150 + "]" * 150 + "}"],
    ids=["twice", "deep"],
)
def test_a_member_that_the_type_lacks_is_refused_beside_good_texts_alone(text):
    found, errors = read(['{"i":1,"unknown":null}'] * 300 + [text])
    assert (len(found), [*errors]) == (300, [300])


def test_an_end_is_put_behind_each_text():
    errors = {}
    reader = JsonObjects(pa.struct([("a", pa.int32())]), errors, end=b"}}")
    parts = list(reader.read(pa.array([b'{"a":1', b'{"a":"x"', b'{"a":3'], pa.binary()), np.arange(3)))
    assert {int(n): row for numbers, rows in parts for n, row in zip(numbers, rows.to_pylist(), strict=True)} == {
        0: {"a": 1},
        2: {"a": 3},
    }
    assert [*errors] == [1]
