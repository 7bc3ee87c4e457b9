"""The stored plan: it comes back, and keeps the paths of tables that are refused."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError
from hoodie.storage import open_storage
from hudi_services.sources.databases.plan import plan
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan
from tests.unit.hudi_services.sources.databases.test_plan import rule, table


def test_a_plan_comes_back_and_changes_are_kept_until_they_are_accepted(tmp_path):
    store = PlanStore(open_storage(str(tmp_path)), "shop")
    assert store.latest() == StoredPlan()
    rules = (rule(masks={"email": "hash"}), rule("b2", "/x", merge=True))
    first = store.latest().followed_by(rules, plan(rules, [table("b1.t"), table("b1.u")], {}, {}))
    store.put(first)
    assert store.latest() == first
    assert first.paths == {"b1.t": "/lake/t", "b1.u": "/lake/u"}
    moved = (rule(tables="t", base_path="/new/{table}"),)
    changed = plan(moved, [table("b1.t"), table("b1.u")], first.paths, {})
    second = first.followed_by(moved, changed)
    assert (second.number, second.paths, len(second.refusals)) == (2, first.paths, 2)
    assert second.accepting(changed).paths == {}
    assert not second.is_like(first)
    (tmp_path / "shop" / "plans" / "0000000002.json").write_text('{"rules": [{"server": 1}], "paths": {}}')
    with pytest.raises(CorruptTableError, match="The plan shop/plans"):
        store.latest()
