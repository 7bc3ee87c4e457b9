"""Rows that a merge puts aside come back by pile, and their files go."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.merge.spill import Spill

SCHEMA = pa.schema([("n", pa.int64())])


def rows(*numbers):
    return pa.table({"n": pa.array(numbers, pa.int64())})


def test_piles_have_what_was_written_to_them_in_its_order(tmp_path):
    with Spill(SCHEMA, str(tmp_path)) as spill:
        for pile, number in [(1, 10), (0, 1), (1, 11), (0, 2)]:
            spill.write(pile, rows(number))
        assert spill.read(0) == rows(1, 2)
        assert spill.read(1) == rows(10, 11)
        assert [each.num_rows for each in spill.batches(1)] == [1, 1]
        assert spill.read(2) == rows()
        assert spill.read(2).schema == SCHEMA
        assert list(tmp_path.iterdir()) != []
    assert list(tmp_path.iterdir()) == []


def test_files_go_also_after_an_error(tmp_path):
    spill = Spill(SCHEMA, str(tmp_path))
    with pytest.raises(ZeroDivisionError), spill:
        _fail_after(spill)
    assert list(tmp_path.iterdir()) == []


def _fail_after(spill):
    spill.write(0, rows(1))
    raise ZeroDivisionError
