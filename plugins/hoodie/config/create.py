"""From the options of a new table to its `hoodie.properties` (format notes, section 1.1)."""

from __future__ import annotations

from hoodie.config import table_keys as keys
from hoodie.config.create_merging import merging_properties
from hoodie.config.key import Options
from hoodie.config.table import KEYGEN_CLASSES, TableProperties, infer_keygen_type, keygen_type_of_class
from hoodie.errors import ConfigError

_EXTRACTORS = "org.apache.hudi.hive."


def new_table_properties(options: Options) -> TableProperties:
    """The properties of a table to be created with these options (keys of `table_keys.CREATE_KEYS`).

    Raises ConfigError when options are missing or cannot work together.
    """
    record_keys, partitions = options[keys.RECORD_KEY_FIELDS], options[keys.PARTITION_FIELDS]
    if not record_keys:
        raise ConfigError(
            f"Option {keys.RECORD_KEY_FIELDS.name} is empty", fix="name the columns that identify a record"
        )
    common = {
        "hoodie.table.name": options[keys.NAME],
        "hoodie.table.type": options[keys.TYPE],
        "hoodie.table.recordkey.fields": ",".join(record_keys),
        "hoodie.table.partition.fields": ",".join(partitions),
        "hoodie.table.base.file.format": "PARQUET",
        "hoodie.populate.meta.fields": "true",
        "hoodie.datasource.write.hive_style_partitioning": _flag(options[keys.HIVE_STYLE]),
        "hoodie.datasource.write.partitionpath.urlencode": _flag(options[keys.URL_ENCODE]),
        "hoodie.datasource.write.drop.partition.columns": "false",
        "hoodie.partition.metafile.use.base.format": "false",
        "hoodie.table.timeline.timezone": options[keys.TIMEZONE],
        "hoodie.table.cdc.enabled": "false",
    }
    keygen = _keygen_type(options)
    if options[keys.VERSION] == "6":
        specific = _version_6(options[keys.DATABASE], keygen)
    else:
        specific = _version_9(keygen)
        if options[keys.DATABASE]:
            specific["hoodie.database.name"] = options[keys.DATABASE]
        if partitions:
            hive_style = options[keys.HIVE_STYLE]
            specific["hoodie.table.partition_extractor_class"] = _extractor(partitions, hive_style=hive_style)
    return TableProperties({**common, **specific, **merging_properties(options)}).with_checksum()


def _version_6(database: str, keygen: str) -> dict[str, str]:
    return {
        "hoodie.database.name": database,
        "hoodie.table.version": "6",
        "hoodie.timeline.layout.version": "1",
        "hoodie.archivelog.folder": "archived",
        "hoodie.table.keygenerator.class": KEYGEN_CLASSES[keygen],
    }


def _version_9(keygen: str) -> dict[str, str]:
    return {
        "hoodie.table.version": "9",
        "hoodie.table.initial.version": "9",
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.archivelog.folder": "history",
        "hoodie.table.keygenerator.type": keygen,
        "hoodie.table.format": "native",
        "hoodie.table.multiple.base.file.formats.enable": "false",
    }


def _keygen_type(options: Options) -> str:
    record_keys, partitions = options[keys.RECORD_KEY_FIELDS], options[keys.PARTITION_FIELDS]
    java_class = options.get(keys.KEYGEN_CLASS)
    declared = options.get(keys.KEYGEN_TYPE)
    if java_class is not None:
        of_class = keygen_type_of_class(java_class)
        if of_class is None or declared not in (None, of_class):
            raise ConfigError(
                f"Option {keys.KEYGEN_CLASS.name} cannot be used",
                found=java_class,
                fix="use the Simple, Complex or Nonpartitioned key generator, and the same type if a type is given too",
            )
        declared = of_class
    inferred = infer_keygen_type(record_keys, partitions)
    chosen = declared or inferred
    if chosen == "SIMPLE" and inferred != "SIMPLE":
        raise ConfigError(
            "The SIMPLE key generator takes one record key column and one partition column",
            found=f"keys {', '.join(record_keys)}; partitions {', '.join(partitions) or '(none)'}",
            fix=f"use {inferred}",
        )
    if (chosen == "NON_PARTITION") != (not partitions):
        raise ConfigError(
            f"The {chosen} key generator does not fit the partition columns",
            found=", ".join(partitions) or "no partition columns",
            fix=f"use {inferred}",
        )
    # Hudi 0.15 writes such a key as `value`, 1.2 as `column:value` and refuses to go on in a table older than version 9.
    if chosen == "COMPLEX" and len(record_keys) == 1 and options[keys.VERSION] == "6":
        raise ConfigError(
            "COMPLEX with a single record key column is ambiguous between Hudi releases in version 6 (HUDI-7001)",
            found=f"{keys.RECORD_KEY_FIELDS.name}={record_keys[0]}",
            fix="use several key columns, one partition column, or version 9",
        )
    if chosen == "COMPLEX" and len(record_keys) == 1 and len(partitions) == 1 and declared:
        raise ConfigError(
            "COMPLEX with a single record key column is ambiguous between Hudi releases (H#17834)",
            found=f"{keys.RECORD_KEY_FIELDS.name}={record_keys[0]}",
            fix="use SIMPLE, or several key columns",
        )
    return chosen


def _extractor(partitions: tuple[str, ...], *, hive_style: bool) -> str:
    if hive_style:
        return _EXTRACTORS + "HiveStylePartitionValueExtractor"
    return _EXTRACTORS + (
        "SinglePartPartitionValueExtractor" if len(partitions) == 1 else "MultiPartKeysValueExtractor"
    )


def _flag(value: bool) -> str:
    return "true" if value else "false"
