"""The envelope of Connect's JSON converter."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.messages.envelopes import envelopes


def cut(*texts: str):
    errors: dict[int, str] = {}
    found = envelopes(pa.array([text.encode() for text in texts], pa.binary()), np.arange(len(texts)) + 10, errors)
    return [(part.schema, part.places.tolist(), part.texts.to_pylist()) for part in found], errors


def test_messages_with_one_schema_are_cut_together():
    first = '{"schema":{"a":"}"},"payload":{"x":%d}}'
    found, errors = cut(first % 1, '{"x":5}', first % 2, '{"schema":{"b":1},"payload":"é"}', first % 33)
    assert found == [
        (None, [11], [b'{"x":5}}']),
        (b'{"a":"}"}', [10, 12, 14], [b'{"x":1}}', b'{"x":2}}', b'{"x":33}}']),
        (b'{"b":1}', [13], ['"é"}'.encode()]),
    ]
    assert errors == {}


def test_other_orders_blanks_and_names():
    found, errors = cut(
        ' { "schema" :\n{"é":1} , "payload" : {"x":1} } ',
        '{"payload":[1],"schema":{"a":1}}',
        '{"schema":null,"payload":null}',
        '{"schema":"public","payload":1,"id":2}',
        '{"payload":1}',
        '{"schema":1,"payload":',
        '{"schema":1,"schema":1,"payload":2}',
    )
    assert found == [
        ('{"é":1}'.encode(), [10], [b'{"x":1}}']),
        (b'{"a":1}', [11], [b"[1]}"]),
        (None, [12], [b"null}"]),
        (None, [13], [b'{"schema":"public","payload":1,"id":2}}']),
        (None, [14], [b'{"payload":1}}']),
    ]
    assert sorted(errors) == [15, 16]
    assert "no JSON" in errors[15]
    assert "the name 'schema' twice" in errors[16]
