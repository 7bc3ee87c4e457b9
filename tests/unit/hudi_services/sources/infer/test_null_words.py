"""Words for a missing value in columns of numbers and times."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hudi_services.entry.feed.model import Csv
from hudi_services.sources.infer.null_words import null_words
from hudi_services.sources.ingest.shape.duck import opened


@pytest.mark.parametrize(
    ("values", "words", "kind"),
    [
        (["1", "n/a", "-"], ["-", "n/a"], pa.int64()),
        (["1.5", " N/A ", None], ["N/A"], pa.decimal128(2, 1)),
        (["2026-01-01", "#N/A"], ["#N/A"], pa.date32()),
        (["2026-01-01 10:00", "none"], ["none"], pa.timestamp("us")),
        (["2026-01-01T10:00Z", "?"], ["?"], pa.timestamp("us", "UTC")),
        (["true", "false", "--"], ["--"], pa.bool_()),
        (["01.02.2026", "NULL"], ["NULL"], None),
        (["1", "NULL"], None, None),
        (["a", "-", "n/a"], None, None),
        (["007", "-"], None, None),
        (["-", "n/a"], None, None),
        (["1", "2"], None, None),
    ],
)
def test_words(values, words, kind):
    with opened() as duck:
        found, kinds = null_words(pa.table({"c": values}), Csv(), duck)
    assert found == ({"c": words} if words is not None else {})
    assert kinds == ({"c": kind} if kind is not None else {})


def test_declared_texts_stay():
    with opened() as duck:
        assert null_words(pa.table({"c": ["1", "-"]}), Csv(null_values=("-",)), duck) == ({}, {})
