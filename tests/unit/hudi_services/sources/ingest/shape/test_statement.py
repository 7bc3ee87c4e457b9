"""The SQL that a source may have: it uses one row at a time, and gives the same again."""

from __future__ import annotations

import pickle

import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.ingest.shape.duck import opened
from hudi_services.sources.ingest.shape.grammar import Grammar
from hudi_services.sources.ingest.shape.statement import parsed
from tests.support.matrix import DEEP


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("", "no statement"),
        ("-- nothing", "no statement"),
        ("selec a from batch", "syntax error"),
        ("select a from batch where", "syntax error"),
        (
            "select at as b\nfrom batch",
            """line 1: 'select at as b\\nfrom batch'; a column with a name of SQL's needs quotes, such as "at\"""",
        ),
        ("select a from batch; select b from batch", "2 statements"),
        ("copy batch to 'x.csv'", "another statement than SELECT"),
        ("attach 'x.db'", "another statement than SELECT"),
        ("install httpfs", "another statement than SELECT"),
        ("load httpfs", "another statement than SELECT"),
        ("pragma database_list", "another statement than SELECT"),
        ("set threads = 8", "another statement than SELECT"),
        ("delete from batch", "another statement than SELECT"),
        ("explain select a from batch", "another statement than SELECT"),
        ("pivot batch on a", "another statement than SELECT"),
        ("describe batch", "FROM without batch"),
        ("show tables", "FROM without batch"),
        ("summarize batch", "FROM without batch"),
        ("values (1)", "FROM without batch"),
        ("select 1 as a", "FROM without batch"),
        ("select a from orders", "FROM orders; the rows of the source are called batch"),
        ("select a from '/etc/passwd'", "FROM /etc/passwd"),
        ("select content as a from read_text('/etc/passwd')", "FROM without batch"),
        ("select a from duckdb_settings()", "FROM without batch"),
        ("select a from main.batch", "FROM without batch"),
        ("select a from batch, range(3)", "FROM without batch"),
        ("select a from batch join batch as other on true", "FROM without batch"),
        ("select a from (select a from batch)", "FROM without batch"),
        ("select a from batch as b(x)", "more than a name behind FROM batch"),
        ("select a from batch tablesample 10%", "more than a name behind FROM batch"),
        ("with t as (select 1) select a from batch", "WITH"),
        ("select a from batch union all select a from batch", "UNION"),
        ("select a from batch order by a", "ORDER BY"),
        ("select a from batch limit 3", "LIMIT"),
        ("select a from batch limit 3%", "LIMIT"),
        ("select a from batch offset 3", "LIMIT"),
        ("select distinct a from batch", "DISTINCT"),
        ("select distinct on (a) b from batch", "DISTINCT"),
        ("select a from batch group by a", "GROUP BY"),
        ("select a from batch group by all", "GROUP BY"),
        ("select a from batch having true", "HAVING"),
        ("select a from batch qualify true", "QUALIFY"),
        ("select a from batch using sample 3", "SAMPLE"),
        ("select max(a) as a from batch", "max, a function of the kind aggregate"),
        ("select count(*) as n from batch", "a function of the kind aggregate"),
        ("select a from batch where sum(a) > 3", "sum, a function of the kind aggregate"),
        ("select geomean(a) as a from batch", "geomean, which is avg"),
        ("select upper(string_agg(a, ',')) as a from batch", "string_agg, a function of the kind aggregate"),
        ("select row_number() over () as n from batch", "a window function"),
        ("select lag(a) over (order by a) as n from batch", "a window function"),
        ("select (select 1) as n from batch", "a subquery"),
        ("select a from batch where exists (select 1)", "a subquery"),
        ("select a from batch where a in (select b from batch)", "a subquery"),
        ("select a = any(l) as b from batch", "list_contains"),
        ("select unnest(l) as a from batch", "several rows of one"),
        ("select generate_subscripts(l, 1) as a from batch", "several rows of one"),
        ("select regexp_split_to_table(a, ',') as a from batch", "several rows of one"),
        ("select now() as n from batch", "now, which may give something else"),
        ("select current_timestamp as n from batch", "current_timestamp, which may give something else"),
        ("select Current_Date as n from batch", "Current_Date, which may give something else"),
        ("select ago(interval 1 day) as n from batch", "ago, which is current_timestamp"),
        ("select age(born) as n from batch", "age, which may give something else"),
        ("select random() as n from batch", "random, which may give something else"),
        ("select current_localtimestamp() as n from batch", "current_localtimestamp, which may give something else"),
        ("select uuid() as n from batch", "uuid, which may give something else"),
        ("select a from batch where random() < 0.1", "random, which may give something else"),
        ("select * replace (uuid() as a) from batch", "uuid, which may give something else"),
        ("select [uuid() for x in l] as n from batch", "uuid, which may give something else"),
        ("select getvariable('x') as n from batch", "getvariable, which may give something else"),
        ("select current_setting('threads') as n from batch", "current_setting, which may give something else"),
        ("select nextval('s') as n from batch", "nextval, which may give something else"),
        ("select uper(a) as a from batch", "uper that DuckDB does not have; did you mean upper?"),
        ("select read_csv('x') as a from batch", "read_csv, a function of the kind table"),
        ("select ? as n from batch", "a parameter"),
        ("select $1 as n from batch", "a parameter"),
        ("select #1 as n from batch", "a column by its number"),
        ("select columns('a.*') from batch", "COLUMNS"),
        ("select columns(*) + 1 from batch", "inside an expression"),
        ("select a from batch where columns(*) > 1", "inside an expression"),
        ("select * rename (a as b) from batch", "RENAME"),
        ("select upper(a) from batch", "a column without a name: upper(a)"),
        ("select a + 1 from batch", "a column without a name: (a + 1)"),
        ("select a, b as A from batch", "two columns of the name 'A'"),
    ],
)
def test_refused(sql, found):
    with pytest.raises(ConfigError, match="The SQL of the source cannot be used") as error:
        parsed(sql)
    assert found in str(error.value)


@pytest.mark.parametrize(
    "sql",
    [
        "from batch",
        "table batch",
        "SELECT * FROM Batch;",
        "select batch.a, b.c as d from batch",
        'select a as "we""ird, name", b as ünï from batch',
        "select a::decimal(10,2) as a, try_cast(b as int) as b, try(c // 0) as c from batch",
        "select case when a > 0 then 'x' else null end as s, a between 1 and 2 as t, a in (1, 2) as u from batch",
        "select a as if from batch where a is distinct from 3 and not (b like 'x%' or c is null)",
        "select coalesce(a, b) as c, nullif(a, '') as d, if(a, b, c) as e, greatest(a, b) as f from batch",
        "select strptime(a, '%d.%m.%Y') as at, date_trunc('day', t) as d, extract(year from t) as y from batch",
        "select t + interval 1 day as u, t at time zone 'Europe/Berlin' as v, date '2026-01-01' as w from batch",
        "select s.x as x, s['y'] as y, l[1] as l, list_sum(m) as m, [v + 1 for v in l] as n from batch",
        "select {'a': a} as s, [a, b] as l, map {'k': a} as m, row(a, b) as r from batch",
        "select list_transform(l, lambda x: x * 2) as l, list_filter(l, lambda x: x > 1) as k from batch",
        "select case when a < 0 then error('negative') else a end as a from batch",
        "select a collate nocase as a, split_part(b, '-', 1) as b, md5(c) as c, hash(d) as d from batch",
        "select * exclude (a, b) replace (upper(c) as c), a + 1 as d from batch where d > 3",
        'select batch."current_date" as day from batch',
    ],
)
def test_allowed(sql):
    statement = parsed(sql)
    assert statement.text == sql.removesuffix(";")
    assert pickle.loads(pickle.dumps(statement)) == statement


def test_every_macro_that_makes_one_of_many_or_reads_the_clock_is_refused():
    with opened() as duck:
        functions = Grammar(duck).functions
    macros = {name for name, function in functions.items() if function.kind == "macro"}
    aggregates = {"geomean", "wavg", "json_group_array", "generate_subscripts", "ago", "get_block_size"}
    others = {"split_part", "list_sum", "array_append", "date_add", "nullif", "fmod"}
    refused = set()
    for name in macros if DEEP else macros & (aggregates | others):
        try:
            parsed(f'select "{name}"(a, b) as x from batch')
        except ConfigError:
            refused.add(name)
    assert aggregates <= refused
    assert not others & refused


def test_it_says_which_columns_come_through_unchanged():
    statement = parsed("select *, a as other, B as c, upper(d) as d2 from batch")
    assert [statement.source_of(name) for name in ("x", "A", "other", "c", "d", "d2")] == [
        "x",
        "A",
        "a",
        "B",
        "d",
        None,
    ]
    statement = parsed("select * exclude (a) replace (b + 1 as b), s.x from batch")
    assert [statement.source_of(name) for name in ("a", "b", "x", "y")] == [None, None, None, "y"]
    statement = parsed("select a, b as x from batch where z")
    assert [statement.source_of(name) for name in ("a", "x", "b", "z")] == ["a", "b", None, None]
    assert statement.names == {"a", "b", "z"}
