"""Plans of databases: each table goes to one place, or is refused by name."""

from __future__ import annotations

import pytest

from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.sources.cdc.mysql.catalog import CatalogTable
from hudi_services.sources.cdc.mysql.columns import printed_column
from hudi_services.sources.databases.plan import plan

COLUMNS = (printed_column("id", "int(11)"), printed_column("Email", "varbinary(9)"))


def rule(database="b1", base_path="/lake/{table}", **said):
    return DatabaseRule(server="shop", database=database, base_path=base_path, **said)


def table(name, key=("id",), **said):
    return CatalogTable(*name.split("."), rows=10, size=100, columns=COLUMNS, key=key, **said)


def planned(rules, names, stored=None, own=None):
    tables = [table(name) if isinstance(name, str) else name for name in names]
    result = plan(rules, tables, stored or {}, own or {})
    return result, result.paths, {one.source: one.kind for one in result.refusals}


def test_patterns_are_over_whole_names_and_names_stand_in_the_path():
    rules = [
        rule("b[12]", "/lake/{database}/{table}", tables=("t.*", "u"), excluding="t9"),
        rule("b.*", "/lake/all", tables="sbtest[0-9]+", merge=True),
    ]
    names = ["b1.t1", "b2.t1", "b1.t9", "b1.u", "b1.uu", "xb1.t1", "b1x.t1", "b2.sbtest2", "b10.sbtest1", "b1.sbtest"]
    result, paths, refused = planned(rules, names)
    assert paths == {
        "b1.t1": "/lake/b1/t1",
        "b1.u": "/lake/b1/u",
        "b2.t1": "/lake/b2/t1",
        "b2.sbtest2": "/lake/all",
        "b10.sbtest1": "/lake/all",
    }
    assert refused == {}
    assert [len(route.sources) for route in result.routes] == [1, 1, 2, 1]
    assert result.routes[2].key == ("_source_database", "_source_table", "id")
    assert result.added == frozenset(paths)


@pytest.mark.parametrize(
    ("rules", "names", "refused"),
    [
        ([rule("b.*")], ["b1.t", "b2.t", "b1.u"], {"b1.t": "clash", "b2.t": "clash"}),
        ([rule()], ["b1.t", "b1.T", "b1.u"], {"b1.t": "clash", "b1.T": "clash"}),
        ([rule(), rule(base_path="/x/{table}", tables="t")], ["b1.t", "b1.u"], {"b1.t": "clash"}),
        ([rule(), rule("b2", "/lake/t/{table}")], ["b1.t", "b2.a", "b1.u"], {"b1.t": "clash", "b2.a": "clash"}),
        ([rule()], [table("b1.t", key=()), "b1.u"], {"b1.t": "unfit"}),
        ([rule()], [table("b1.t", unreadable="the column x"), "b1.u"], {"b1.t": "unfit"}),
        ([rule("b2", add_columns={"n": "no_such + 1"}), rule()], ["b2.t", "b1.u"], {"b2.t": "unfit"}),
        ([rule("b2", masks={"ID": "drop"}), rule()], ["b2.t", "b1.u"], {"b2.t": "unfit"}),
        ([rule("b2", columns=["no_such"]), rule()], ["b2.t", "b1.u"], {"b2.t": "unfit"}),
        ([rule("b2", masks={"phone": "mask"}), rule()], ["b2.t", "b1.u"], {"b2.t": "unfit"}),
    ],
)
def test_tables_that_cannot_be_loaded_are_refused_and_the_others_go(rules, names, refused):
    _, paths, kinds = planned(rules, names)
    assert (paths, kinds) == ({"b1.u": "/lake/u"}, refused)


def test_two_tables_of_one_full_name_are_refused():
    two = [
        CatalogTable("a.b", "c", columns=COLUMNS, key=("id",)),
        CatalogTable("a", "b.c", columns=COLUMNS, key=("id",)),
    ]
    every = rule("a.*", "/lake/{database}/{table}")
    for stored in ({}, {"a.b.c": "/lake/a.b/c"}):
        _, paths, refused = planned([every], [*two, "a.u"], stored)
        assert (paths, refused) == ({"a.u": "/lake/a/u"}, {"a.b.c": "clash"})
    for tables in (two, two[::-1]):
        assert planned([rule("a[.]b"), rule("a", tables="u")], tables)[1:] == ({"a.b.c": "/lake/c"}, {})


def test_a_name_that_leads_to_another_folder_is_refused_alone():
    names = ("..", ".", "a/b", "../x", "u")
    tables = [CatalogTable("b1", name, columns=COLUMNS, key=("id",)) for name in names]
    _, paths, refused = planned([rule()], tables)
    assert (paths, refused) == ({"b1.u": "/lake/u"}, {f"b1.{name}": "unfit" for name in names[:-1]})
    assert len(planned([rule(base_path="/lake/all", merge=True)], tables)[1]) == len(names)


def test_of_two_in_the_way_of_each_other_the_one_that_runs_stays():
    for names in (["b1.t", "b2.t"], ["b1.t", "b1.T"]):
        result, paths, refused = planned([rule("b[12]")], names, stored={"b1.t": "/lake/t"})
        assert (paths, refused, result.added) == ({"b1.t": "/lake/t"}, {names[1]: "clash"}, frozenset())


def test_a_rule_that_comes_later_takes_no_table_of_another():
    rules = [rule(), rule(base_path="/other/{table}", tables="t")]
    result, paths, refused = planned(rules, ["b1.t"], stored={"b1.t": "/lake/t"})
    assert (paths, refused, list(result.unmatched)) == ({"b1.t": "/lake/t"}, {}, rules[1:])


def test_a_table_with_an_entry_of_its_own_is_left_to_it():
    own = {"items": "/lake/items", "b1.t": "/else/t"}
    _, paths, refused = planned([rule()], ["b1.t", "b1.items", "b1.u"], own=own)
    assert (paths, refused) == ({"b1.u": "/lake/u"}, {"b1.items": "clash"})
    _, paths, refused = planned([rule(base_path="/else/t/{table}")], ["b1.u"], own=own)
    assert (paths, refused) == ({}, {"b1.u": "clash"})


def test_the_plan_that_runs_is_extended_and_never_moved():
    stored = {"b1.t": "/lake/t", "b1.gone": "/lake/gone", "b2.t": "/old/t", "b3.t": "/lake/b3"}
    result, paths, refused = planned([rule(), rule("b2", "/new/{table}")], ["b1.t", "b1.u", "b2.t", "b3.t"], stored)
    assert paths == {"b1.t": "/lake/t", "b1.u": "/lake/u", "b1.gone": "/lake/gone"}
    assert refused == {"b2.t": "moved", "b3.t": "left"}
    assert result.added == {"b1.u"}
    assert [source.full_name for source in result.snapshots] == ["b1.u"]


def test_the_key_of_a_rule_has_where_rows_are_from():
    key = {"hoodie.table.recordkey.fields": "Email"}
    origin = ("_source_database", "_source_table")
    for merging, columns in (
        ({"merge": True}, (*origin, "Email")),
        ({"merge": True, "global_keys": True}, ("Email",)),
        ({}, ("Email",)),
    ):
        [route] = planned([rule(hoodie=key, **merging)], ["b1.t"])[0].routes
        assert route.key == columns
        assert route.write_options["hoodie.table.recordkey.fields"] == ",".join(columns)
    [route] = planned([rule(merge=True)], ["b1.t"])[0].routes
    assert (route.key, "hoodie.table.recordkey.fields" in route.write_options) == ((*origin, "id"), False)


def test_columns_are_those_after_the_choices_of_the_rule():
    result, _, _ = planned([rule(masks={"ID": "hash"}, as_text="email"), rule("b9")], ["b1.t"])
    [route] = result.routes
    assert {field.name: str(field.type) for field in route.schema} == {"id": "string", "Email": "string"}
    assert (route.key, route.name) == (("id",), "t")
    assert [one.shown for one in result.unmatched] == ["b9..* into /lake/{table}"]


def test_a_thousand_tables_are_planned_quickly():
    rules = [rule(), rule("b2", "/lake/all", tables="sbtest[0-9]+", merge=True)]
    names = [f"b1.t{number}" for number in range(100)] + [f"b2.sbtest{number}" for number in range(1_000)]
    result, paths, refused = planned(rules, names)
    assert (len(result.routes), len(paths), refused) == (101, 1_100, {})


def test_sources_are_one_more_expression_over_whole_names_and_its_groups_stand_in_the_path():
    rules = [
        rule("b.*", "/lake/{1}/x_{2}", sources=r"b(.*)\.(t.*|u|\.\.)"),
        rule("b.*", "/rest/{table}", sources=r"(?!b.*\.(t.*|u|\.\.)\Z).*"),
        rule("b.*", "/none/{table}", sources="never"),
        rule("c", "/never/{table}", sources="never"),
    ]
    odd = [CatalogTable(database, name, key=("id",)) for database, name in (("b/1", "t"), ("b.", "u"))]
    names = ["b1.t1", "b1.u", "b1.v", "b.t", *odd]
    result, paths, refused = planned(rules, names)
    assert paths == {"b1.t1": "/lake/1/x_t1", "b1.u": "/lake/1/x_u", "b1.v": "/rest/v"}
    assert refused == {"b/1.t": "unfit", "b..u": "unfit", "b.t": "unfit"}
    assert [one.base_path for one in result.unmatched] == ["/never/{table}"]


def test_a_table_of_a_database_with_a_dot_stays_where_it_is_when_it_is_dropped():
    """Its load decides by its policy. Taken for a table of another database, it would be refused: no rule takes that."""
    rules = [rule(r"a\.b", "/lake/{database}/{table}"), rule("c", "/lake/all", tables=r"x\.[0-9]+", merge=True)]
    stored = {"a.b.t": "/lake/a.b/t", "a.b.gone": "/lake/a.b/gone", "c.x.1": "/lake/all", "c.x.2": "/lake/all"}
    tables = [
        CatalogTable("a.b", "t", columns=COLUMNS, key=("id",)),
        CatalogTable("c", "x.1", columns=COLUMNS, key=("id",)),
    ]
    result, paths, refused = planned(rules, tables, stored)
    assert (paths, refused) == (stored, {})
    assert [(source.database, source.name) for route in result.routes for source in route.sources] == [
        ("a.b", "gone"),
        ("a.b", "t"),
        ("c", "x.1"),
        ("c", "x.2"),
    ]
