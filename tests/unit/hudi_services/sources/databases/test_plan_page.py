"""The plan as a document, and its problems as lines."""

from __future__ import annotations

from dataclasses import replace

from hudi_services.sources.cdc.mysql.columns import catalog_column
from hudi_services.sources.cdc.requirement import Requirement
from hudi_services.sources.databases.plan import plan
from hudi_services.sources.databases.plan_page import document, problems
from hudi_services.sources.databases.plan_store import StoredPlan
from hudi_services.sources.databases.planner import CurrentPlan
from tests.unit.hudi_services.sources.databases.test_plan import rule, table


def test_problems_name_tables_rules_and_a_log_that_is_kept_too_briefly():
    rules = (rule(), rule("b9"))
    tables = [table("b1.t"), table("b1.u", key=()), table("b1.v")]
    result = plan(rules, tables, {"b1.v": "/lake/v"}, {})
    current = CurrentPlan(rules, result, StoredPlan(), StoredPlan(), 0.0000001)
    values = document(current)
    assert [(route["sources"], route["state"]) for route in values["routes"]] == [(["b1.t"], "new"), (["b1.v"], "runs")]
    assert values["estimate"]["rows"] == 10
    lines = list(problems(current))
    assert [words in line for words, line in zip(("b1.u is refused", "the rule b9."), lines, strict=False)] == [
        True
    ] * 2
    unmet = (Requirement("rows are logged", "missing", "STATEMENT", "SET …"), Requirement("GTIDs", "warning", "none"))
    lines = list(problems(replace(current, preflight=unmet)))
    assert [line for line in lines if "rows are logged" in line] == ["A run needs rows are logged: STATEMENT. SET …"]
    assert not any("GTIDs" in line for line in lines)
    assert list(problems(CurrentPlan((), plan((), [], {}, {}), StoredPlan(), StoredPlan(), 5))) == []


def test_expressions_that_read_dropped_columns_are_warnings():
    rules = (
        rule(
            masks={"Phone": "drop", "v": "drop", "w": "mask"},
            add_columns={"area": "left(phone, 4)", "v": "upper(v)", "other": "w || 'phone'"},
        ),
    )
    columns = [catalog_column(name, "varchar", "varchar(9)", 9, None, None, None) for name in ("id", "phone", "v", "w")]
    tables = [replace(table(name), columns=tuple(columns)) for name in ("b1.t", "b1.u")]
    current = CurrentPlan(rules, plan(rules, tables, {}, {}), StoredPlan(), StoredPlan(), 0)
    lines = document(current)["warnings"]
    assert [line.partition("drops the column ")[2].partition(":")[0] for line in lines] == [
        "Phone, and the expression of area reads it",
        "v, and the expression of v reads it",
    ]
    assert list(problems(current)) == []
    assert document(replace(current, plan=plan((rule(),), tables, {}, {})))["warnings"] == []
