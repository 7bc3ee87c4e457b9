"""Rows cut into values."""

from __future__ import annotations

import pytest

from hudi_services.sources.cdc.mysql.binlog.images import Images, decimal_width
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn

COLUMNS = (LoggedColumn(Code.TINY, 0), LoggedColumn(Code.VARCHAR, 20), LoggedColumn(Code.VARCHAR, 300))
ROW = b"\0" + b"\5" + b"\2ab" + b"\3\0xyz"
NULLS = b"\5" + b"\0"


def test_packed_decimals_take_four_bytes_for_nine_digits():
    widths = [
        decimal_width(precision, scale) for precision, scale in ((10, 2), (18, 9), (65, 30), (1, 1), (9, 0), (38, 38))
    ]
    assert widths == [5, 8, 30, 1, 4, 17]


def test_rows_with_different_nulls_keep_their_order():
    images = Images(COLUMNS, range(3))
    data = ROW + NULLS + ROW
    place = 0
    while place < len(data):
        place = images.step(data, place)
    groups = {tuple(rows): values for rows, values in images.groups()}
    assert set(groups) == {(0, 2), (1,)}
    assert groups[0, 2](1).to_pylist() == [b"ab", b"ab"]
    assert groups[0, 2](0).tolist() == [[5], [5]]
    assert groups[1,](0) is None
    assert groups[1,](1).to_pylist() == [b""]


def test_a_row_that_is_cut_off_is_refused():
    for end in range(1, len(ROW)):
        with pytest.raises(ValueError, match="a row that"):
            Images(COLUMNS, range(3)).step(ROW[:end], 0)
