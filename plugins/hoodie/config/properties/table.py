"""`hoodie.properties` as a typed, immutable value (format notes, section 1)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from importlib.util import find_spec
from types import MappingProxyType

from hoodie.cache import cached_property
from hoodie.clock import MACHINE_ZONE
from hoodie.config.properties.features import FEATURES, Features
from hoodie.config.properties.merge import EVENT, Merging, merging_of
from hoodie.config.properties.restrictions import cdc_flaw, slash_dates_flaw, virtual_keys_flaw
from hoodie.errors import CorruptTableError, UnsupportedTableError, missing_extra

METADATA_PARTITIONS = "hoodie.table.metadata.partitions"
METADATA_PARTITIONS_INFLIGHT = "hoodie.table.metadata.partitions.inflight"
CHECKSUM = "hoodie.table.checksum"
PARTITION_FIELDS = "hoodie.table.partition.fields"
SLASH_DATES = "hoodie.datasource.write.slash.separated.date.partitioning"
CDC, CDC_MODE = "hoodie.table.cdc.enabled", "hoodie.table.cdc.supplemental.logging.mode"
CDC_MODES = ("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER")
POPULATE_META_FIELDS = "hoodie.populate.meta.fields"

_PACKAGE = "org.apache.hudi.keygen."
KEYGEN_CLASSES = {
    "SIMPLE": _PACKAGE + "SimpleKeyGenerator",
    "COMPLEX": _PACKAGE + "ComplexKeyGenerator",
    "NON_PARTITION": _PACKAGE + "NonpartitionedKeyGenerator",
    "TIMESTAMP": _PACKAGE + "TimestampBasedKeyGenerator",
    "CUSTOM": _PACKAGE + "CustomKeyGenerator",
    "GLOBAL_DELETE": _PACKAGE + "GlobalDeleteKeyGenerator",
}
_AVRO_TWINS = {"GlobalAvroDeleteKeyGenerator": "GLOBAL_DELETE"}  # the others have Avro before KeyGenerator
PARTITION_TYPES = ("SIMPLE", "TIMESTAMP")
_TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
_ZONE, _ZONES = "hoodie.table.timeline.timezone", ("LOCAL", "UTC")
_FOLDERS = ("hoodie.timeline.path", "hoodie.timeline.history.path", "hoodie.archivelog.folder")
# The partition columns with their types, of a version 6 table: there Hudi keeps only the names.
TYPED_PARTITION_FIELDS = "hoodie.datasource.write.partitionpath.field"


@dataclass(frozen=True)
class TableProperties:
    """Properties of `hoodie.properties`. `raw` keeps every key, known or not: they are written back unchanged."""

    raw: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "raw", MappingProxyType(dict(self.raw)))

    def __reduce__(self) -> tuple[object, ...]:
        return TableProperties, (dict(self.raw),)

    @property
    def name(self) -> str:
        return self._require("hoodie.table.name")

    @property
    def table_type(self) -> str:
        """COPY_ON_WRITE or MERGE_ON_READ."""
        return self.raw.get("hoodie.table.type", "COPY_ON_WRITE")

    @property
    def is_merge_on_read(self) -> bool:
        return self.table_type == "MERGE_ON_READ"

    @property
    def has_logs_of_1_x(self) -> bool:
        """Return whether rows may come into logs that only Hudi 1.x reads."""
        return self.is_merge_on_read and self.features.logs_of_1_x

    @cached_property
    def version(self) -> int:
        """The table version. Raises UnsupportedTableError for one that this library does not know."""
        text = self._require("hoodie.table.version")
        if not text.isdigit() or int(text) not in FEATURES:
            raise UnsupportedTableError(
                f"Table {self.name!r} has a version that is not supported",
                found=f"hoodie.table.version={text}",
                fix=f"supported are {', '.join(map(str, FEATURES))}; upgrade it to version 6, or downgrade it, with Hudi's CLI",
            )
        return int(text)

    @property
    def was_upgraded(self) -> bool:
        """Return whether the table had the timeline of version 6 before."""
        initial = self.initial_version
        return self.version >= 8 and initial.isdigit() and int(initial) < 8

    @property
    def initial_version(self) -> str:
        """The version in which the table was created, "" where that is not known."""
        return self.raw.get("hoodie.table.initial.version", "")

    @property
    def features(self) -> Features:
        """Features of the table version. Raises as `version`."""
        return FEATURES[self.version]

    @property
    def timeline_folder(self) -> str:
        return self.raw.get("hoodie.timeline.path", "timeline")

    @property
    def archive_folder(self) -> str:
        """Folder of the archived timeline of layout 1, below `.hoodie`. Hudi 1.x names it `history` also in version 6."""
        return self.raw.get("hoodie.archivelog.folder", "archived")

    @property
    def history_folder(self) -> str:
        return self.raw.get("hoodie.timeline.history.path", "history")

    @cached_property
    def timezone(self) -> tzinfo:
        """Zone of the instants: UTC, or the zone of this machine for LOCAL, which is Hudi's default."""
        return UTC if self.zone_name == "UTC" else MACHINE_ZONE

    @property
    def record_key_fields(self) -> tuple[str, ...]:
        return _columns(self.raw.get("hoodie.table.recordkey.fields", ""))

    @property
    def partition_fields(self) -> tuple[str, ...]:
        """Partition columns; the types that a custom key generator adds after a colon are left out."""
        return tuple(name.partition(":")[0] for name in _columns(self.raw.get(PARTITION_FIELDS, "")))

    @property
    def timestamp_partition_fields(self) -> tuple[str, ...]:
        """The partition columns whose folders are made of a time.

        Raises UnsupportedTableError when the table does not say which these are.
        """
        if self.keygen_type == "TIMESTAMP":
            return self.partition_fields
        if self.keygen_type != "CUSTOM":
            return ()
        typed = tuple(name.partition(":") for name in _columns(self.typed_partition_fields))
        for name, _, kind in typed:
            if kind.strip().upper() not in PARTITION_TYPES:
                raise UnsupportedTableError(
                    f"Table {self.name!r} does not say how its Custom key generator treats the column {name!r}",
                    found=f"{PARTITION_FIELDS}={self.raw.get(PARTITION_FIELDS, '')}",
                    fix=f"give the option {TYPED_PARTITION_FIELDS}, such as {name}:SIMPLE or {name}:TIMESTAMP",
                )
        return tuple(name for name, _, kind in typed if kind.strip().upper() == "TIMESTAMP")

    @property
    def typed_partition_fields(self) -> str:
        """The partition columns as the Custom key generator wants them: `name:type,name:type`."""
        stored = self.raw.get(PARTITION_FIELDS, "")
        return stored if ":" in stored else self.raw.get(TYPED_PARTITION_FIELDS, stored)

    @property
    def ordering_fields(self) -> tuple[str, ...]:
        """The fields that order the rows of a key, the first first; `a.b` is a field of the struct column `a`."""
        text = self.raw.get("hoodie.table.ordering.fields") or self.raw.get("hoodie.table.precombine.field") or ""
        return _columns(text)

    @property
    def precombine_fields(self) -> tuple[str, ...]:
        """The columns that decide between rows of one key in a batch or in logs; without any the last row wins."""
        by_ordering = self.merging.logs_by_ordering or self.merging.mode == EVENT
        return self.ordering_fields if by_ordering else ()

    @property
    def merge_ordering_fields(self) -> tuple[str, ...]:
        """The columns that decide against a stored row; without any the incoming row wins."""
        return self.ordering_fields if self.merging.mode == EVENT else ()

    @property
    def hive_style_partitioning(self) -> bool:
        return self._flag("hoodie.datasource.write.hive_style_partitioning", default=False)

    @property
    def slash_dates(self) -> bool:
        """Return whether the folders of days are `yyyy/MM/dd`."""
        return self._flag(SLASH_DATES, default=False)

    @property
    def virtual_keys(self) -> bool:
        """Return whether meta columns are null and record keys are made of the key columns for each use."""
        return not self._flag(POPULATE_META_FIELDS, default=True)

    @property
    def url_encode_partitioning(self) -> bool:
        return self._flag("hoodie.datasource.write.partitionpath.urlencode", default=False)

    @property
    def drops_partition_columns(self) -> bool:
        """Return whether data files are without the partition columns."""
        return self._flag("hoodie.datasource.write.drop.partition.columns", default=False)

    @cached_property
    def keygen_type(self) -> str:
        """A key of `KEYGEN_CLASSES`. Raises UnsupportedTableError for another key generator."""
        declared = self.raw.get("hoodie.table.keygenerator.type", "").upper().removesuffix("_AVRO")
        java_class = self.raw.get("hoodie.table.keygenerator.class", "")
        if not declared and java_class:
            declared = keygen_type_of_class(java_class) or java_class
        if not declared:
            declared = infer_keygen_type(self.record_key_fields, _columns(self.raw.get(PARTITION_FIELDS, "")))
        if declared not in KEYGEN_CLASSES:
            raise UnsupportedTableError(
                f"Table {self.name!r} has a key generator that is not supported",
                found=declared,
                fix=f"supported are {', '.join(KEYGEN_CLASSES)}; write to this table with Hudi",
            )
        return declared

    @cached_property
    def merging(self) -> Merging:
        """How records of one key are merged (format notes, section 7.1).

        Raises UnsupportedTableError for custom mergers and payload classes, ConfigError for half a delete marker.
        """
        return merging_of(self.raw, self.version, self.name)

    @property
    def merge_mode(self) -> str:
        """COMMIT_TIME_ORDERING or EVENT_TIME_ORDERING. Raises as `merging`."""
        return self.merging.mode

    @property
    def has_metadata_table(self) -> bool:
        """Return whether readers use a metadata table (format notes, section 8.4)."""
        return bool(self.raw.get(METADATA_PARTITIONS) or self.raw.get(METADATA_PARTITIONS_INFLIGHT))

    @property
    def metadata_partitions(self) -> tuple[str, ...]:
        """The indexes of the metadata table that are complete: with `files` among them readers list files by it alone."""
        return _columns(self.raw.get(METADATA_PARTITIONS, ""))

    def check_readable(self) -> None:
        """Raises UnsupportedTableError for base files of ORC, and ConfigError for those of Lance without the extra `lance`.

        HFiles are those of the metadata table.
        """
        stored = self._base_file_format
        if stored == "LANCE":
            if not _is_installed("lance"):
                raise missing_extra("lance", f"Table {self.name!r}, whose base files are of LANCE,", "no module lance")
        elif stored not in ("PARQUET", "HFILE"):
            raise UnsupportedTableError(
                f"Table {self.name!r} cannot be read by this library",
                found=f"base files of {stored} (hoodie.table.base.file.format)",
                fix="read it with Hudi on Spark, or let Hudi write its rows to a table of Parquet files",
            )

    def check_changeable(self) -> None:
        """Raises UnsupportedTableError for a table whose base files are read only: those of Lance."""
        if self._base_file_format != "PARQUET":
            self._refuse("hoodie.table.base.file.format", "base files that are not Parquet")

    @property
    def _base_file_format(self) -> str:
        return self.raw.get("hoodie.table.base.file.format", "PARQUET").upper()

    @property
    def cdc_mode(self) -> str | None:
        """One of `CDC_MODES`: the columns of the changes that writes log. None: they log none.

        Raises UnsupportedTableError for another mode.
        """
        if not self._flag(CDC, default=False):
            return None
        mode = self.raw.get(CDC_MODE, CDC_MODES[-1]).strip().upper()
        if mode not in CDC_MODES:
            self._refuse(CDC_MODE, f"the logging mode {mode!r}; known are {', '.join(CDC_MODES)}")
        return mode

    def check_writable(self) -> None:
        """Raises UnsupportedTableError naming the first property that our writer cannot honour."""
        _ = self.version, self.keygen_type, self.merge_mode
        if self.version < 9 and self.keygen_type == "COMPLEX" and len(self.record_key_fields) == 1:
            self._refuse("hoodie.table.recordkey.fields", "keys that Hudi's releases write in two ways (HUDI-7001)")
        if self.slash_dates:
            why_not = slash_dates_flaw(
                self.keygen_type, hive_style=self.hive_style_partitioning, encoded=self.url_encode_partitioning
            )
            if why_not is not None:
                self._refuse(SLASH_DATES, f"days as nested folders with {why_not}")
        if self.virtual_keys:
            why_not = virtual_keys_flaw(self.table_type, self.keygen_type, self.record_key_fields)
            if why_not is not None:
                self._refuse(POPULATE_META_FIELDS, f"virtual keys with {why_not}")
        if self.cdc_mode is not None:
            why_not = cdc_flaw(self.version, virtual_keys=self.virtual_keys)
            if why_not is not None:
                self._refuse(CDC, f"change data capture with {why_not}")
        if self.drops_partition_columns:
            self._refuse("hoodie.datasource.write.drop.partition.columns", "data files without their partition columns")
        self.check_changeable()

    def with_values(self, values: Mapping[str, str], without: Iterable[str] = ()) -> TableProperties:
        """A copy with some keys set and others removed."""
        merged = {**self.raw, **values}
        for key in without:
            merged.pop(key, None)
        return TableProperties(merged)

    def with_checksum(self) -> TableProperties:
        return self.with_values({CHECKSUM: str(self.checksum())})

    def checksum(self) -> int:
        """CRC32 of `<database>.<table>` (format notes, section 1.2)."""
        return zlib.crc32(
            f"{self.raw.get('hoodie.database.name', '')}.{self.raw.get('hoodie.table.name', '')}".encode()
        )

    @property
    def flaw(self) -> str | None:
        """The reason why these cannot be the properties of a table, or None.

        Name or version are missing, the checksum is wrong, Hudi knows no such type or time zone, or a folder is not in `.hoodie`.
        """
        for key in ("hoodie.table.name", "hoodie.table.version"):
            if not self.raw.get(key):
                return f"no {key}"
        if self.table_type not in _TYPES:
            return f"hoodie.table.type={self.table_type}, which is not one of {', '.join(_TYPES)}"
        if self.zone_name not in _ZONES:
            return f"{_ZONE}={self.raw[_ZONE]}, which is not one of {', '.join(_ZONES)}"
        for key in _FOLDERS:
            if not _is_inside(self.raw.get(key, "")):
                return f"{key}={self.raw[key]}, which is not a folder inside .hoodie"
        stored = self.raw.get(CHECKSUM)
        return None if stored is None or stored == str(self.checksum()) else "the checksum does not match"

    def _refuse(self, key: str, reason: str) -> None:
        raise UnsupportedTableError(
            f"Table {self.name!r} cannot be written by this library",
            found=f"{reason} ({key})",
            fix="write to this table, and run its services, with Hudi",
        )

    @property
    def zone_name(self) -> str:
        """The time zone of its instants: UTC, or LOCAL."""
        return self.raw.get(_ZONE, "LOCAL").upper()

    def _flag(self, key: str, *, default: bool) -> bool:
        value = self.raw.get(key)
        return default if value is None or value == "" else value.strip().lower() == "true"

    def _require(self, key: str) -> str:
        value = self.raw.get(key)
        if not value:
            raise CorruptTableError(
                f"hoodie.properties has no {key}",
                found=f"keys {', '.join(sorted(self.raw)) or '(none)'}",
                fix="restore the file",
            )
        return value


def _is_inside(folder: str) -> bool:
    """Return whether a path leads into the folder that it is relative to. An empty one, as in old tables, is that folder
    itself."""
    return folder == "" or ("\0" not in folder and {"", ".", ".."}.isdisjoint(folder.split("/")))


def infer_keygen_type(record_keys: tuple[str, ...], partitions: tuple[str, ...]) -> str:
    """Hudi's own choice when none is given: by the number of partition and key columns, CUSTOM for columns with types."""
    if not partitions:
        return "NON_PARTITION"
    if ":" in partitions[0]:
        return "CUSTOM"
    return "SIMPLE" if len(record_keys) <= 1 and len(partitions) == 1 else "COMPLEX"


def keygen_type_of_class(java_class: str) -> str | None:
    """The type of Hudi's key generator class, or of its Avro twin; None for one that is not supported."""
    name = java_class.rpartition(".")[2]
    plain = name.replace("AvroKeyGenerator", "KeyGenerator")
    types = {full.rpartition(".")[2]: kind for kind, full in KEYGEN_CLASSES.items()}
    return _AVRO_TWINS.get(name) or types.get(plain)


def _columns(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())


def _is_installed(package: str) -> bool:
    """True for a package that can be imported. A folder of that name does not count."""
    spec = find_spec(package)
    return spec is not None and spec.origin is not None
