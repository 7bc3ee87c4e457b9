"""Key generator of a new table, checked against the other options (format notes, section 1.4)."""

from __future__ import annotations

from hoodie.config.key import Options
from hoodie.config.keys import table as keys
from hoodie.config.properties.restrictions import slash_dates_flaw
from hoodie.config.properties.table import (
    KEYGEN_CLASSES,
    PARTITION_TYPES,
    infer_keygen_type,
    keygen_type_of_class,
)
from hoodie.config.properties.timebased import TIMEBASED_KEYS, check_timebased
from hoodie.errors import ConfigError

# SIMPLE and TIMESTAMP take one column of each
_SINGLE = ("SIMPLE", "TIMESTAMP")
_UNPARTITIONED = ("NON_PARTITION", "GLOBAL_DELETE")


def check_keygen(options: Options) -> str:
    """The type of the key generator, a key of `KEYGEN_CLASSES`. Raises ConfigError for options that cannot work together."""
    record_keys, partitions = options[keys.RECORD_KEY_FIELDS], options[keys.PARTITION_FIELDS]
    declared = _declared(options)
    inferred = infer_keygen_type(record_keys, partitions)
    chosen = declared or inferred
    if chosen in _SINGLE and (len(record_keys) > 1 or len(partitions) != 1):
        raise ConfigError(
            f"The {chosen} key generator takes one record key column and one partition column",
            found=f"keys {', '.join(record_keys)}; partitions {', '.join(partitions) or '(none)'}",
            fix=f"use {'CUSTOM' if chosen == 'TIMESTAMP' else inferred}",
        )
    if (chosen in _UNPARTITIONED) != (not partitions):
        raise ConfigError(
            f"The {chosen} key generator does not fit the partition columns",
            found=", ".join(partitions) or "no partition columns",
            fix=f"use {inferred}",
        )
    if chosen == "GLOBAL_DELETE" and not record_keys:
        raise ConfigError(
            "The GLOBAL_DELETE key generator needs record key columns", fix=f"set {keys.RECORD_KEY_FIELDS.name}"
        )
    _check_slash_dates(options, chosen)
    stamped = _check_types(chosen, partitions)
    _check_single_complex(chosen, options, declared is not None)
    timebased = [key.name for key in TIMEBASED_KEYS if options.is_set(key)]
    if stamped:
        check_timebased(options)
    elif timebased:
        raise ConfigError(
            f"Option {timebased[0]} has no effect with the {chosen} key generator",
            fix="use TIMESTAMP, or CUSTOM with a column of the type TIMESTAMP",
        )
    return chosen


def _declared(options: Options) -> str | None:
    java_class, declared = options.get(keys.KEYGEN_CLASS), options.get(keys.KEYGEN_TYPE)
    if java_class is None:
        return declared
    of_class = keygen_type_of_class(java_class)
    if of_class is None or declared not in (None, of_class):
        raise ConfigError(
            f"Option {keys.KEYGEN_CLASS.name} cannot be used",
            found=java_class + (f" with the type {declared}" if declared else ""),
            fix=f"use one of {', '.join(KEYGEN_CLASSES.values())}, and the same type if a type is given too",
        )
    return of_class


def _check_slash_dates(options: Options, chosen: str) -> None:
    if not options[keys.SLASH_SEPARATED_DATES]:
        return
    why_not = slash_dates_flaw(chosen, hive_style=options[keys.HIVE_STYLE], encoded=options[keys.URL_ENCODE])
    if options[keys.VERSION] == "6":
        why_not = "version 6, whose Hudi releases do not know it and would use other folders"
    if why_not is not None:
        raise ConfigError(
            f"Option {keys.SLASH_SEPARATED_DATES.name} does not go with the other options",
            found=why_not,
            fix="leave it out; TIMESTAMP with the output format yyyy/MM/dd makes such folders too",
        )


def _check_types(chosen: str, partitions: tuple[str, ...]) -> bool:
    """Check the types of partition columns; return whether any folder is made of a time."""
    if chosen != "CUSTOM":
        typed = [name for name in partitions if ":" in name]
        if typed:
            raise ConfigError(
                f"Only the CUSTOM key generator takes partition columns with types, not {chosen}",
                found=typed[0],
                fix="leave the type out, or use CUSTOM",
            )
        return chosen == "TIMESTAMP"
    for name in partitions:
        column, _, kind = name.partition(":")
        if not column or kind.strip().upper() not in PARTITION_TYPES:
            raise ConfigError(
                "The CUSTOM key generator needs the type of each partition column",
                found=name,
                fix=f"write {column or 'column'}:SIMPLE or {column or 'column'}:TIMESTAMP",
            )
    return any(name.partition(":")[2].strip().upper() == "TIMESTAMP" for name in partitions)


def _check_single_complex(chosen: str, options: Options, declared: bool) -> None:
    record_keys, partitions = options[keys.RECORD_KEY_FIELDS], options[keys.PARTITION_FIELDS]
    if chosen != "COMPLEX" or len(record_keys) != 1:
        return
    # Hudi 0.15 writes such a key as `value`, 1.2 as `column:value` and refuses to go on in a table older than version 9.
    if options[keys.VERSION] == "6":
        raise ConfigError(
            "COMPLEX with a single record key column is ambiguous between Hudi releases in version 6 (HUDI-7001)",
            found=f"{keys.RECORD_KEY_FIELDS.name}={record_keys[0]}",
            fix="use several key columns, one partition column, or version 9",
        )
    if len(partitions) == 1 and declared:
        raise ConfigError(
            "COMPLEX with a single record key column is ambiguous between Hudi releases (H#17834)",
            found=f"{keys.RECORD_KEY_FIELDS.name}={record_keys[0]}",
            fix="use SIMPLE, or several key columns",
        )
