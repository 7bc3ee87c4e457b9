"""How a table merges records of one key, from its properties (format notes, section 7.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hoodie.errors import ConfigError, UnsupportedTableError

COMMIT, EVENT = "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"
IGNORE_DEFAULTS, FILL_UNAVAILABLE = "IGNORE_DEFAULTS", "FILL_UNAVAILABLE"

MODE_KEY = "hoodie.record.merge.mode"
PAYLOAD_KEY = "hoodie.compaction.payload.class"
LEGACY_PAYLOAD_KEY = "hoodie.table.legacy.payload.class"
STRATEGY_KEY = "hoodie.record.merge.strategy.id"
STRATEGY_KEY_6 = "hoodie.compaction.record.merger.strategy"
PARTIAL_KEY = "hoodie.table.partial.update.mode"
_PROPERTY = "hoodie.record.merge.property."
DELETE_FIELD_KEY = _PROPERTY + "hoodie.payload.delete.field"
DELETE_MARKER_KEY = _PROPERTY + "hoodie.payload.delete.marker"
UNAVAILABLE_KEY = _PROPERTY + "hoodie.write.partial.update.unavailable.value"

EVENT_STRATEGY = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
_STRATEGIES = {EVENT_STRATEGY: EVENT, "ce9acb64-bde0-424c-9b91-f6ebba25356d": COMMIT}
_PACKAGES = ("org.apache.hudi.common.model", "org.apache.hudi.common.model.debezium")
BY_PAYLOAD = "00000000-0000-0000-0000-000000000000"
_WAY_OUT = "upgrade the table to version 9 if that gives it a merge mode, or go on with Hudi"


@dataclass(frozen=True)
class Deletion:
    """Rows whose text of `field` is `marker` remove their key; some payload classes do not mind the case."""

    field: str
    marker: str
    ignore_case: bool = False

    @property
    def by_payload_class(self) -> bool:
        """Return whether a payload class gives it to readers, as before version 9; later only writers look at the marker."""
        return self.ignore_case


@dataclass(frozen=True)
class Merging:
    """How a table merges.

    `mode` is COMMIT_TIME_ORDERING or EVENT_TIME_ORDERING. `partial` is IGNORE_DEFAULTS, FILL_UNAVAILABLE (then values equal to
    `unavailable` are not given) or None. `logs_by_ordering` says that rows of logs and of a batch are ordered among each other
    by the ordering fields even in COMMIT_TIME_ORDERING, as payload classes of Hudi 0.x do. `whole_logs` says that rows of logs
    replace each other whole although the mode is partial. `ordering` are the fields that a payload class insists on.
    """

    mode: str
    partial: str | None = None
    unavailable: str | None = None
    deletion: Deletion | None = None
    logs_by_ordering: bool = False
    whole_logs: bool = False
    ordering: tuple[str, ...] = ()


_EVENT_PARTIAL, _COMMIT_PARTIAL = Merging(EVENT, IGNORE_DEFAULTS), Merging(COMMIT, IGNORE_DEFAULTS)
_DMS = Merging(COMMIT, deletion=Deletion("Op", "D", ignore_case=True))
_POSTGRES = Merging(
    EVENT,
    FILL_UNAVAILABLE,
    "__debezium_unavailable_value",
    Deletion("_change_operation_type", "d", ignore_case=True),
    ordering=("_event_lsn",),
)
_POSTGRES_9 = replace(_POSTGRES, deletion=Deletion("_change_operation_type", "d"))
_BY_1_X = {
    "OverwriteWithLatestAvroPayload": Merging(COMMIT),
    "DefaultHoodieRecordPayload": Merging(EVENT),
    "EventTimeAvroPayload": Merging(EVENT),
    "OverwriteNonDefaultsWithLatestAvroPayload": _COMMIT_PARTIAL,
    "PartialUpdateAvroPayload": _EVENT_PARTIAL,
    "AWSDmsAvroPayload": _DMS,
}
_BY_0_X = {
    "OverwriteWithLatestAvroPayload": Merging(COMMIT, logs_by_ordering=True),
    "DefaultHoodieRecordPayload": Merging(EVENT),
    "EventTimeAvroPayload": Merging(EVENT),
    "OverwriteNonDefaultsWithLatestAvroPayload": replace(_COMMIT_PARTIAL, logs_by_ordering=True, whole_logs=True),
    "PartialUpdateAvroPayload": _EVENT_PARTIAL,
    "AWSDmsAvroPayload": replace(_DMS, logs_by_ordering=True),
    "PostgresDebeziumAvroPayload": replace(_POSTGRES, whole_logs=True),
}
_IN_9 = _BY_1_X | {
    "AWSDmsAvroPayload": replace(_DMS, deletion=Deletion("Op", "D")),
    "MySqlDebeziumAvroPayload": Merging(
        EVENT, deletion=_POSTGRES_9.deletion, ordering=("_event_bin_file", "_event_pos")
    ),
    "PostgresDebeziumAvroPayload": _POSTGRES_9,
}


def strategy_of(mode: str) -> str:
    """The id of Hudi's merge strategy of a mode."""
    return next(strategy for strategy, of_mode in _STRATEGIES.items() if of_mode == mode)


def merging_of_payload(payload: str, *, by_0_x: bool) -> Merging | None:
    """The merge rules of a table that Hudi creates with this class, in version 6 by 0.x or in version 9; None for another
    class."""
    return _rules_of_payload(payload, _BY_0_X if by_0_x else _IN_9)


def merging_of(raw: Mapping[str, str], version: int, table: str) -> Merging:
    """How the table with these properties merges.

    In version 9 the merge mode, partial update mode and merge properties decide; the payload class that it keeps of older times
    has no effect. In older versions the payload class decides if there is one, then the merge mode or strategy. Raises
    UnsupportedTableError for an unknown payload class, merger or mode, ConfigError for half a delete marker.
    """
    rules = _version_9(raw, table) if version >= 9 else _older(raw, version, table)
    deletion = _deletion(raw, table)
    return rules if deletion is None else replace(rules, deletion=deletion)


def _version_9(raw: Mapping[str, str], table: str) -> Merging:
    mode = raw.get(MODE_KEY, "").upper() or _STRATEGIES.get(raw.get(STRATEGY_KEY, "")) or _default(raw)
    if mode not in (COMMIT, EVENT):
        raise _refused(raw, table)
    partial = raw.get(PARTIAL_KEY, "").upper() or "NONE"
    if partial == "NONE":
        return Merging(mode)
    if partial == IGNORE_DEFAULTS:
        return Merging(mode, IGNORE_DEFAULTS)
    if partial == FILL_UNAVAILABLE:
        return Merging(mode, FILL_UNAVAILABLE, raw.get(UNAVAILABLE_KEY))
    raise UnsupportedTableError(
        f"Table {table!r} has a partial update mode that is not supported",
        found=f"{PARTIAL_KEY}={partial}",
        fix=f"supported are {IGNORE_DEFAULTS} and {FILL_UNAVAILABLE}; {_WAY_OUT}",
    )


def _older(raw: Mapping[str, str], version: int, table: str) -> Merging:
    """Releases 0.x and 1.x differ in what they do to one and the same version 6; only 1.x stores the strategy's newer key."""
    by_0_x = version == 6 and not raw.get(STRATEGY_KEY)
    strategy = raw.get(STRATEGY_KEY) or raw.get(STRATEGY_KEY_6) or BY_PAYLOAD
    if strategy != BY_PAYLOAD and strategy not in _STRATEGIES:
        raise _refused(raw, table)
    payload, mode = raw.get(PAYLOAD_KEY, ""), raw.get(MODE_KEY, "").upper()
    if payload:
        rules = _rules_of_payload(payload, _BY_0_X if by_0_x else _BY_1_X)
        if rules is None:
            raise _refused(raw, table)
        return rules
    if mode not in ("", COMMIT, EVENT):
        raise _refused(raw, table)
    if by_0_x:  # without a word 0.x lets the later write win
        return Merging(mode or COMMIT, logs_by_ordering=True)
    return Merging(mode or _STRATEGIES.get(strategy) or _default(raw))


def _rules_of_payload(payload: str, by_name: Mapping[str, Merging]) -> Merging | None:
    package, _, name = payload.rpartition(".")
    return by_name.get(name) if package in _PACKAGES else None


def _default(raw: Mapping[str, str]) -> str:
    return EVENT if raw.get("hoodie.table.ordering.fields") or raw.get("hoodie.table.precombine.field") else COMMIT


def _deletion(raw: Mapping[str, str], table: str) -> Deletion | None:
    field, marker = raw.get(DELETE_FIELD_KEY), raw.get(DELETE_MARKER_KEY)
    if not field and not marker:
        return None
    if not field or not marker:
        raise ConfigError(
            f"Table {table!r} has half a delete marker",
            found=f"{DELETE_FIELD_KEY}={field or ''}, {DELETE_MARKER_KEY}={marker or ''}",
            fix="set both in hoodie.properties, or neither",
        )
    return Deletion(field, marker)


def _refused(raw: Mapping[str, str], table: str) -> UnsupportedTableError:
    settings = [f"{key}={raw[key]}" for key in (MODE_KEY, PAYLOAD_KEY, STRATEGY_KEY, STRATEGY_KEY_6) if raw.get(key)]
    return UnsupportedTableError(
        f"Table {table!r} merges records in a way that is not supported",
        found=", ".join(settings),
        fix=_WAY_OUT,
    )
