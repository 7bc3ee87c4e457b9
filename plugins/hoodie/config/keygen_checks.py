"""The key generator of a table never changes: options given again are compared with it."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, Options, as_text, resolve
from hoodie.config.keys import table as keys
from hoodie.config.keys.bootstrap import SOURCE
from hoodie.config.properties.table import TYPED_PARTITION_FIELDS, TableProperties, keygen_type_of_class
from hoodie.config.properties.timebased import TIMEBASED_KEYS, TYPE
from hoodie.errors import ConfigError


def with_keygen_options(properties: TableProperties, options: Options) -> TableProperties:
    """The properties, and what they need of `options` (keys of `KEYGEN_KEYS`) to make keys and paths.

    Hudi does not keep all options of the Custom key generator with the table: they are given with every write. Virtual keys,
    if asked for, are on in the result. Raises ConfigError naming the first option that differs from the table.
    """
    _same(options, keys.RECORD_KEY_FIELDS, properties.record_key_fields)
    _same(options, keys.HIVE_STYLE, properties.hive_style_partitioning)
    _same(options, keys.URL_ENCODE, properties.url_encode_partitioning)
    _same(options, keys.SLASH_SEPARATED_DATES, properties.slash_dates)
    _same(options, keys.KEYGEN_TYPE, properties.keygen_type)
    if options.is_set(keys.KEYGEN_CLASS):
        class_name = options[keys.KEYGEN_CLASS]
        if keygen_type_of_class(class_name) != properties.keygen_type:
            _differ(keys.KEYGEN_CLASS, class_name, properties.keygen_type)
    properties = _with_virtual_keys(properties, options)
    properties = _with_partition_types(properties, options)
    return _with_timebased(properties, options)


def _with_virtual_keys(properties: TableProperties, options: Options) -> TableProperties:
    populate = keys.POPULATE_META
    if not options.is_set(populate) or options[populate] is not properties.virtual_keys:
        return properties
    if properties.virtual_keys:
        raise ConfigError(
            f"Option {populate.name}=true contradicts table {properties.name!r}",
            found="virtual keys: rows have no meta columns, and no writer fills them again",
            fix="remove the option, or load into a new table",
        )
    if properties.raw.get(SOURCE.name):
        raise ConfigError(
            f"Option {populate.name}=false does not go with table {properties.name!r}",
            found="a bootstrap, whose rows have their keys in skeleton files",
            fix="remove the option",
        )
    return properties.with_values({populate.name: "false"})


def _with_partition_types(properties: TableProperties, options: Options) -> TableProperties:
    if not options.is_set(keys.PARTITION_FIELDS):
        return properties
    fields = options[keys.PARTITION_FIELDS]
    names = tuple(field.partition(":")[0] for field in fields)
    if names != properties.partition_fields:
        _differ(keys.PARTITION_FIELDS, fields, properties.partition_fields)
    if not any(":" in field for field in fields):
        return properties
    stored = properties.typed_partition_fields
    if ":" not in stored and properties.keygen_type == "CUSTOM":
        return properties.with_values({TYPED_PARTITION_FIELDS: ",".join(fields)})
    if _typed(",".join(fields)) != _typed(stored):
        _differ(keys.PARTITION_FIELDS, fields, stored)
    return properties


def _with_timebased(properties: TableProperties, options: Options) -> TableProperties:
    timebased = {key.name: options[key] for key in TIMEBASED_KEYS if options.is_set(key)}
    if not timebased:
        return properties
    if not properties.timestamp_partition_fields:
        raise ConfigError(
            f"Option {next(iter(timebased))} has no effect: no partition column of table {properties.name!r} is a timestamp",
            fix="remove it",
        )
    names = {name for key in TIMEBASED_KEYS for name in key.names}
    stored = resolve({name: value for name, value in properties.raw.items() if name in names}, TIMEBASED_KEYS)
    for key in TIMEBASED_KEYS:
        # Hudi 0.15 keeps all but the type, other releases keep nothing for the Custom key generator: the rest is given.
        if stored.is_set(key) or stored.is_set(TYPE):
            _same(options, key, stored.get(key))
    return properties if stored.is_set(TYPE) else properties.with_values(timebased)


def _typed(text: str) -> str:
    return "".join(text.split()).lower()


def _same(options: Options, key: ConfigKey[Any], stored: object) -> None:
    if options.is_set(key) and options[key] != stored:
        _differ(key, options[key], stored)


def _differ(key: ConfigKey[Any], requested: object, stored: object) -> None:
    raise ConfigError(
        f"Option {key.name} contradicts the table, whose key generator never changes",
        found=f"{as_text(requested)!r} is asked for, the table has {as_text(stored)!r}",
        fix="correct the option, or load into a new table",
    )
