"""Statements that Spark runs keep the calls that they were written with."""

from __future__ import annotations

import pytest

from hoodie.sql.parse import DIALECT, parsed

KEPT = (
    *("date_format(t, 'y')", "date_format(t, 'E d')", "to_timestamp(s, 'yyy-MM-dd')", "to_date(s, 'yyyy-MM-dd')"),
    *("unix_timestamp(s, 'yyyy-MM-dd HH:mm:ss')", "from_unixtime(n, 'y/M/d')", "to_char(n, '99G999')"),
    *("max_by(s, n, 2)", "min_by(s, n, 2)", "max_by(s, n)", "listagg(s)", "listagg(s, '-')", "parse_json(s)"),
    *("percentile_cont(0.25) within group (order by n)", "percentile_disc(0.25) within group (order by n)"),
    *("get_json_object(s, 'a')", "get_json_object(s, '$.a')", "get_json_object(s, t)", "localtimestamp()"),
    *("cast(s as time)", "current_catalog()"),
)


@pytest.mark.parametrize("called", KEPT)
def test_a_call_is_written_as_it_was_read(called):
    text = parsed(f"select {called} from u").copy().sql(dialect=DIALECT)
    assert text.lower() == f"select {called} from u".lower()


def test_listagg_under_its_other_name():
    assert parsed("select string_agg(s) from u").sql(dialect=DIALECT) == "SELECT LISTAGG(s) FROM u"
