"""Names of shards in few characters."""

from __future__ import annotations

import random

import pytest

from hudi_services.sources.cdc.mysql.table_names import name_ranges, names_of


def test_names_with_numbers_are_ranges():
    names = [
        *(f"b.s{number}" for number in range(1, 1001) if number != 7),
        "b.s01",
        "b.s02",
        "b.s03",
        "b.other",
        "c.1.2",
    ]
    assert name_ranges(names) == {"b": ["other", "s01", "s02", "s03", ["s", 1, 6], ["s", 8, 1000]], "c": ["1.2"]}


def test_random_names_are_read_as_they_were():
    draw = random.Random(3)
    begins, zeros = ["", "s", "s0", "ü", "s.", "9x", "1\n"], ["", "0", "00"]
    for _ in range(300):
        names = {
            f"{draw.choice('ab')}.{draw.choice(begins)}{draw.choice(zeros)}{draw.randrange(12) or ''}"
            for _ in range(draw.randrange(30))
        }
        found = list(names_of(name_ranges(names)))
        assert sorted(found) == sorted(names)


def test_other_documents_are_refused():
    for wrong in ({"a": [7]}, {"a": [["x", 1]]}, {"a": [["x", 1, "2"]]}):
        with pytest.raises((TypeError, ValueError)):
            list(names_of(wrong))
