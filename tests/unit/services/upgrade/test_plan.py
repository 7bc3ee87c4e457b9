"""Plans of upgrades: their text, their digest, and requests that make no sense."""

from __future__ import annotations

import pytest

from hoodie import Upgrade
from hoodie.config.properties.store import update_properties
from hoodie.errors import ConfigError, PlanChangedError, UnsupportedTableError
from hoodie.services.stages import Items
from hoodie.services.upgrade.index_definitions import INDEX_DEFINITIONS
from hoodie.services.upgrade_stages import PropertyChanges, UpgradeScope
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create
from tests.support.upgrades import made, with_history

ROWS = batch([("a", "p", 1, 1)])


@pytest.fixture
def table(tmp_path):
    return made(tmp_path / "t")


def test_it_names_each_file_and_property_and_changes_nothing(tmp_path):
    table = with_history(tmp_path / "t", "COPY_ON_WRITE", archived=True)
    before = table.timeline, dict(table.properties.raw)
    decision = table.explain(Upgrade(9))
    assert (table.timeline, dict(table.properties.raw)) == before
    files = [file.name for file in table.storage.list(".hoodie").files if file.name[0].isdigit()]
    scope = decision.stage(UpgradeScope)
    assert (scope.version, scope.target, scope.timeline_files) == (6, 9, len(files))
    assert scope.archived_instants == len(table.state().archive.instants()) > 0
    assert {item.path.rpartition("/")[2] for item in decision.stage(Items)} >= set(files)
    assert {each.key for each in decision.stage(PropertyChanges).properties} >= {"hoodie.table.version"}
    text = decision.as_text("upgrade")
    assert "sets hoodie.table.version=9 (was 6)" in text
    assert f"{scope.archived_instants} archived instants would be written" in text
    assert f"plan {decision.digest}" in text
    told = decision.as_dict("upgrade")
    assert told["digest"] == decision.digest
    assert {"key": "hoodie.table.version", "before": "6", "after": "9"} in told["properties"]


def test_the_digest_is_of_the_target_the_properties_and_the_timeline(table):
    table.write(ROWS, "upsert", SMALL_BLOOM)
    digest = table.explain(Upgrade(9)).digest
    assert table.explain(Upgrade(9)).digest == digest != table.explain(Upgrade(8)).digest
    table.write(ROWS, "upsert", SMALL_BLOOM)
    assert table.explain(Upgrade(9)).digest != digest
    with pytest.raises(PlanChangedError, match=digest):
        table.run(Upgrade(9, only=digest))
    assert table.version == 6
    table.run(Upgrade(9, only=table.explain(Upgrade(9)).digest))
    assert table.version == 9


def test_a_metadata_table_does_not_change_the_digest(table):
    """The run switches it off before it plans again."""
    table.write(ROWS, "upsert", SMALL_BLOOM)
    digest = table.explain(Upgrade(9)).digest
    update_properties(table.storage, table.properties.with_values({"hoodie.table.metadata.partitions": "files"}))
    decision = table.explain(Upgrade(9))
    assert decision.digest == digest
    assert "metadata table is switched off" in decision.as_text("upgrade")
    table.run(Upgrade(9, only=digest))
    assert (table.version, table.properties.has_metadata_table) == (9, False)


def test_requests_that_make_no_sense(table, tmp_path):
    with pytest.raises(ConfigError, match="give 8 or 9"):
        table.explain(Upgrade(7))
    table.run(Upgrade(8))
    assert "already" in table.explain(Upgrade(8)).reason
    assert Upgrade(8).report(table.run(Upgrade(8)))[0].startswith("nothing to do")
    table.run(Upgrade(9))
    with pytest.raises(ConfigError, match="is not downgraded"):
        table.explain(Upgrade(8))
    new = create(tmp_path / "u", FakeClock())
    assert "version 9 already" in new.explain(Upgrade(9)).reason


def test_a_table_that_the_library_does_not_write_is_refused(table):
    cdc = {"hoodie.table.cdc.enabled": "true"}
    update_properties(table.storage, table.properties.with_values(cdc))
    with pytest.raises(UnsupportedTableError, match="change data capture"):
        table.explain(Upgrade(9))


def test_from_version_8_to_9_the_timeline_stays(table):
    table.write(ROWS, "upsert", SMALL_BLOOM)
    table.run(Upgrade(8))
    table.storage.create(INDEX_DEFINITIONS, b'{"indexDefinitions": {"record_index": {}}}')
    decision = table.explain(Upgrade(9))
    assert [item.path for item in decision.items] == [".hoodie/hoodie.properties", INDEX_DEFINITIONS]
    before = table.timeline
    table.run(Upgrade(9))
    assert table.timeline == before
    assert b'"V1"' in table.storage.read(INDEX_DEFINITIONS)
