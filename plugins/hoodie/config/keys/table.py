"""The keys of `hoodie.properties` that shape a table, and the options that set them when it is created."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, columns, text
from hoodie.config.properties.table import CDC, CDC_MODE, CDC_MODES, KEYGEN_CLASSES, POPULATE_META_FIELDS, SLASH_DATES
from hoodie.config.properties.timebased import TIMEBASED_KEYS


def _keygen_type(value: str) -> str:
    """The type of a key generator; Hudi has a second one for each, ending in `_AVRO`, with the same keys and paths."""
    return choice(*KEYGEN_CLASSES)(value.strip().upper().removesuffix("_AVRO"))


def _name(value: str) -> str:
    if not value.strip():
        raise ValueError("a name that is not empty")
    return value.strip()


def _distinct(value: str) -> tuple[str, ...]:
    """A comma list of columns, none of them twice; a type may follow a column after a colon."""
    names = columns(value)
    if len({name.partition(":")[0] for name in names}) < len(names):
        raise ValueError("each column once")
    return names


NAME = ConfigKey[str]("hoodie.table.name", _name, None, "the table's name", ("hoodie.datasource.write.table.name",))
DATABASE = ConfigKey[str]("hoodie.database.name", text, "", "the database that the table belongs to")
TYPE = ConfigKey[str](
    "hoodie.table.type",
    choice("COPY_ON_WRITE", "MERGE_ON_READ"),
    "COPY_ON_WRITE",
    "whether updates rewrite base files or go to logs",
    ("hoodie.datasource.write.table.type", "hoodie.datasource.write.storage.type"),
)
VERSION = ConfigKey[str](
    "hoodie.write.table.version", choice("6", "9"), "9", "version of a new table: 9, or 6 for old readers"
)
RECORD_KEY_FIELDS = ConfigKey[tuple[str, ...]](
    "hoodie.table.recordkey.fields",
    _distinct,
    (),
    "comma list of the columns that identify a record; empty: every row gets a key of its own",
    ("hoodie.datasource.write.recordkey.field",),
)
PARTITION_FIELDS = ConfigKey[tuple[str, ...]](
    "hoodie.table.partition.fields",
    _distinct,
    (),
    "comma list of the partition columns, `column:SIMPLE` or `column:TIMESTAMP` for CUSTOM; empty: no partitions",
    ("hoodie.datasource.write.partitionpath.field",),
)
ORDERING_FIELDS = ConfigKey[tuple[str, ...]](
    "hoodie.table.ordering.fields",
    _distinct,
    (),
    "the columns whose greater value wins between records of one key",
    ("hoodie.table.precombine.field", "hoodie.datasource.write.precombine.field"),
)
MERGE_MODE = ConfigKey[str](
    "hoodie.record.merge.mode",
    choice("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"),
    None,
    "who wins between records of one key: the later write or the greater ordering value (default with ordering fields)",
    ("hoodie.write.record.merge.mode",),
)
PAYLOAD_CLASS = ConfigKey[str](
    "hoodie.datasource.write.payload.class",
    text,
    None,
    "the merge rule by Hudi's payload class; sets merge mode, partial update mode and delete marker",
    ("hoodie.compaction.payload.class",),
)
PARTIAL_UPDATE_MODE = ConfigKey[str](
    "hoodie.table.partial.update.mode",
    choice("NONE", "IGNORE_DEFAULTS", "FILL_UNAVAILABLE"),
    "NONE",
    "which values of a row leave the stored ones as they are: nulls, or those equal to the unavailable value",
)
UNAVAILABLE_VALUE = ConfigKey[str](
    "hoodie.write.partial.update.unavailable.value",
    text,
    None,
    "what stands for an unavailable value in string and bytes columns (FILL_UNAVAILABLE)",
    ("hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value",),
)
DELETE_FIELD = ConfigKey[str](
    "hoodie.payload.delete.field",
    text,
    None,
    "the column that marks deletions",
    ("hoodie.record.merge.property.hoodie.payload.delete.field",),
)
DELETE_MARKER = ConfigKey[str](
    "hoodie.payload.delete.marker",
    text,
    None,
    "its value in rows that are deletions",
    ("hoodie.record.merge.property.hoodie.payload.delete.marker",),
)
KEYGEN_TYPE = ConfigKey[str](
    "hoodie.table.keygenerator.type",
    _keygen_type,
    None,
    "how record keys and partition paths are made; inferred from the key and partition columns when absent",
    ("hoodie.datasource.write.keygenerator.type",),
)
KEYGEN_CLASS = ConfigKey[str](
    "hoodie.table.keygenerator.class",
    text,
    None,
    "the same by Hudi's class name",
    ("hoodie.datasource.write.keygenerator.class",),
)
HIVE_STYLE = ConfigKey[bool](
    "hoodie.datasource.write.hive_style_partitioning", boolean, False, "partition folders are named column=value"
)
URL_ENCODE = ConfigKey[bool](
    "hoodie.datasource.write.partitionpath.urlencode", boolean, False, "partition values are url-encoded"
)
SLASH_SEPARATED_DATES = ConfigKey[bool](
    SLASH_DATES, boolean, False, "days yyyy-MM-dd in the partition column become the folders yyyy/MM/dd (Hudi 1.2)"
)
CDC_ENABLED = ConfigKey[bool](
    CDC, boolean, False, "keep the changes of each commit beside the data, for Hudi's readers of changes"
)
CDC_LOGGING_MODE = ConfigKey[str](
    CDC_MODE, choice(*CDC_MODES), CDC_MODES[-1], "columns of these changes: keys, rows before, or rows before and after"
)
TIMEZONE = ConfigKey[str](
    "hoodie.table.timeline.timezone", choice("UTC", "LOCAL"), "UTC", "time zone of the instants on the timeline"
)

POPULATE_META = ConfigKey[bool](
    POPULATE_META_FIELDS,
    boolean,
    True,
    "false: virtual keys, meta columns stay null; also of a write, from which on they do; never true again",
)

# Properties by which a table's keys and paths are made: fixed when it is created, but for the last.
KEYGEN_KEYS: tuple[ConfigKey[Any], ...] = (
    RECORD_KEY_FIELDS,
    PARTITION_FIELDS,
    KEYGEN_TYPE,
    KEYGEN_CLASS,
    HIVE_STYLE,
    URL_ENCODE,
    SLASH_SEPARATED_DATES,
    *TIMEBASED_KEYS,
    POPULATE_META,
)
CREATE_KEYS: tuple[ConfigKey[Any], ...] = (
    NAME,
    DATABASE,
    TYPE,
    VERSION,
    ORDERING_FIELDS,
    MERGE_MODE,
    PAYLOAD_CLASS,
    PARTIAL_UPDATE_MODE,
    UNAVAILABLE_VALUE,
    DELETE_FIELD,
    DELETE_MARKER,
    CDC_ENABLED,
    CDC_LOGGING_MODE,
    TIMEZONE,
    *KEYGEN_KEYS,
)
