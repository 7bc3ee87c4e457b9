"""Options of Hive sync: those of Hudi's that this obeys, `hoodie.datasource.hive_sync.*` and `hoodie.meta.sync.*`.

Names and defaults are Hudi's, but for `enable`: starting a sync means that it is wanted.
"""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, columns, integer, text

_PREFIX = "hoodie.datasource.hive_sync."


Pairs = tuple[tuple[str, str], ...]


def pairs(value: str) -> Pairs:
    """`key=value`, one a line, as in Hudi."""
    result = []
    for line in filter(None, (part.strip() for part in value.splitlines())):
        key, equals, value_text = line.partition("=")
        if not equals or not key.strip():
            raise ValueError("key=value, one a line")
        result.append((key.strip(), value_text.strip()))
    return tuple(result)


ENABLE = ConfigKey[bool](_PREFIX + "enable", boolean, True, "false switches syncing of this table off")
DATABASE = ConfigKey[str](
    _PREFIX + "database", text, None, "database of the catalog; default: the table's own, or default"
)
TABLE = ConfigKey[str](_PREFIX + "table", text, None, "name in the catalog; default: the table's own")
BASE_PATH = ConfigKey[str](
    "hoodie.datasource.meta.sync.base.path",
    text,
    None,
    "base path as the catalog's servers see the table (such as s3a://…), when it is another than here",
)
MODE = ConfigKey[str](
    _PREFIX + "mode",
    choice("JDBC", "HMS", "GLUE"),
    "JDBC",
    "JDBC: HiveServer2; HMS: the metastore itself; GLUE: AWS Glue",
)
USE_JDBC = ConfigKey[bool](
    _PREFIX + "use_jdbc", boolean, True, "without a mode: HiveServer2 by JDBC; false, Hive's own driver, is not there"
)
JDBC_URL = ConfigKey[str](
    _PREFIX + "jdbcurl",
    text,
    "jdbc:hive2://localhost:10000",
    "HiveServer2, or Spark's Thrift Server with Hudi's bundle",
)
METASTORE_URIS = ConfigKey[str](
    _PREFIX + "metastore.uris",
    text,
    "thrift://localhost:9083",
    "metastores, comma separated; the first that answers is used",
)
USERNAME = ConfigKey[str](_PREFIX + "username", text, "hive", "user at HiveServer2 or the metastore")
PASSWORD = ConfigKey[str](_PREFIX + "password", text, "hive", "password at HiveServer2")
PARTITION_FIELDS = ConfigKey[tuple[str, ...]](
    _PREFIX + "partition_fields", columns, None, "partition columns in the catalog; default: the table's"
)
EXTRACTOR = ConfigKey[str](
    _PREFIX + "partition_extractor_class",
    text,
    None,
    "how partition paths become values; inferred from the table and its paths when absent",
)
AUTO_CREATE_DATABASE = ConfigKey[bool](
    _PREFIX + "auto_create_database", boolean, True, "create the database when it is not there"
)
SKIP_RO_SUFFIX = ConfigKey[bool](
    _PREFIX + "skip_ro_suffix", boolean, False, "the read-optimised table gets the plain name, without _ro"
)
SUPPORT_TIMESTAMP = ConfigKey[bool](
    _PREFIX + "support_timestamp", boolean, False, "timestamps are Hive's timestamp, not bigint"
)
TABLE_PROPERTIES = ConfigKey[Pairs](
    _PREFIX + "table_properties", pairs, (), "more table properties: key=value, one a line"
)
SERDE_PROPERTIES = ConfigKey[Pairs](
    _PREFIX + "serde_properties", pairs, (), "more serde properties: key=value, one a line"
)
AS_DATASOURCE = ConfigKey[bool](
    _PREFIX + "sync_as_datasource",
    boolean,
    True,
    "Spark's properties too, so that Spark reads it with Hudi's data source; no default on Spark's Thrift Server",
)
SCHEMA_PART_LENGTH = ConfigKey[int](
    _PREFIX + "schema_string_length_thresh", integer(1), 4000, "characters of Spark's schema in one property"
)
MANAGED = ConfigKey[bool](
    _PREFIX + "create_managed_table", boolean, False, "a managed table: dropping it in Hive deletes the data"
)
OMIT_META_FIELDS = ConfigKey[bool](
    _PREFIX + "omit_metadata_fields", boolean, False, "leave the _hoodie_* columns out of the catalog"
)
BATCH = ConfigKey[int](_PREFIX + "batch_num", integer(1), 1000, "partitions in one call")
STRATEGY = ConfigKey[str](
    _PREFIX + "table.strategy",
    choice("ALL", "RO", "RT"),
    "ALL",
    "tables of a merge-on-read table: both, or one of them",
)
SNAPSHOT_WITH_TABLE_NAME = ConfigKey[bool](
    "hoodie.meta.sync.sync_snapshot_with_table_name",
    boolean,
    True,
    "with strategy ALL also a snapshot table of the plain name beside _ro and _rt",
)
DECODE_PARTITION = ConfigKey[bool](
    "hoodie.meta.sync.decode_partition",
    boolean,
    False,
    "decode url-encoded partition paths into the values they stand for",
)
INCREMENTAL = ConfigKey[bool](
    "hoodie.meta.sync.incremental", boolean, True, "false: compare every partition, not those of new commits"
)
CONDITIONAL = ConfigKey[bool](
    "hoodie.datasource.meta_sync.condition.sync",
    boolean,
    False,
    "remember the last commit only when schema, properties or partitions changed",
)
_GLUE = "hoodie.datasource.meta.sync.glue."
GLUE_SKIP_ARCHIVE = ConfigKey[bool](
    _GLUE + "skip_table_archive", boolean, True, "AWS Glue keeps no older version of a table that a sync changes"
)
GLUE_METADATA_LISTING = ConfigKey[bool](
    _GLUE + "metadata_file_listing",
    boolean,
    False,
    "Athena lists files by the metadata table; only for tables that Hudi alone writes",
)
SPARK_VERSION = ConfigKey[str](
    "hoodie.meta_sync.spark.version", text, "", "version that the property spark.sql.create.version names"
)

SYNC_KEYS: tuple[ConfigKey[Any], ...] = (
    ENABLE,
    DATABASE,
    TABLE,
    BASE_PATH,
    MODE,
    USE_JDBC,
    JDBC_URL,
    METASTORE_URIS,
    USERNAME,
    PASSWORD,
    PARTITION_FIELDS,
    EXTRACTOR,
    AUTO_CREATE_DATABASE,
    SKIP_RO_SUFFIX,
    SUPPORT_TIMESTAMP,
    TABLE_PROPERTIES,
    SERDE_PROPERTIES,
    AS_DATASOURCE,
    SCHEMA_PART_LENGTH,
    MANAGED,
    OMIT_META_FIELDS,
    BATCH,
    STRATEGY,
    SNAPSHOT_WITH_TABLE_NAME,
    DECODE_PARTITION,
    INCREMENTAL,
    CONDITIONAL,
    GLUE_SKIP_ARCHIVE,
    GLUE_METADATA_LISTING,
    SPARK_VERSION,
)
