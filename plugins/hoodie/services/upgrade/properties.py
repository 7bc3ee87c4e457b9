"""Properties of an upgraded table, made of those that it has (format notes, sections 1.1 and 7.1). Reads and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hoodie.config.create_merge import version_9_properties
from hoodie.config.properties.merge import (
    BY_PAYLOAD,
    COMMIT,
    DELETE_FIELD_KEY,
    EVENT,
    MODE_KEY,
    PAYLOAD_KEY,
    STRATEGY_KEY,
    STRATEGY_KEY_6,
    Merging,
    merging_of_payload,
    strategy_of,
)
from hoodie.config.properties.table import (
    METADATA_PARTITIONS,
    METADATA_PARTITIONS_INFLIGHT,
    PARTITION_FIELDS,
    TYPED_PARTITION_FIELDS,
    TableProperties,
)
from hoodie.errors import ConfigError
from hoodie.services.upgrade_stages import PropertyChange

_MODEL = "org.apache.hudi.common.model."
_PAYLOADS = {COMMIT: _MODEL + "OverwriteWithLatestAvroPayload", EVENT: _MODEL + "DefaultHoodieRecordPayload"}
_PLAIN = frozenset({*_PAYLOADS.values(), _MODEL + "EventTimeAvroPayload"})
"""Payload classes that stand for a merge mode, and for nothing else."""
_PRECOMBINE = "hoodie.table.precombine.field"


def upgraded_properties(properties: TableProperties, target: int, mode: str | None) -> TableProperties:
    """The properties in version `target`. `mode` is the merge mode that a user has chosen, None without a choice.

    They name no metadata table: it is deleted. Raises ConfigError for a mode that the table cannot get, and what
    `TableProperties.merging` and `timestamp_partition_fields` raise.
    """
    _check_choice(properties, mode)
    rules = _rules(properties, target, mode)
    values = dict(properties.raw)
    if properties.version < 8:
        values |= _of_layout_2(properties)
        values.pop(TYPED_PARTITION_FIELDS, None)
    removed = [METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT, STRATEGY_KEY_6]
    if target >= 9:
        ordering = rules.ordering or properties.ordering_fields
        removed += [PAYLOAD_KEY, STRATEGY_KEY, _PRECOMBINE]
        values |= version_9_properties(rules, properties.raw.get(PAYLOAD_KEY), ordering)
    elif properties.version < 8:
        values |= _merging_of_8(properties, rules)
    for key in removed:
        values.pop(key, None)
    values["hoodie.table.version"] = str(target)
    return TableProperties(values).with_checksum()


def property_changes(before: TableProperties, after: TableProperties) -> tuple[PropertyChange, ...]:
    """The properties that differ, by name, but for those of the metadata table."""
    keys = before.raw.keys() | after.raw.keys()
    values = [(key, before.raw.get(key), after.raw.get(key)) for key in sorted(keys)]
    metadata = (METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT)
    return tuple(PropertyChange(*value) for value in values if value[1] != value[2] and value[0] not in metadata)


def merge_changes(before: TableProperties, after: TableProperties, *, chosen: bool) -> Iterator[str]:
    """Sentences about which rows win, where this differs after the upgrade. With `chosen` a user has chosen the merge mode."""
    old, new = before.merging, after.merging
    ordering = ", ".join(before.ordering_fields)
    if old.logs_by_ordering and ordering and not chosen:
        yield f"of rows with one key in one write the one with the greatest {ordering} wins, also in the past; then the last does"
    if old.whole_logs and not new.whole_logs and before.is_merge_on_read:
        yield "rows in logs replace each other whole; then they keep values that a later row does not give"
    if old.deletion != new.deletion:
        field = old.deletion.field if old.deletion is not None else ""
        yield f"{field} marks deletions in any case of its letters; then only as it is written in the properties"


def needs_mode(properties: TableProperties) -> bool:
    """Return whether later versions have two modes for such a table, neither of which is the same."""
    return properties.merging.logs_by_ordering and _is_plain(properties) and bool(properties.ordering_fields)


def _check_choice(properties: TableProperties, mode: str | None) -> None:
    if mode is None or mode == properties.merge_mode:
        return
    if not needs_mode(properties):
        raise ConfigError(
            f"Option {MODE_KEY} contradicts table {properties.name!r}",
            found=f"{mode}; the table has {properties.merge_mode}",
            fix="remove the option",
        )


def _is_plain(properties: TableProperties) -> bool:
    return properties.raw.get(PAYLOAD_KEY, "") in ("", *_PLAIN)


def _rules(properties: TableProperties, target: int, mode: str | None) -> Merging:
    """The merge rules in the later version; in version 8 the payload class still decides."""
    rules = properties.merging
    if not _is_plain(properties) and target >= 9:
        rules = merging_of_payload(properties.raw[PAYLOAD_KEY], by_0_x=False) or rules
        if not properties.raw.get(DELETE_FIELD_KEY):
            return rules
    return replace(rules, mode=mode or rules.mode, deletion=None)  # a marker of deletions is a property already


def _of_layout_2(properties: TableProperties) -> dict[str, str]:
    """The properties of the timeline and of the key generator."""
    values = {
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.table.initial.version": str(properties.version),
    }
    if properties.raw.get("hoodie.table.keygenerator.class"):
        values["hoodie.table.keygenerator.type"] = properties.keygen_type
    if properties.keygen_type == "CUSTOM" and properties.timestamp_partition_fields is not None:  # it knows all types
        values[PARTITION_FIELDS] = properties.typed_partition_fields
    return values


def _merging_of_8(properties: TableProperties, rules: Merging) -> dict[str, str]:
    if _is_plain(properties):
        return {MODE_KEY: rules.mode, PAYLOAD_KEY: _PAYLOADS[rules.mode], STRATEGY_KEY: strategy_of(rules.mode)}
    return {MODE_KEY: "CUSTOM", PAYLOAD_KEY: properties.raw[PAYLOAD_KEY], STRATEGY_KEY: BY_PAYLOAD}
