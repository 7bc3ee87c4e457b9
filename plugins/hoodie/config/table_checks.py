"""Options that shape a table are fixed when it is created: given again, they are compared with it."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, Options, as_text
from hoodie.config.keys import table as keys
from hoodie.config.properties.merge import LEGACY_PAYLOAD_KEY, PAYLOAD_KEY
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError


def check_same_table(properties: TableProperties, options: Options) -> None:
    """Raises ConfigError naming the first of the options (keys of `CREATE_KEYS`, but for those of the key generator, see
    `same_keygen`) that differs from the table."""
    merging = properties.merging
    current: dict[ConfigKey[Any], object] = {
        keys.NAME: properties.name,
        keys.TYPE: properties.table_type,
        keys.ORDERING_FIELDS: properties.ordering_fields,
        keys.MERGE_MODE: properties.merge_mode,
        keys.PAYLOAD_CLASS: properties.raw.get(LEGACY_PAYLOAD_KEY) or properties.raw.get(PAYLOAD_KEY),
        keys.PARTIAL_UPDATE_MODE: merging.partial or "NONE",
        keys.UNAVAILABLE_VALUE: merging.unavailable,
        keys.DELETE_FIELD: merging.deletion and merging.deletion.field,
        keys.DELETE_MARKER: merging.deletion and merging.deletion.marker,
        keys.VERSION: str(properties.version),
        keys.TIMEZONE: properties.zone_name,
        keys.CDC_ENABLED: properties.cdc_mode is not None,
        **({keys.CDC_LOGGING_MODE: properties.cdc_mode} if properties.cdc_mode is not None else {}),
    }
    for key, stored in current.items():
        if options.is_set(key) and options[key] != stored:
            raise ConfigError(
                f"Option {key.name} contradicts the table",
                found=f"{as_text(options[key])!r} is asked for, the table has {as_text(stored)!r}",
                fix="correct the option, or load into a new table",
            )
