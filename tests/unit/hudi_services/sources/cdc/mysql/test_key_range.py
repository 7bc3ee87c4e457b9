"""Conditions on keys. `test_chunks` holds them against a server."""

from __future__ import annotations

import pytest

from hudi_services.sources.cdc.mysql.binlog.table_map import Code
from hudi_services.sources.cdc.mysql.key_range import KeyColumn, key_after, key_up_to

NUMBER, TEXT = KeyColumn("a", Code.LONG), KeyColumn("b `x", Code.VARCHAR, "latin1")


def test_conditions_are_written_out():
    assert key_after((NUMBER,), (b"1",)) == "((`a` > 1))"
    assert key_after((NUMBER, TEXT), (b"-1", b"'\xff")) == "((`a` > -1) OR (`a` = -1 AND `b ``x` > _latin1 X'27ff'))"
    assert key_up_to((TEXT, NUMBER), (b"", b"7")) == "((`b ``x` < _latin1 X'') OR (`b ``x` = _latin1 X'' AND `a` <= 7))"
    labels = KeyColumn("e", Code.ENUM, "utf8mb4", 3)
    assert key_after((labels,), (b"1",)) == "((`e` IN (2, 3)))"
    assert key_after((labels,), (b"3",)) == "((FALSE))"
    assert key_up_to((labels, NUMBER), (b"0", b"1")) == "((FALSE) OR (`e` = 0 AND `a` <= 1))"
    assert key_up_to((labels,), (b"1",)) == "((`e` IN (0, 1)))"


@pytest.mark.parametrize(
    ("code", "value"), [(Code.LONG, b"1 OR 1"), (Code.LONG, b""), (Code.DATE, b"' OR '"), (Code.DOUBLE, b"nan")]
)
def test_values_that_the_server_does_not_print_are_no_literals(code, value):
    with pytest.raises(ValueError, match="no value of the key column 'k'"):
        KeyColumn("k", code).literal(value)
