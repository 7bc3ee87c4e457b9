"""Properties of upgraded tables: which rows win stays the same, or is said."""

from __future__ import annotations

import pytest

from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, UnsupportedTableError
from hoodie.services.upgrade.properties import merge_changes, needs_mode, property_changes, upgraded_properties

MODEL = "org.apache.hudi.common.model."
SIX = {
    "hoodie.table.name": "trips",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.version": "6",
    "hoodie.timeline.layout.version": "1",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "part",
    "hoodie.table.precombine.field": "ts",
    "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
    "hoodie.compaction.record.merger.strategy": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
    "hoodie.table.metadata.partitions": "files",
    "hoodie.table.metadata.partitions.inflight": "",
}
EIGHT = {
    "hoodie.table.name": "trips",
    "hoodie.table.version": "8",
    "hoodie.timeline.layout.version": "2",
    "hoodie.table.precombine.field": "ts",
    "hoodie.compaction.payload.class": MODEL + "DefaultHoodieRecordPayload",
    "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
    "hoodie.record.merge.strategy.id": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
}


def six(payload="DefaultHoodieRecordPayload", **more):
    return TableProperties({**SIX, **({"hoodie.compaction.payload.class": MODEL + payload} if payload else {}), **more})


def changes(before, after, *, chosen=False):
    return list(merge_changes(before, after, chosen=chosen))


@pytest.mark.parametrize("target", [8, 9])
def test_a_table_of_version_6_gets_the_new_timeline_and_no_metadata_table(target):
    before = six()
    after = upgraded_properties(before, target, None)
    assert after.version == target
    raw = dict(after.raw)
    assert raw["hoodie.timeline.layout.version"] == "2"
    assert (raw["hoodie.timeline.path"], raw["hoodie.timeline.history.path"]) == ("timeline", "history")
    assert raw["hoodie.table.initial.version"] == "6"
    assert raw["hoodie.table.keygenerator.type"] == "SIMPLE"
    assert raw["hoodie.table.checksum"] == str(after.checksum())
    assert not [key for key in raw if key.startswith("hoodie.table.metadata")]
    assert "hoodie.compaction.record.merger.strategy" not in raw
    assert after.merging == before.merging
    assert after.ordering_fields == ("ts",)
    assert changes(before, after) == []
    told = {each.key: (each.before, each.after) for each in property_changes(before, after)}
    assert told["hoodie.table.version"] == ("6", str(target))
    assert "hoodie.table.metadata.partitions" not in told


def test_version_8_keeps_the_payload_class_and_version_9_notes_it():
    raw = dict(upgraded_properties(six(), 8, None).raw)
    assert raw["hoodie.compaction.payload.class"] == MODEL + "DefaultHoodieRecordPayload"
    assert raw["hoodie.record.merge.mode"] == "EVENT_TIME_ORDERING"
    assert raw["hoodie.record.merge.strategy.id"] == "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
    assert raw["hoodie.table.precombine.field"] == "ts"
    for before in (six(), TableProperties(EIGHT)):
        raw = dict(upgraded_properties(before, 9, None).raw)
        assert raw["hoodie.table.legacy.payload.class"] == MODEL + "DefaultHoodieRecordPayload"
        assert raw["hoodie.record.merge.mode"] == "EVENT_TIME_ORDERING"
        assert raw["hoodie.table.ordering.fields"] == "ts"
        gone = ("hoodie.compaction.payload.class", "hoodie.record.merge.strategy.id", "hoodie.table.precombine.field")
        assert not set(gone) & set(raw)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_event_time_stays_event_time(kind):
    """Hudi 1.2.0 makes commit time of a copy-on-write table with this class."""
    before = six("EventTimeAvroPayload", **{"hoodie.table.type": kind})
    for target in (8, 9):
        after = upgraded_properties(before, target, None)
        assert after.merge_mode == before.merge_mode == "EVENT_TIME_ORDERING"
        assert changes(before, after) == []


@pytest.mark.parametrize("payload", ["OverwriteWithLatestAvroPayload", None])
def test_the_rule_of_hudi_0_x_without_a_twin_asks_for_a_choice(payload):
    before = six(payload)
    assert needs_mode(before)
    for target in (8, 9):
        after = upgraded_properties(before, target, None)
        assert after.merge_mode == "COMMIT_TIME_ORDERING"
        (told,) = changes(before, after)
        assert "greatest ts" in told
        for mode in ("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"):
            after = upgraded_properties(before, target, mode)
            assert after.merge_mode == mode
            assert changes(before, after, chosen=True) == []


def test_without_ordering_fields_the_later_write_wins_as_before():
    before = TableProperties({key: value for key, value in six(None).raw.items() if "precombine" not in key})
    assert not needs_mode(before)
    assert changes(before, upgraded_properties(before, 9, None)) == []


def test_a_choice_against_the_table_is_refused():
    with pytest.raises(ConfigError, match=r"COMMIT_TIME_ORDERING; the table has EVENT_TIME_ORDERING"):
        upgraded_properties(six(), 9, "COMMIT_TIME_ORDERING")


def test_partial_updates_and_markers_of_deletions_become_properties():
    before = six("PartialUpdateAvroPayload")
    after = upgraded_properties(before, 9, None)
    assert after.raw["hoodie.table.partial.update.mode"] == "IGNORE_DEFAULTS"
    assert changes(before, after) == []
    before = six("AWSDmsAvroPayload")
    after = upgraded_properties(before, 9, None)
    assert after.raw["hoodie.record.merge.property.hoodie.payload.delete.field"] == "Op"
    assert after.raw["hoodie.record.merge.property.hoodie.payload.delete.marker"] == "D"
    assert any("any case" in told for told in changes(before, after))
    before = six("OverwriteNonDefaultsWithLatestAvroPayload")
    assert any("replace each other whole" in told for told in changes(before, upgraded_properties(before, 9, None)))
    own = {"hoodie.record.merge.property.hoodie.payload.delete.field": "gone"}
    own |= {"hoodie.record.merge.property.hoodie.payload.delete.marker": "yes"}
    before = six("AWSDmsAvroPayload", **own)
    assert own.items() <= upgraded_properties(before, 9, None).raw.items()


def test_a_debezium_table_goes_to_version_9_and_not_to_8():
    payload = "debezium.PostgresDebeziumAvroPayload"
    before = six(payload, **{"hoodie.table.precombine.field": "_event_lsn"})
    after = upgraded_properties(before, 9, None)
    assert after.raw["hoodie.table.partial.update.mode"] == "FILL_UNAVAILABLE"
    assert after.raw["hoodie.table.ordering.fields"] == "_event_lsn"
    with pytest.raises(UnsupportedTableError, match="version 9"):
        _ = upgraded_properties(before, 8, None).merging


def test_partition_columns_of_a_custom_key_generator_get_their_types():
    custom = {
        "hoodie.table.keygenerator.class": "org.apache.hudi.keygen.CustomKeyGenerator",
        "hoodie.table.partition.fields": "part,day",
    }
    with pytest.raises(UnsupportedTableError, match="how its Custom key generator treats"):
        upgraded_properties(six(**custom), 9, None)
    typed = {"hoodie.datasource.write.partitionpath.field": "part:SIMPLE,day:TIMESTAMP"}
    after = upgraded_properties(six(**custom, **typed), 9, None)
    assert after.raw["hoodie.table.partition.fields"] == "part:SIMPLE,day:TIMESTAMP"
    assert "hoodie.datasource.write.partitionpath.field" not in after.raw
    assert after.timestamp_partition_fields == ("day",)
