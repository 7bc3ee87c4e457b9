"""MERGE INTO against a few lines of Python: any clauses, on both kinds of table."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hoodie.errors import SqlError
from hoodie.sql import connect
from tests.support.examples import examples

KEYS = st.integers(0, 5)
VALUES = st.one_of(st.none(), st.integers(0, 3))
TARGETS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=5)
SOURCES = st.lists(st.tuples(KEYS, VALUES), max_size=6)
MATCHED = {
    "update set v = s.v": lambda t, s: s,
    "update set v = t.v + 1": lambda t, s: None if t is None else t + 1,
    "update set *": lambda t, s: s,
    "delete": lambda t, s: "gone",
}
CONDITIONS = {
    "": lambda t, s: True,
    "and s.v > 1": lambda t, s: s is not None and s > 1,
    "and t.v = 2": lambda t, s: t == 2,
    "and s.v is null": lambda t, s: s is None,
}
OF_SOURCE = [condition for condition in CONDITIONS if "t.v" not in condition]
CLAUSES = st.lists(
    st.one_of(
        st.tuples(st.just("matched"), st.sampled_from(sorted(CONDITIONS)), st.sampled_from(sorted(MATCHED))),
        st.tuples(st.just("not matched"), st.sampled_from(OF_SOURCE), st.sampled_from(["insert *"])),
    ),
    min_size=1,
    max_size=4,
)


def merged(target, source, clauses):
    """The rows after the merge; None where it changes a row twice, or a key comes twice."""
    result, acted = dict(target), []
    for key, value in source:
        kind = "matched" if key in target else "not matched"
        for each, condition, action in clauses:
            stored = target.get(key)
            if each == kind and CONDITIONS[condition](stored, value):
                acted.append(key)
                new = MATCHED[action](stored, value) if kind == "matched" else value
                result.pop(key, None)
                if new != "gone":
                    result[key] = new
                break
    return None if len(set(acted)) < len(acted) else result


@pytest.mark.histories
@pytest.mark.parametrize("kind", ["cow", "mor"])
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(target=TARGETS, source=SOURCES, clauses=CLAUSES)
def test_a_merge_does_what_its_clauses_say(tmp_path_factory, kind, target, source, clauses):
    with connect(tmp_path_factory.mktemp("merge")) as db:
        db.sql(f"create table t (id int, v int) using hudi tblproperties (primaryKey = 'id', type = '{kind}')")
        db.sql("insert into t values " + ", ".join(f"({k}, {'null' if v is None else v})" for k, v in target.items()))
        rows = " union all ".join(f"select {k} id, cast({'null' if v is None else v} as int) v" for k, v in source)
        source_query = rows or "select 1 id, 1 v where false"
        text = " ".join(f"when {each} {condition} then {action}" for each, condition, action in clauses)
        statement = f"merge into t using ({source_query}) s on t.id = s.id {text}"
        expected = merged(target, source, clauses)
        if expected is None:
            with pytest.raises(SqlError, match="one row of the table"):
                db.sql(statement)
            expected = target
        else:
            db.sql(statement)
        assert dict(db.sql("select id, v from t").rows()) == expected
