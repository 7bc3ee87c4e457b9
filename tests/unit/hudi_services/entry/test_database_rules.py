"""Rules of whole databases: expressions over whole names, and paths with names in them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from hudi_services.entry.database_rules import DatabaseRule

RULE = {"server": "shop", "database": "b[0-9]", "base_path": "/lake/{database}.db/{table}"}


def test_names_stand_in_the_path_as_they_are():
    rule = DatabaseRule.model_validate(RULE)
    assert rule.path_of("b1", "{database}\\1") == "/lake/b1.db/{database}\\1"
    assert (rule.takes("b1", "any\nthing"), rule.takes("b10", "t")) == (True, False)
    assert rule.write_options == {"hoodie.table.type": "COPY_ON_WRITE", "hoodie.write.table.version": "9"}


@pytest.mark.parametrize(
    "change",
    [
        {"database": "("},
        {"tables": ["ok", "["]},
        {"tables": []},
        {"excluding": "*"},
        {"base_path": ""},
        {"masks": {"a": "x"}},
    ],
)
def test_mistakes_are_named(change):
    with pytest.raises(ValidationError) as error:
        DatabaseRule.model_validate({**RULE, **change})
    assert error.value.errors()[0]["loc"][0] == next(iter(change))
