"""From the options of a new table to the properties that say how it merges (format notes, section 7.1)."""

from __future__ import annotations

from dataclasses import replace

from hoodie.config.key import ConfigKey, Options
from hoodie.config.keys import table as keys
from hoodie.config.properties import merge as merging
from hoodie.config.properties.merge import COMMIT, EVENT, FILL_UNAVAILABLE, IGNORE_DEFAULTS, Deletion, Merging
from hoodie.errors import ConfigError

_MODEL = "org.apache.hudi.common.model."
_PAYLOADS_6 = {
    (EVENT, None): _MODEL + "DefaultHoodieRecordPayload",
    (COMMIT, None): _MODEL + "OverwriteWithLatestAvroPayload",
    (EVENT, IGNORE_DEFAULTS): _MODEL + "PartialUpdateAvroPayload",
    (COMMIT, IGNORE_DEFAULTS): _MODEL + "OverwriteNonDefaultsWithLatestAvroPayload",
}


def merging_properties(options: Options) -> dict[str, str]:
    """The properties of the merge rules that `options` ask for. Raises ConfigError for rules that cannot be."""
    by_0_x = options[keys.VERSION] == "6"
    payload = options.get(keys.PAYLOAD_CLASS)
    rules = _of_payload(options, payload, by_0_x=by_0_x) if payload else _of_modes(options)
    ordering = options[keys.ORDERING_FIELDS] or rules.ordering
    if rules.mode == EVENT and not ordering:
        raise ConfigError(
            "EVENT_TIME_ORDERING needs an ordering field",
            fix=f"set {keys.ORDERING_FIELDS.name}, or use COMMIT_TIME_ORDERING",
        )
    if rules.ordering and ordering != rules.ordering:
        raise ConfigError(
            f"Payload class {payload} orders by columns of its own",
            found=f"{keys.ORDERING_FIELDS.name}={','.join(ordering)}",
            fix=f"set {','.join(rules.ordering)}, or leave the option out",
        )
    if by_0_x:
        return _version_6(rules, payload, ordering, custom=_deletion(options) is not None)
    return version_9_properties(rules, payload, ordering)


def _of_payload(options: Options, payload: str, *, by_0_x: bool) -> Merging:
    rules = merging.merging_of_payload(payload, by_0_x=by_0_x)
    if rules is None:
        raise ConfigError(
            f"Payload class {payload} is not supported",
            found=f"a table of version {options[keys.VERSION]}",
            fix=f"use {keys.MERGE_MODE.name}, with {keys.PARTIAL_UPDATE_MODE.name} for partial updates",
        )
    own: tuple[tuple[ConfigKey[str], str | None], ...] = (
        (keys.MERGE_MODE, rules.mode),
        (keys.PARTIAL_UPDATE_MODE, rules.partial or "NONE"),
        (keys.UNAVAILABLE_VALUE, rules.unavailable),
    )
    for key, value in own:
        if options.is_set(key) and options[key] != value:
            raise ConfigError(
                f"Options {keys.PAYLOAD_CLASS.name} and {key.name} contradict each other",
                found=f"{payload} stands for {value}, {options[key]} is asked for",
                fix="keep one of them",
            )
    deletion = _deletion(options)
    return rules if deletion is None else replace(rules, deletion=deletion)


def _of_modes(options: Options) -> Merging:
    mode = options.get(keys.MERGE_MODE) or (EVENT if options[keys.ORDERING_FIELDS] else COMMIT)
    partial, unavailable = options[keys.PARTIAL_UPDATE_MODE], options.get(keys.UNAVAILABLE_VALUE)
    if (partial == FILL_UNAVAILABLE) != bool(unavailable):
        raise ConfigError(
            "FILL_UNAVAILABLE and the unavailable value belong together",
            found=f"{keys.PARTIAL_UPDATE_MODE.name}={partial}, {keys.UNAVAILABLE_VALUE.name}={unavailable or ''}",
            fix="set both, or neither",
        )
    return Merging(mode, None if partial == "NONE" else partial, unavailable, _deletion(options))


def _deletion(options: Options) -> Deletion | None:
    field, marker = options.get(keys.DELETE_FIELD), options.get(keys.DELETE_MARKER)
    if bool(field) != bool(marker):
        raise ConfigError(
            "Half a delete marker",
            found=f"{keys.DELETE_FIELD.name}={field or ''}, {keys.DELETE_MARKER.name}={marker or ''}",
            fix="set both, or neither",
        )
    return Deletion(field, marker) if field and marker else None


def _version_6(rules: Merging, payload: str | None, ordering: tuple[str, ...], *, custom: bool) -> dict[str, str]:
    if len(ordering) > 1:
        raise ConfigError(
            "A table of version 6 has one ordering field at most",
            found=",".join(ordering),
            fix="keep one, or create version 9",
        )
    known_payload = _PAYLOADS_6.get((rules.mode, rules.partial))
    if custom or (payload is None and known_payload is None):
        raise ConfigError(
            "A table of version 6 cannot keep these merge rules: Hudi 0.x takes them from each writer and reader",
            found=f"a delete marker, {keys.DELETE_FIELD.name}"
            if custom
            else f"{keys.PARTIAL_UPDATE_MODE.name}={rules.partial}",
            fix="create version 9",
        )
    values = {
        # Without both of these 0.15 merges differently from 1.2 (format notes, trap 9).
        merging.PAYLOAD_KEY: payload or str(known_payload),
        merging.STRATEGY_KEY_6: merging.EVENT_STRATEGY,
    }
    if ordering:
        values["hoodie.table.precombine.field"] = ordering[0]
    return values


def version_9_properties(rules: Merging, payload: str | None, ordering: tuple[str, ...]) -> dict[str, str]:
    """The properties of these merge rules in version 9. A payload class is kept as a note only."""
    values = {
        merging.MODE_KEY: rules.mode,
        "hoodie.table.ordering.fields": ",".join(ordering),
        merging.LEGACY_PAYLOAD_KEY: payload,
        merging.PARTIAL_KEY: rules.partial,
        merging.UNAVAILABLE_KEY: rules.unavailable,
        merging.DELETE_FIELD_KEY: rules.deletion.field if rules.deletion else None,
        merging.DELETE_MARKER_KEY: rules.deletion.marker if rules.deletion else None,
    }
    return {key: value for key, value in values.items() if value}
