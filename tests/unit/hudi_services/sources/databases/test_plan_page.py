"""The plan as a document, and its problems as lines."""

from __future__ import annotations

from dataclasses import replace

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
