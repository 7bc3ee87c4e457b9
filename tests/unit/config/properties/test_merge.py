"""The merge rules that a table's properties give, and the properties of a new table (format notes, section 7.1)."""

from __future__ import annotations

import pytest

from hoodie.config.create import new_table_properties
from hoodie.config.key import resolve
from hoodie.config.keys.table import CREATE_KEYS
from hoodie.config.properties.merge import COMMIT, EVENT, FILL_UNAVAILABLE, IGNORE_DEFAULTS, Deletion, Merging
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, UnsupportedTableError

MODEL = "org.apache.hudi.common.model."
PAYLOAD, MODE = "hoodie.compaction.payload.class", "hoodie.record.merge.mode"
NEW_STRATEGY, OLD_STRATEGY = "hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy"
EVENT_ID, BY_PAYLOAD = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5", "00000000-0000-0000-0000-000000000000"
PREFIX = "hoodie.record.merge.property."
FIELD, MARKER = "hoodie.payload.delete.field", "hoodie.payload.delete.marker"
TOAST = "__debezium_unavailable_value"
DMS = Deletion("Op", "D", ignore_case=True)
DEBEZIUM = Deletion("_change_operation_type", "d", ignore_case=True)


def stored(version: int, **raw: str) -> TableProperties:
    return TableProperties({"hoodie.table.name": "t", "hoodie.table.version": str(version), **raw})


def made(**options: object) -> TableProperties:
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id", **options}
    return new_table_properties(resolve(options, CREATE_KEYS))


@pytest.mark.parametrize(
    ("version", "raw", "expected"),
    [
        # version 9: mode, partial update mode and properties; the legacy class says nothing
        (9, {MODE: EVENT, "hoodie.table.legacy.payload.class": "com.x.Old"}, Merging(EVENT)),
        (9, {MODE: COMMIT, "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}, Merging(COMMIT, IGNORE_DEFAULTS)),
        (
            9,
            {
                MODE: EVENT,
                "hoodie.table.partial.update.mode": "FILL_UNAVAILABLE",
                PREFIX + "hoodie.write.partial.update.unavailable.value": "?",
            },
            Merging(EVENT, FILL_UNAVAILABLE, "?"),
        ),
        (9, {MODE: COMMIT, PREFIX + FIELD: "op", PREFIX + MARKER: "x"}, Merging(COMMIT, deletion=Deletion("op", "x"))),
        (9, {"hoodie.table.ordering.fields": "ts"}, Merging(EVENT)),
        (9, {}, Merging(COMMIT)),
        # version 8: the payload class, though the mode is CUSTOM for it
        (8, {MODE: EVENT, PAYLOAD: MODEL + "DefaultHoodieRecordPayload", NEW_STRATEGY: EVENT_ID}, Merging(EVENT)),
        (
            8,
            {MODE: "CUSTOM", PAYLOAD: MODEL + "PartialUpdateAvroPayload", NEW_STRATEGY: BY_PAYLOAD},
            Merging(EVENT, IGNORE_DEFAULTS),
        ),
        (
            8,
            {MODE: "CUSTOM", PAYLOAD: MODEL + "AWSDmsAvroPayload", NEW_STRATEGY: BY_PAYLOAD},
            Merging(COMMIT, deletion=DMS),
        ),
        (8, {MODE: COMMIT}, Merging(COMMIT)),
        # version 6 by Hudi 1.x, which stores the strategy under its newer key
        (6, {PAYLOAD: MODEL + "OverwriteWithLatestAvroPayload", NEW_STRATEGY: BY_PAYLOAD}, Merging(COMMIT)),
        (
            6,
            {PAYLOAD: MODEL + "OverwriteNonDefaultsWithLatestAvroPayload", NEW_STRATEGY: BY_PAYLOAD},
            Merging(COMMIT, IGNORE_DEFAULTS),
        ),
        # version 6 by Hudi 0.x
        (6, {PAYLOAD: MODEL + "OverwriteWithLatestAvroPayload"}, Merging(COMMIT, logs_by_ordering=True)),
        (6, {PAYLOAD: MODEL + "EventTimeAvroPayload", OLD_STRATEGY: EVENT_ID}, Merging(EVENT)),
        (6, {PAYLOAD: MODEL + "PartialUpdateAvroPayload"}, Merging(EVENT, IGNORE_DEFAULTS)),
        (
            6,
            {PAYLOAD: MODEL + "OverwriteNonDefaultsWithLatestAvroPayload"},
            Merging(COMMIT, IGNORE_DEFAULTS, logs_by_ordering=True, whole_logs=True),
        ),
        (6, {PAYLOAD: MODEL + "AWSDmsAvroPayload"}, Merging(COMMIT, deletion=DMS, logs_by_ordering=True)),
        (
            6,
            {PAYLOAD: MODEL + "debezium.PostgresDebeziumAvroPayload"},
            Merging(EVENT, FILL_UNAVAILABLE, TOAST, DEBEZIUM, whole_logs=True, ordering=("_event_lsn",)),
        ),
        (6, {"hoodie.table.precombine.field": "ts"}, Merging(COMMIT, logs_by_ordering=True)),
    ],
)
def test_what_properties_stand_for(version, raw, expected):
    assert stored(version, **raw).merging == expected


@pytest.mark.parametrize(
    ("version", "raw", "named"),
    [
        (9, {MODE: "CUSTOM", PAYLOAD: "com.x.Mine", NEW_STRATEGY: BY_PAYLOAD}, "com.x.Mine"),
        (9, {MODE: "CUSTOM", NEW_STRATEGY: "1897ef5f"}, "1897ef5f"),
        (9, {MODE: EVENT, "hoodie.table.partial.update.mode": "FILL_UNCHANGED"}, "FILL_UNCHANGED"),
        (8, {MODE: "CUSTOM", PAYLOAD: MODEL + "DefaultHoodieRecordPayload", NEW_STRATEGY: "1897ef5f"}, "1897ef5f"),
        (8, {MODE: "CUSTOM", PAYLOAD: MODEL + "debezium.PostgresDebeziumAvroPayload"}, "PostgresDebezium"),
        (6, {PAYLOAD: MODEL + "debezium.MySqlDebeziumAvroPayload"}, "MySqlDebezium"),
        (6, {PAYLOAD: "com.x.DefaultHoodieRecordPayload"}, "com.x.Default"),
        (6, {PAYLOAD: "org.apache.spark.sql.hudi.command.payload.ExpressionPayload"}, "ExpressionPayload"),
        (6, {PAYLOAD: MODEL + "DefaultHoodieRecordPayload", OLD_STRATEGY: "mine"}, "strategy=mine"),
    ],
)
def test_what_is_not_known_is_refused_by_name(version, raw, named):
    with pytest.raises(UnsupportedTableError, match=named):
        _ = stored(version, **raw).merging


@pytest.mark.parametrize("key", [FIELD, MARKER])
def test_half_a_delete_marker(key):
    with pytest.raises(ConfigError, match="half a delete marker"):
        _ = stored(9, **{PREFIX + key: "x"}).merging
    with pytest.raises(ConfigError, match="Half a delete marker"):
        made(**{key: "x"})


IN_9 = {  # payload class -> what Hudi 1.2.0 stores of it, seen in its tables
    "OverwriteWithLatestAvroPayload": {MODE: COMMIT},
    "DefaultHoodieRecordPayload": {MODE: EVENT},
    "EventTimeAvroPayload": {MODE: EVENT},
    "OverwriteNonDefaultsWithLatestAvroPayload": {MODE: COMMIT, "hoodie.table.partial.update.mode": IGNORE_DEFAULTS},
    "PartialUpdateAvroPayload": {MODE: EVENT, "hoodie.table.partial.update.mode": IGNORE_DEFAULTS},
    "AWSDmsAvroPayload": {MODE: COMMIT, PREFIX + FIELD: "Op", PREFIX + MARKER: "D"},
    "debezium.MySqlDebeziumAvroPayload": {
        MODE: EVENT,
        PREFIX + FIELD: "_change_operation_type",
        PREFIX + MARKER: "d",
        "hoodie.table.ordering.fields": "_event_bin_file,_event_pos",
    },
    "debezium.PostgresDebeziumAvroPayload": {
        MODE: EVENT,
        PREFIX + FIELD: "_change_operation_type",
        PREFIX + MARKER: "d",
        "hoodie.table.ordering.fields": "_event_lsn",
        "hoodie.table.partial.update.mode": FILL_UNAVAILABLE,
        PREFIX + "hoodie.write.partial.update.unavailable.value": TOAST,
    },
}


@pytest.mark.parametrize("payload", IN_9)
def test_a_payload_class_becomes_what_hudi_stores(payload):
    ordering = {} if "debezium" in payload else {"hoodie.table.ordering.fields": "ts"}
    properties = made(**ordering, **{"hoodie.datasource.write.payload.class": MODEL + payload})
    expected = {**ordering, **IN_9[payload], "hoodie.table.legacy.payload.class": MODEL + payload}
    shown = (
        "hoodie.record.merge",
        "hoodie.table.partial",
        "hoodie.table.ordering",
        "hoodie.table.legacy",
        "hoodie.compaction",
    )
    assert {key: value for key, value in properties.raw.items() if key.startswith(shown)} == expected


SIX = {"hoodie.write.table.version": "6"}


def test_version_6_keeps_modes_as_payload_classes():
    options = {**SIX, "hoodie.table.ordering.fields": "ts", "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    assert made(**options).raw[PAYLOAD] == MODEL + "PartialUpdateAvroPayload"
    assert made(**options, **{MODE: COMMIT}).raw[PAYLOAD] == MODEL + "OverwriteNonDefaultsWithLatestAvroPayload"
    dms = made(**SIX, **{"hoodie.datasource.write.payload.class": MODEL + "AWSDmsAvroPayload"})
    assert dms.merging == Merging(COMMIT, deletion=DMS, logs_by_ordering=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({PAYLOAD: "com.x.Mine"}, "com.x.Mine is not supported"),
        ({PAYLOAD: MODEL + "PartialUpdateAvroPayload"}, "needs an ordering field"),
        ({PAYLOAD: MODEL + "AWSDmsAvroPayload", MODE: EVENT}, "contradict each other"),
        (
            {PAYLOAD: MODEL + "debezium.PostgresDebeziumAvroPayload", "hoodie.table.ordering.fields": "ts"},
            "columns of its own",
        ),
        ({"hoodie.table.partial.update.mode": "FILL_UNAVAILABLE"}, "belong together"),
        ({"hoodie.write.partial.update.unavailable.value": "?"}, "belong together"),
        ({**SIX, FIELD: "op", MARKER: "d"}, "version 6 cannot keep"),
        (
            {
                **SIX,
                "hoodie.table.partial.update.mode": "FILL_UNAVAILABLE",
                "hoodie.write.partial.update.unavailable.value": "?",
            },
            "version 6 cannot keep",
        ),
    ],
)
def test_rules_that_cannot_be_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        made(**options)
