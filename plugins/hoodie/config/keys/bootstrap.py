"""Options of a bootstrap. Names and defaults are Hudi's."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, integer, regex, text
from hoodie.config.keys.write import WRITE_KEYS

METADATA_ONLY, FULL_RECORD = "METADATA_ONLY", "FULL_RECORD"

SOURCE = ConfigKey[str]("hoodie.bootstrap.base.path", text, None, "path or URL of the table that is taken over")
MODE_REGEX = ConfigKey[str](
    "hoodie.bootstrap.mode.selector.regex", regex, ".*", "partitions whose whole path matches get the selector's mode"
)
MODE = ConfigKey[str](
    "hoodie.bootstrap.mode.selector.regex.mode",
    choice(METADATA_ONLY, FULL_RECORD),
    METADATA_ONLY,
    "mode of the partitions that match; the others get the other mode",
)
PARALLELISM = ConfigKey[int]("hoodie.bootstrap.parallelism", integer(1), 1500, "most tasks of a stage")
SOURCE_FORMAT = ConfigKey[str](
    "hoodie.bootstrap.source.format", choice("PARQUET", "ORC"), "PARQUET", "format of the source's files (our own key)"
)
CHECK_KEYS = ConfigKey[str](
    "hoodie.bootstrap.check.keys",
    choice("NONE", "SAMPLE", "FULL"),
    "FULL",
    "whether keys are looked through for duplicates: all, or one key in 64 (our own key)",
)
BINARY_AS_STRING = ConfigKey[bool](
    "hoodie.bootstrap.binary.as.string",
    boolean,
    False,
    "binary columns are text, as in files of Impala and old Hive (our own key)",
)

BOOTSTRAP_KEYS: tuple[ConfigKey[Any], ...] = (
    SOURCE,
    MODE_REGEX,
    MODE,
    PARALLELISM,
    SOURCE_FORMAT,
    CHECK_KEYS,
    BINARY_AS_STRING,
    *WRITE_KEYS,
)
