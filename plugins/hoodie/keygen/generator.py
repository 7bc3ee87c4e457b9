"""The key generator of a table, from its properties."""

from __future__ import annotations

from datetime import UTC, datetime

from hoodie.config.properties.table import TableProperties
from hoodie.config.properties.timebased import OUTPUT_FORMAT, TimestampOptions
from hoodie.errors import ConfigError, RecordKeyError
from hoodie.keygen.partition_path import PartitionPaths
from hoodie.keygen.record_key import RecordKeys
from hoodie.keygen.timestamps import TimestampFolders


def key_generator(properties: TableProperties, year_now: int | None = None) -> tuple[RecordKeys, PartitionPaths]:
    """The key generator that the table was created with; keys without fields are generated ones.

    `year_now` (this year) decides the century of years with two digits in texts. Raises UnsupportedTableError for a key
    generator that is not supported, ConfigError for options of timestamps that are missing or cannot be.
    """
    kind, keys = properties.keygen_type, record_keys(properties)
    hive_style, url_encode = properties.hive_style_partitioning, properties.url_encode_partitioning
    if kind in ("NON_PARTITION", "GLOBAL_DELETE"):
        return keys, PartitionPaths((), hive_style, url_encode)
    stamped = properties.timestamp_partition_fields
    timestamps = None
    if stamped:
        year = year_now if year_now is not None else datetime.now(UTC).year
        timestamps = TimestampFolders(TimestampOptions.of_properties(properties.raw), year)
        timestamps.check()
    stamps = frozenset(stamped)
    slashes = properties.slash_dates
    paths = PartitionPaths(properties.partition_fields, hive_style, url_encode, timestamps, stamps, slashes)
    return keys, paths


def record_keys(properties: TableProperties) -> RecordKeys:
    """The half of the key generator that names rows. Raises UnsupportedTableError."""
    kind, fields = properties.keygen_type, properties.record_key_fields
    return RecordKeys(fields, with_names=kind in ("COMPLEX", "GLOBAL_DELETE") or len(fields) > 1)


def check_key_generator(properties: TableProperties) -> None:
    """Raises ConfigError for options of timestamps that cannot be, or whose folders cannot be found again."""
    _, paths = key_generator(properties)
    try:
        paths.check()
    except RecordKeyError as error:
        raise ConfigError(
            f"Option {OUTPUT_FORMAT.name} makes no folder names", found=error.found, fix="correct the pattern"
        ) from None
