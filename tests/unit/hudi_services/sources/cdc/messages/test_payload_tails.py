"""Payloads that Arrow reads in two parts are those that Python reads as a whole: values, errors and what is counted."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies

from hudi_services.sources.cdc.messages import debezium, json_objects
from hudi_services.sources.cdc.messages.json_objects import JsonObjects
from hudi_services.sources.cdc.messages.messages import message_format
from hudi_services.sources.cdc.messages.payload_tails import Tails, tails_of
from tests.support.examples import examples
from tests.support.matrix import pairwise
from tests.support.messages import change, check_all_counted, envelope, field, messages, struct

COLUMNS = [
    field("id", "int32", optional=False),
    field("text", "string"),
    field("score", "double"),
    field("list", "array") | {"items": {"type": "int32", "optional": True}},
    struct([field("x", "int64")], field="inside"),
]
SCHEMA = envelope(COLUMNS)
KNOWN = pa.schema(
    [
        ("id", pa.int32()),
        ("text", pa.string()),
        ("score", pa.float64()),
        ("list", pa.list_(pa.int32())),
        ("inside", pa.struct([("x", pa.int64())])),
    ]
)
TEXTS = [
    "a",
    "é",
    '"',
    "\\",
    ',"source":{',
    '{"op":"c"}',
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "1",
    None,
]
rows = strategies.fixed_dictionaries(
    {"id": strategies.integers(-(2**31), 2**31 - 1)},
    optional={
        "text": strategies.sampled_from(TEXTS),
        "score": strategies.sampled_from([0.5, 3, None, 1e300, 2**53]),
        "list": strategies.sampled_from([[], [1, None], None]),
        "inside": strategies.sampled_from([None, {}, {"x": 5}, {"x": 5, "y": None}, {"x": 1, "y": 2}]),
        "more": strategies.sampled_from([None, 1, "x"]),
    },
)
EDITS = [
    (b'"op":', b'"op" :'),
    (b'"op":"u"', b'"op":"c","op":"u"'),
    (b'"op":"u"', b'"op":1'),
    (b'"op":"u"', b'"op":null'),
    (b'"op":"u"', b'"op":"\\u0075"'),
    (b'"op":"u"', b'"op":"t"'),
    (b'"op":"u"', b'"op":"m"'),
    (b'"op":"u",', b""),
    (b'"op":"u"', b'"after":null,"op":"u"'),
    (b'"table":"orders"', b'"table":"orders2"'),
    (b'"table":"orders"', b'"table":"orders3"'),
    (b'"table":"orders"', b'"table":7'),
    (b'"db":"shop"', b'"db":"shop","db":"other"'),
    (b'"name":"lake"', b'"name":"lake","f1":1,"f2":1'),
    (b'"name":"lake"', b'"name":"lake","f1":1,"f1":1'),
    (b'"name":"lake"', b'"name":"lake","x":null,"x":null'),
    (b'"name":"lake"', b'"name":"lake","x":[{"y":1,"\\u0079":2}]'),
    (b'"name":"lake"', b'"name":"lake","x":1.0e400'),
    (b'"name":"lake"', b'"name":"lake","x":12345678901234567890123'),
    (b'"name":"lake"', b'"name":"lake","x":' + b"[" * 150 + b"]" * 150),
    (b'"name":"lake"', b'"name":"lake","before":{"id":7}'),
    (b'"name":"lake"', b'"name":"a,\\"source\\":{","source":{"op":"x"}'),
    (b'"name":"lake"', b'"name":"\\\\",\t"x" : 1'),
    (b'"name":"lake"', b'"name":"\\ud83d"'),
    (b'"name":"lake"', b'"name":"\\ud13d"'),
    (b'"name":"lake"', b'"name":"\xff"'),
    (b'"name":"lake"', b'"name":"l\nke"'),
    (b'"name":"lake"', b'"name":NaN'),
    (b'"ts_ms":1700000000000', b'"ts_ms":1800000000017'),
    (b'"ts_ms":1700000000000', b'"ts_ms":0700000000000'),
    (b'"ts_ms":1700000000000', b'"ts_ms":1.500000000000'),
    (b'"ts_ms":1700000000000', b'"ts_ms":17000000000,00'),
    (b'"table":"orders"', b'"table":"orders","x":{"before":1,"after":2}'),
    (b'"ts_ms":1700000000000', b'"ts_ms":1700000000000,"before":null'),
    (b'"ts_ms":1700000000000', b'"ts_ms":1700000000000}},"x":{"y":{"z":1'),
    (b'"before":', b'"before":null,"before":'),
    (b'"before":', b'"op":"c","before":'),
    (b'{"before":', b'{"x":{"source":{}},"before":'),
    (b'},"source":{', b'} ,"source":{'),
    (b',"source":{', b'},"source":{'),
    (b',"source":{', b',"source":{},"source":{'),
    (b',"source":{', b',,"source":{'),
    (b'{"before":null,', b"{"),
    (b'{"id":', b'{"id":1,"id":'),
    (b'{"id":', b'{"id":"'),
]
edits = strategies.one_of(
    strategies.just(None),
    strategies.sampled_from(EDITS),
    strategies.tuples(strategies.integers(0, 400), strategies.binary(max_size=2), strategies.integers(0, 2)),
)
payloads = strategies.builds(
    lambda op, before, after, edit, number: (change(op, before, after) | {"number": number}, edit),
    strategies.sampled_from("cuuudr"),
    strategies.none() | rows,
    strategies.none() | rows,
    edits,
    strategies.integers(0, 120),
)


def text_of(payload: dict, edit: tuple | None) -> bytes:
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=payload["number"] % 2 == 0).encode()
    if edit is None:
        return text
    if isinstance(edit[0], bytes):
        return text.replace(*edit)
    place, more, without = edit
    return text[:place] + more + text[place + without :]


def no_tails(values: pa.Array, *_: object) -> Tails:
    return Tails(np.full(len(values), -1), [])


def in_python(*_: object) -> None:
    raise ValueError("each text is read by itself, in Python")


def check_the_same(values: list[bytes], known: pa.Schema | None = None, **parameters: object) -> None:
    table = messages(values)
    form = message_format("debezium-json", **parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_objects, "_FEW", 1)  # a wrong text does not take others along
        decoded = form.decode(table, known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(debezium, "tails_of", no_tails)
        patch.setattr(json_objects, "_FEW", 1)
        if parameters.get("table") is None:  # of other tables' messages Arrow reads only whose they are
            patch.setattr(JsonObjects, "_fast", in_python)
        whole = form.decode(table, known)
    assert decoded.changes.schema == whole.changes.schema
    assert decoded.changes.equals(whole.changes)
    assert (decoded.rejected, decoded.statements) == (whole.rejected, whole.statements)
    assert decoded.ignored == whole.ignored
    numbers, of_whole = ({name: sorted(x.tolist()) for name, x in y.unavailable.items()} for y in (decoded, whole))
    assert numbers == of_whole
    check_all_counted(decoded, len(values))


def enveloped(payload: bytes) -> bytes:
    return b'{"schema":' + json.dumps(SCHEMA).encode() + b',"payload":' + payload + b"}"


@settings(deadline=None, max_examples=examples(40))
@given(
    strategies.lists(payloads, min_size=1, max_size=12), strategies.sampled_from([None, "shop.orders", "shop.orders2"])
)
def test_payloads_with_and_without_schemas(messages_: list[tuple[dict, tuple | None]], table: str | None) -> None:
    texts = [text_of(*message) for message in messages_]
    check_the_same([enveloped(text) for text in texts], table=table)
    check_the_same(texts, KNOWN, table=table)
    check_the_same(texts, table=table)


@pytest.mark.parametrize(
    ("edited_first", "table", "with_schema"), pairwise((False, True), (None, "shop.orders2"), (True, False))
)
@pytest.mark.parametrize("edit", EDITS)
def test_each_edit_among_others(
    edit: tuple[bytes, bytes], edited_first: bool, table: str | None, with_schema: bool
) -> None:
    one = {"id": 1, "text": "a"}
    texts = [text_of(change("u", before, one) | {"number": 1}, None) for before in (None, one, one)]
    edited = [text.replace(*edit) for text in texts]
    assert edited != texts
    values = edited + texts if edited_first else texts + edited
    if with_schema:
        check_the_same([enveloped(text) for text in values], table=table)
    else:
        check_the_same(values, KNOWN, table=table)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (b'"lake","f2":1,"f3":1', b'"lake","f2":1,"f2":1'),
        (b'"\\ud13d"', b'"\\ud83d"'),
        (b'"lake","n":19', b'"lake","n":09'),
    ],
)
def test_digits_that_matter(first: bytes, second: bytes) -> None:
    one = {"id": 1, "text": "a"}
    text = text_of(change("u", one, one) | {"number": 1}, None)
    values = [text.replace(b'"lake"', name) for name in (first, second, first)]
    check_the_same(values, KNOWN)
    check_the_same([enveloped(value) for value in values])


def test_a_head_without_a_member() -> None:
    text = text_of(change("u", {"id": 1}, {"id": 1}) | {"number": 1}, None)
    tail = text[text.index(b',"source"') :]
    for head in (b"{", b'{"before":null', b"{ ", b"{}", b"null"):
        check_the_same([text, head + tail], KNOWN)


def test_a_cut_at_many_bytes() -> None:
    one = {"id": 1, "text": "a"}
    text = text_of(change("u", one, one) | {"number": 1}, None)
    check_the_same([text] + [text[:place] for place in range(0, len(text), 3)], KNOWN)
    check_the_same([text] + [text[:place] + text[place + 1 :] for place in range(0, len(text), 3)], KNOWN)


@pytest.mark.parametrize("known", [None, KNOWN])
def test_payloads_in_the_order_of_the_connector_are_not_read_as_a_whole(
    known: pa.Schema | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for number in range(1000):
        payload = change("cud"[number % 3], {"id": number, "text": "old"}, {"id": number, "text": "é"})
        payload["source"] |= {"pos": 10_000 + number * 89, "file": f"mysql-bin.{number % 7:06}"}
        texts.append(text_of(payload | {"number": number % 2}, None))
    wholes: list[int] = []
    read = JsonObjects.read

    def counted(self: JsonObjects, texts: pa.Array, places: np.ndarray) -> object:
        wholes.append(len(texts))
        return read(self, texts, places)

    monkeypatch.setattr(JsonObjects, "read", counted)
    values = texts if known is not None else [enveloped(text) for text in texts]
    decoded = message_format("debezium-json").decode(messages(values), known)
    assert decoded.changes.num_rows == 1000
    assert sum(wholes) == 0


def test_tails_with_other_digits_are_of_one_kind() -> None:
    texts = [
        b'{"after":{"a":1}' + tail + b"}}"
        for tail in (
            b',"source":{"pos":100,"row":0},"op":"c"',
            b',"source":{"pos":907,"row":5},"op":"c"',
            b',"source":{"pos":007,"row":5},"op":"c"',
            b',"source":{"pos":100,"row":0},"op":"u"',
            b',"source":{"pos":100,"row":0},"op":"1"',
            b',"source":{"pos":100,"row":0},"op":"2"',
            b',"source":{"p0s":100,"row":0},"op":"c"',
        )
    ]
    tails = tails_of(pa.array(texts))
    assert [tails.kinds[number].payload["op"] if number >= 0 else None for number in tails.numbers] == [
        *("c", "c", None, "u", "1", "2", "c")
    ]
    assert tails.numbers[0] == tails.numbers[1]
    assert len(tails.kinds) == 5


def test_rare_kinds_ahead_do_not_hide_the_common_one() -> None:
    text = b'{"after":{"a":1},"source":{"file":"%s","pos":%d},"op":"c"}}'
    rare = [text % (b"x" * number, 1) for number in range(40)]
    tails = tails_of(pa.array([*rare, *(text % (b"binlog", 100 + number) for number in range(200))]))
    assert tails.certain[len(rare) :].all()
