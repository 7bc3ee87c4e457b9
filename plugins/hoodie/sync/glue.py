"""The AWS Glue Data Catalog by its API (`hoodie.datasource.hive_sync.mode=glue`), as Hudi's AwsGlueCatalogSyncTool writes it.

Region and credentials are those of boto3: the environment, a profile, or the role of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from hoodie.config.key import Options
from hoodie.config.keys.sync import GLUE_METADATA_LISTING, GLUE_SKIP_ARCHIVE
from hoodie.errors import CatalogError
from hoodie.sync.catalog import batches
from hoodie.sync.model import (
    Action,
    AddColumns,
    AddPartitions,
    CatalogPartition,
    CatalogTable,
    Column,
    CreateDatabase,
    CreateTable,
    DropPartitions,
    MovePartitions,
    ReplaceColumns,
    SetProperties,
    SetSerdeProperties,
)

_WRITTEN, _DELETED, _READ = 100, 25, 1000  # partitions that the API takes in one call
_METADATA_LISTING = "hudi.metadata-listing-enabled"  # a property that Athena reads
_INPUT = (  # the parts of a table that the API takes back
    "Name", "Description", "Owner", "LastAccessTime", "LastAnalyzedTime", "Retention", "StorageDescriptor", "PartitionKeys",
    "ViewOriginalText", "ViewExpandedText", "TableType", "Parameters", "TargetTable",
)  # fmt: skip
_EXISTS, _MISSING = "AlreadyExistsException", "EntityNotFoundException"


class GlueCatalog:
    """A client of the Glue API."""

    takes_spark_properties = True

    def __init__(self, client: Any, options: Options) -> None:
        """Use `connect`."""
        self._client = client
        self._skip_archive = options[GLUE_SKIP_ARCHIVE]
        self._listing = str(options[GLUE_METADATA_LISTING]).upper()

    @classmethod
    def connect(cls, options: Options) -> Self:
        """Raises CatalogError where no region is set."""
        try:
            return cls(boto3.client("glue"), options)
        except BotoCoreError as error:
            raise _failed("to connect", error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def has_database(self, database: str) -> bool:
        with _asking(f"for database {database}"):
            try:
                self._client.get_database(Name=database)
            except ClientError as error:
                return _is_expected(error, _MISSING)
            return True

    def table(self, database: str, name: str) -> CatalogTable | None:
        """The table as Glue has it."""
        with _asking(f"for table {database}.{name}"):
            try:
                return _to_table(self._get(database, name))
            except ClientError as error:
                _is_expected(error, _MISSING)
                return None

    def partitions(self, table: CatalogTable, values: Sequence[tuple[str, ...]] | None) -> list[CatalogPartition]:
        """Those with these values, or all."""
        with _asking(f"for partitions of {table.full_name}"):
            result = self._all(table) if values is None else self._named(table, values)
            return [
                CatalogPartition(tuple(part["Values"]), part["StorageDescriptor"].get("Location", ""))
                for part in result
            ]

    def check(self, action: Action) -> None:
        """Glue can carry out every action."""

    def apply(self, action: Action) -> None:
        """Carry out one action."""
        with _asking(f"to {action}"):
            match action:
                case CreateDatabase(database):
                    self._create_database(database)
                case CreateTable(table):
                    self._create_table(table)
                case AddColumns(table, columns):
                    have = self._get(table.database, table.name)["StorageDescriptor"]["Columns"]
                    names = {column["Name"] for column in have}
                    new = [_field(column) for column in columns if column.name not in names]
                    self._set_columns(table, [*have, *new])
                case ReplaceColumns(table, columns, _):
                    self._set_columns(table, [_field(column) for column in columns])
                case SetProperties(table, properties):
                    self._set_properties(table, properties)
                case SetSerdeProperties(table, properties):
                    self._set_serde(table, properties)
                case AddPartitions(table, partitions):
                    self._add_partitions(table, partitions)
                case MovePartitions(table, partitions):
                    self._update_partitions(table, partitions)
                case DropPartitions(table, partitions):
                    self._drop_partitions(table, partitions)

    def _create_database(self, database: str) -> None:
        try:
            self._client.create_database(
                DatabaseInput={"Name": database, "Description": "made by a sync of Hudi tables"}
            )
        except ClientError as error:
            _is_expected(error, _EXISTS)

    def _create_table(self, table: CatalogTable) -> None:
        external = {} if table.managed else {"EXTERNAL": "TRUE"}
        new = {
            "Name": table.name,
            "TableType": "EXTERNAL_TABLE",
            "Parameters": {**external, _METADATA_LISTING: self._listing, **table.properties},
            "PartitionKeys": [_field(column) for column in table.partition_columns],
            "StorageDescriptor": {
                "Columns": [_field(column) for column in table.columns],
                "Location": _s3(table.location),
                "InputFormat": table.input_format,
                "OutputFormat": table.output_format,
                "SerdeInfo": {"SerializationLibrary": table.serde, "Parameters": dict(table.serde_properties)},
            },
        }
        try:
            self._client.create_table(DatabaseName=table.database, TableInput=new)
        except ClientError as error:
            _is_expected(error, _EXISTS)  # another sync was quicker

    def _set_columns(self, table: CatalogTable, columns: list[dict[str, str]]) -> None:
        current = self._get(table.database, table.name)
        current["StorageDescriptor"]["Columns"] = columns
        self._update(table, current)
        if table.partition_columns:  # each keeps columns of its own
            self._update_partitions(table, self.partitions(table, None))

    def _set_properties(self, table: CatalogTable, properties: Mapping[str, str]) -> None:
        current = self._get(table.database, table.name)
        current["Parameters"] = {**current.get("Parameters", {}), _METADATA_LISTING: self._listing, **properties}
        self._update(table, current)

    def _set_serde(self, table: CatalogTable, properties: Mapping[str, str]) -> None:
        current = self._get(table.database, table.name)
        serde = current["StorageDescriptor"]["SerdeInfo"]
        serde["Parameters"] = {**serde.get("Parameters", {}), **properties}
        self._update(table, current)

    def _update(self, table: CatalogTable, current: Mapping[str, Any]) -> None:
        table_input = {name: current[name] for name in _INPUT if name in current}
        self._client.update_table(DatabaseName=table.database, TableInput=table_input, SkipArchive=self._skip_archive)

    def _add_partitions(self, table: CatalogTable, partitions: Sequence[CatalogPartition]) -> None:
        for some in batches(self._inputs(table, partitions), _WRITTEN):
            answer = self._client.batch_create_partition(**_table_key(table), PartitionInputList=list(some))
            _check(table, answer, _EXISTS)

    def _update_partitions(self, table: CatalogTable, partitions: Sequence[CatalogPartition]) -> None:
        for some in batches(self._inputs(table, partitions), _WRITTEN):
            entries = [{"PartitionValueList": part["Values"], "PartitionInput": part} for part in some]
            _check(table, self._client.batch_update_partition(**_table_key(table), Entries=entries))

    def _drop_partitions(self, table: CatalogTable, partitions: Sequence[CatalogPartition]) -> None:
        for some in batches(partitions, _DELETED):
            values = [{"Values": list(partition.values)} for partition in some]
            _check(table, self._client.batch_delete_partition(**_table_key(table), PartitionsToDelete=values), _MISSING)

    def _inputs(self, table: CatalogTable, partitions: Iterable[CatalogPartition]) -> list[dict[str, Any]]:
        storage = self._get(table.database, table.name)["StorageDescriptor"]
        return [
            {"Values": list(part.values), "StorageDescriptor": {**storage, "Location": _s3(part.location)}}
            for part in partitions
        ]

    def _all(self, table: CatalogTable) -> list[Any]:
        pages = self._client.get_paginator("get_partitions").paginate(**_table_key(table))
        return [part for page in pages for part in page["Partitions"]]

    def _named(self, table: CatalogTable, values: Sequence[tuple[str, ...]]) -> list[Any]:
        result: list[Any] = []
        for some in batches(values, _READ):
            remaining = [{"Values": list(value)} for value in some]
            while remaining:
                answer = self._client.batch_get_partition(**_table_key(table), PartitionsToGet=remaining)
                result += answer.get("Partitions", [])
                remaining = answer.get("UnprocessedKeys", [])
        return result

    def _get(self, database: str, name: str) -> dict[str, Any]:
        table: dict[str, Any] = self._client.get_table(DatabaseName=database, Name=name)["Table"]
        return table


def _table_key(table: CatalogTable) -> dict[str, str]:
    return {"DatabaseName": table.database, "TableName": table.name}


def _check(table: CatalogTable, answer: Mapping[str, Any], *expected: str) -> None:
    """Raises CatalogError for a partition that Glue refused."""
    for entry in answer.get("Errors", []):
        detail = entry["ErrorDetail"]
        if detail["ErrorCode"] not in expected:
            values = entry.get("PartitionValues") or entry.get("PartitionValueList") or ()
            raise CatalogError(
                f"AWS Glue refused partition {'/'.join(values)} of {table.full_name}",
                found=f"{detail['ErrorCode']}: {detail.get('ErrorMessage', '')}",
                fix="remove the cause; the table is unchanged, and the next sync continues",
            )


def _is_expected(error: ClientError, code: str) -> bool:
    """False for the error of this code. Raises every other one."""
    if error.response["Error"]["Code"] != code:
        raise error
    return False


@contextmanager
def _asking(request: str) -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise _failed(request, error) from error


def _failed(request: str, error: Exception) -> CatalogError:
    return CatalogError(
        f"AWS Glue failed on a request {request}",
        found=str(error),
        fix="check AWS_DEFAULT_REGION, the credentials and their rights (glue:GetTable, UpdateTable, BatchCreatePartition …); "
        "the table is unchanged, and the next sync continues",
    )


def _s3(location: str) -> str:
    """The location with the scheme that AWS knows."""
    scheme, _, location_path = location.partition("://")
    return f"s3://{location_path}" if scheme in ("s3a", "s3n") else location


def _field(column: Column) -> dict[str, str]:
    return {"Name": column.name, "Type": column.type, "Comment": ""}


def _columns(fields: Iterable[Mapping[str, str]]) -> tuple[Column, ...]:
    return tuple(Column(field["Name"], field.get("Type", "")) for field in fields)


def _to_table(table: Mapping[str, Any]) -> CatalogTable:
    storage = table.get("StorageDescriptor", {})
    serde = storage.get("SerdeInfo", {})
    return CatalogTable(
        database=table["DatabaseName"],
        name=table["Name"],
        columns=_columns(storage.get("Columns", ())),
        partition_columns=_columns(table.get("PartitionKeys", ())),
        location=storage.get("Location", ""),
        input_format=storage.get("InputFormat", ""),
        output_format=storage.get("OutputFormat", ""),
        serde=serde.get("SerializationLibrary", ""),
        serde_properties=dict(serde.get("Parameters", {})),
        properties=dict(table.get("Parameters", {})),
        managed=table.get("Parameters", {}).get("EXTERNAL", "").upper() != "TRUE",
    )
