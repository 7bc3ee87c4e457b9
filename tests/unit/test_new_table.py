"""A table that is not there yet says what it would be, and what its first write would be."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.options import options_for
from hoodie.errors import ConfigError, RecordKeyError
from hoodie.new_table import NewTable
from tests.support.tables import OPTIONS, batch

ROWS = batch([("a", "p", 1, 10)])


@pytest.mark.parametrize("more", [{}, {"hoodie.table.type": "MERGE_ON_READ"}, {"hoodie.write.table.version": "6"}])
def test_it_is_the_table_that_create_makes(tmp_path, more):
    options = {**OPTIONS, **more}
    new = NewTable(str(tmp_path / "t"), options, {"made.by": "test"})
    plan = new.plan_write(ROWS.schema, "insert", options)
    assert list(tmp_path.iterdir()) == [], "nothing is written"
    resolved = NewTable(str(tmp_path / "t"), options_for(options, WRITE_OPTIONS), {"made.by": "test"})
    assert dict(resolved.properties.raw) == dict(new.properties.raw)
    table = HoodieTable.create(new.base_path, options)
    created = dict(table.properties.raw)
    assert {
        name: new.properties.raw[name] for name in created if name != "hoodie.table.checksum"
    }.items() <= created.items()
    assert new.properties.raw["made.by"] == "test"
    later = table.plan_write(ROWS.schema, "insert", options)
    table.write(ROWS, "insert", options)
    assert plan.schema == later.schema == table.schema
    assert (plan.operation, plan.paths, plan.record_keys) == (later.operation, later.paths, later.record_keys)


def test_it_refuses_what_create_and_write_refuse(tmp_path):
    place = str(tmp_path / "t")
    with pytest.raises(ConfigError, match=r"hoodie\.table\.name is missing"):
        _ = NewTable(place, {}).properties
    new = NewTable(place, OPTIONS)
    with pytest.raises(RecordKeyError, match="'id'"):
        new.plan_write(pa.schema([("part", pa.string())]))
    with pytest.raises(ConfigError, match=r"dup\.policy=drop is not for the operation upsert"):
        new.plan_write(ROWS.schema, "upsert", {"hoodie.datasource.insert.dup.policy": "drop"})
    with pytest.raises(ConfigError, match="contradicts the table"):
        new.plan_write(ROWS.schema, options={"hoodie.table.name": "other"})
    assert list(tmp_path.iterdir()) == []
