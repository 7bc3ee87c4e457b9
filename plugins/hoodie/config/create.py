"""From the options of a new table to its `hoodie.properties` (format notes, section 1.1)."""

from __future__ import annotations

from hoodie.config.create_keygen import check_keygen
from hoodie.config.create_merge import merging_properties
from hoodie.config.key import Options
from hoodie.config.keys import table as keys
from hoodie.config.properties.restrictions import cdc_flaw, virtual_keys_flaw
from hoodie.config.properties.table import (
    CDC,
    CDC_MODE,
    KEYGEN_CLASSES,
    POPULATE_META_FIELDS,
    SLASH_DATES,
    TYPED_PARTITION_FIELDS,
    TableProperties,
)
from hoodie.config.properties.timebased import PARSER, TIMEBASED_KEYS
from hoodie.errors import ConfigError

_EXTRACTORS = "org.apache.hudi.hive."


def new_table_properties(options: Options) -> TableProperties:
    """The properties of a table to be created with these options (keys of `table_keys.CREATE_KEYS`).

    Raises ConfigError when options are missing or cannot work together.
    """
    record_keys, partitions = options[keys.RECORD_KEY_FIELDS], options[keys.PARTITION_FIELDS]
    keygen = check_keygen(options)
    _check_virtual_keys(options, keygen)
    common = {
        "hoodie.table.name": options[keys.NAME],
        "hoodie.table.type": options[keys.TYPE],
        "hoodie.table.partition.fields": ",".join(partitions),
        "hoodie.table.base.file.format": "PARQUET",
        POPULATE_META_FIELDS: _flag(options[keys.POPULATE_META]),
        "hoodie.datasource.write.hive_style_partitioning": _flag(options[keys.HIVE_STYLE]),
        "hoodie.datasource.write.partitionpath.urlencode": _flag(options[keys.URL_ENCODE]),
        "hoodie.datasource.write.drop.partition.columns": "false",
        "hoodie.partition.metafile.use.base.format": "false",
        "hoodie.table.timeline.timezone": options[keys.TIMEZONE],
        CDC: _flag(options[keys.CDC_ENABLED]),
    }
    if options[keys.CDC_ENABLED]:
        _check_cdc(options)
        common[CDC_MODE] = options[keys.CDC_LOGGING_MODE]
    if options[keys.SLASH_SEPARATED_DATES]:
        common[SLASH_DATES] = "true"
    if record_keys:
        common["hoodie.table.recordkey.fields"] = ",".join(record_keys)
    # Hudi keeps them for the TimestampBased key generator only, and wants them with every write for the Custom one.
    common.update({key.name: options[key] for key in TIMEBASED_KEYS if options.is_set(key) and key is not PARSER})
    if options[keys.VERSION] == "6":
        specific = _version_6(options[keys.DATABASE], keygen)
        if keygen == "CUSTOM":
            specific[TYPED_PARTITION_FIELDS] = ",".join(partitions)
            specific["hoodie.table.partition.fields"] = ",".join(name.partition(":")[0] for name in partitions)
    else:
        specific = _version_9(keygen)
        if options[keys.DATABASE]:
            specific["hoodie.database.name"] = options[keys.DATABASE]
        if partitions:
            hive_style = options[keys.HIVE_STYLE]
            specific["hoodie.table.partition_extractor_class"] = _extractor(
                partitions, hive_style=hive_style, custom=keygen == "CUSTOM"
            )
    return TableProperties({**common, **specific, **merging_properties(options)}).with_checksum()


def _check_virtual_keys(options: Options, keygen: str) -> None:
    why_not = virtual_keys_flaw(options[keys.TYPE], keygen, options[keys.RECORD_KEY_FIELDS])
    if not options[keys.POPULATE_META] and why_not is not None:
        raise ConfigError(
            f"Option {POPULATE_META_FIELDS}=false (virtual keys) does not go with the other options",
            found=why_not,
            fix=f"leave {POPULATE_META_FIELDS} at true",
        )


def _check_cdc(options: Options) -> None:
    why_not = cdc_flaw(int(options[keys.VERSION]), virtual_keys=not options[keys.POPULATE_META])
    if why_not is not None:
        raise ConfigError(
            f"Option {CDC}=true does not go with the other options",
            found=why_not,
            fix=f"leave {CDC} out: HoodieTable.read_changes needs no log of changes",
        )


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


def _extractor(partitions: tuple[str, ...], *, hive_style: bool, custom: bool) -> str:
    if custom:
        return _EXTRACTORS + "MultiPartKeysValueExtractor"
    if hive_style:
        return _EXTRACTORS + "HiveStylePartitionValueExtractor"
    return _EXTRACTORS + (
        "SinglePartPartitionValueExtractor" if len(partitions) == 1 else "MultiPartKeysValueExtractor"
    )


def _flag(value: bool) -> str:
    return "true" if value else "false"
