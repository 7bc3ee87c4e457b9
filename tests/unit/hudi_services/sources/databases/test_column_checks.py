"""Columns of tables that become one, before anything runs."""

from __future__ import annotations

import pytest

from hudi_services.entry.database_rules import DatabaseRule
from hudi_services.sources.cdc.mysql.catalog import CatalogTable
from hudi_services.sources.cdc.mysql.columns import printed_column
from hudi_services.sources.databases.column_checks import JoinedColumns


def table(name, **columns):
    return CatalogTable("b", name, columns=tuple(printed_column(*one) for one in columns.items()), key=("id",))


def rule(**said):
    return DatabaseRule(server="shop", database="b", base_path="/lake/all", merge=True, **said)


TABLES = [
    table("s1", id="int(11)", v="date"),
    table("s2", id="int(11)", v="varchar(9)"),
    table("s3", id="bigint(20)", v="varchar(9)", n="int(11)"),
    table("s4", id="int(11)", v="varchar(9)"),
]


def test_the_columns_of_most_tables_count_and_running_ones_stay():
    joined = JoinedColumns(rule(), TABLES)
    [misfit] = joined.misfits(frozenset())
    assert (misfit.table.name, misfit.fix) == ("s1", misfit.fix)
    assert "'v'" in misfit.reason
    assert {name: str(joined.schema.field(name).type) for name in ("id", "v", "n")} == {
        "id": "int64",
        "v": "string",
        "n": "int32",
    }
    running = frozenset(["b.s1"])
    assert {misfit.table.name for misfit in joined.misfits(running)} == {"s2", "s3", "s4"}
    assert list(JoinedColumns(rule(masks={"V": "drop"}), TABLES).misfits(frozenset())) == []


@pytest.mark.parametrize(
    ("added", "refused"), [({"n2": "n + 1"}, []), ({"n2": "other"}, ["s2", "s3", "s4"]), ({"N": "1"}, ["s3"])]
)
def test_expressions_have_to_fit_the_columns_of_all(added, refused):
    joined = JoinedColumns(rule(add_columns=added), TABLES[1:])
    assert sorted(misfit.table.name for misfit in joined.misfits(frozenset())) == refused
    assert {misfit.table.name for misfit in JoinedColumns(rule(where="n > 1"), TABLES[1:]).misfits(frozenset())} == {
        "s2",
        "s4",
    }
    assert joined.schema.names[:4] == ["_source_database", "_source_table", "id", "v"]
    assert list(joined.misfits(frozenset(one.full_name for one in TABLES))) == []


def test_columns_that_only_expressions_read_are_in_each_table_with_one_type():
    tables = [table("s1", id="int(11)", v="float"), table("s2", id="int(11)", v="double"), table("s3", id="int(11)")]
    chosen = rule(columns=["ID"], add_columns={"w": "CAST(v AS VARCHAR)"})
    reasons = {misfit.table.name: misfit.reason for misfit in JoinedColumns(chosen, tables).misfits(frozenset())}
    assert "'w' cannot be used" in reasons.pop("s3")
    assert ["other types in other tables" in reason for reason in reasons.values()] == [True]
    assert JoinedColumns(chosen, tables[:1]).schema.names == ["_source_database", "_source_table", "id", "w"]
    replaced = rule(add_columns={"v": "CAST(v AS VARCHAR)"})
    assert JoinedColumns(replaced, tables[:1]).schema.field("v").type == "string"
    assert [misfit.table.name for misfit in JoinedColumns(replaced, tables[1:]).misfits(frozenset())] == ["s3"]


def test_chosen_columns_leave_out_the_others():
    chosen = rule(columns=["ID", "n"], add_columns={"twice": "n * 2"})
    joined = JoinedColumns(chosen, TABLES)
    assert list(joined.misfits(frozenset())) == []  # the clash of v is not in the way
    assert joined.schema.names == ["_source_database", "_source_table", "id", "n", "twice"]
    for said, words in (
        ({"columns": ["n"]}, "'id' is a part of the key of b.s3"),
        ({"columns": ["id"], "add_columns": {"long": "length(w)"}}, "'long' cannot be used: length(w)"),
        ({"add_columns": {"id": "id * 2"}}, "'id' is a part of the key of b.s3, so no expression can take its place"),
        ({"columns": ["id"], "where": "v > 'a'"}, "cannot be filtered by v > 'a'"),
    ):
        [misfit] = JoinedColumns(rule(**said), TABLES[2:3]).misfits(frozenset())
        assert words in misfit.reason
