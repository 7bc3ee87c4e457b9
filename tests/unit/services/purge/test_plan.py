"""The plan of a purge: what goes, what stays, and why."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import Purge
from hoodie.errors import DeleteCapError
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

PERSON = "person-4711"
PURGE = Purge(f"id = '{PERSON}'")


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    for step in range(2):
        table.write(batch([(PERSON, "p", step, step), ("other-12", "q", step, step)]), "upsert", SMALL_BLOOM)
    return table


def test_the_decision_has_the_counts(table):
    decision = table.explain(PURGE)
    text = decision.as_text("purge")
    assert "purge: 1 row in the table, 2 files with something of 1 key" in text
    assert "rewrites 1 file group, with new footers" in text
    assert "time travel to versions before this run ends" in text
    assert "would erase 2 files" in text
    assert {item.reason.partition(";")[0] for item in decision.items} == {"purged"}
    assert all("part=p/" in item.path for item in decision.items)


def test_short_values_are_counted(table):
    assert "bytes not for 1 value (short, or too many)" in table.explain(
        Purge("value = 1 and id = 'other-12'")
    ).as_text("purge")


def test_past_the_limits_only_with_the_digest(table):
    few = {"hoodie.delete.max.files": 1}
    with pytest.raises(DeleteCapError) as failed:
        table.run(PURGE, few)
    assert len(content(table)) == 2
    digest = table.explain(PURGE, few).digest
    assert f"--yes {digest}" in str(failed.value)
    assert table.run(Purge(PURGE.condition, agreed_digest=digest), few).is_erased


def test_keys_of_several_partitions(tmp_path):
    table = create(tmp_path / "two", FakeClock())
    rows = pa.concat_tables([batch([(PERSON, "p", 1, 1), (PERSON, "q", 1, 1), ("other-12", "q", 1, 1)])])
    table.write(rows, "upsert", SMALL_BLOOM)
    decision = table.explain(Purge(f"id = '{PERSON}' and part = 'p'"))
    assert decision.facts["keys"] == 1
    assert table.run(Purge(f"id = '{PERSON}' and part = 'p'")).rows == 1
    assert sorted(table.read()["id"].to_pylist()) == ["other-12", PERSON]


def test_the_versions_of_a_row_before_it_changed_its_partition_go(tmp_path):
    table = create(tmp_path / "moved", FakeClock())
    moving = {**SMALL_BLOOM, "hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"}
    for step, part in enumerate(("p", "z")):
        table.write(batch([(PERSON, part, step, step), ("other-12", "p", step, step)]), "upsert", moving)
    assert table.run(Purge("part = 'z'")).is_erased
    files = (file.path for part in table.state().files.all() for file in part.base_files)
    assert not [path for path in files if PERSON.encode() in table.storage.read(path)]
    assert content(table) == {"other-12": ("p", 1, 1)}


def test_a_metadata_table_that_alone_holds_a_value_goes(table):
    assert table.run(PURGE).is_erased
    table.storage.create(".hoodie/metadata/.hoodie/hoodie.properties", b"")
    table.storage.create(".hoodie/metadata/record_index/file", PERSON.encode())
    assert "deletes Hudi's metadata table, with values in 1 file" in table.explain(PURGE).as_text("purge")
    assert table.run(PURGE).is_erased
    assert table.storage.info(".hoodie/metadata/record_index/file") is None


def test_approval_is_of_the_condition_and_its_rows(table):
    one, all_rows = (table.explain(Purge(where)) for where in (f"id = '{PERSON}'", f"id = '{PERSON}' or value >= 0"))
    assert {item.path for item in one.items} <= {item.path for item in all_rows.items}
    again = table.explain(Purge(f"id  =  '{PERSON}'"))
    assert [item.path for item in again.items] == [item.path for item in one.items]
    assert len({one.digest, all_rows.digest, again.digest}) == 3
    assert table.explain(PURGE).digest == one.digest
