"""The Hive metastore over Thrift (`hoodie.datasource.hive_sync.mode=hms`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from pymetastore.hive_metastore import ttypes as hive
from thrift.Thrift import TException

from hoodie.config.keys.sync import METASTORE_URIS
from hoodie.errors import CatalogError
from hoodie.keygen.partition_path import escape_path_name
from hoodie.metastore import Connection, words
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

# Partitions keep columns of their own: without this those of old partitions stay as they were.
_CASCADE = {"CASCADE": "true"}


class Metastore:
    """A connection to one metastore."""

    takes_spark_properties = True

    def __init__(self, connection: Connection, user: str, batch: int) -> None:
        """Use `connect`."""
        self._connection = connection
        self._client = connection.client
        self._user = user
        self._batch = batch

    @classmethod
    def connect(cls, uris: str, user: str, batch: int) -> Self:
        """The first of the comma separated `uris` that answers. Raises ConfigError or CatalogError."""
        try:
            return cls(Connection.open(uris, METASTORE_URIS.name, user), user, batch)
        except ConnectionError as error:
            raise CatalogError(
                f"No Hive metastore answers at {uris}",
                found=str(error),
                fix="start it, or correct hoodie.datasource.hive_sync.metastore.uris; the table is as it was, and the next "
                "sync catches up",
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def has_database(self, database: str) -> bool:
        with self._asking(f"for database {database}"):
            try:
                self._client.get_database(database)
            except hive.NoSuchObjectException:
                return False
            return True

    def table(self, database: str, name: str) -> CatalogTable | None:
        """The table as the metastore has it."""
        with self._asking(f"for table {database}.{name}"):
            try:
                return _to_table(self._get(database, name))
            except hive.NoSuchObjectException:
                return None

    def partitions(self, table: CatalogTable, values: Sequence[tuple[str, ...]] | None) -> list[CatalogPartition]:
        """Those with these values, or all; asked for in batches."""
        with self._asking(f"for partitions of {table.full_name}"):
            if values is None:
                names = self._client.get_partition_names(table.database, table.name, -1)
            else:
                keys = [column.name for column in table.partition_columns]
                names = ["/".join(_step(*pair) for pair in zip(keys, value, strict=True)) for value in values]
            partitions = []
            for some in batches(names, self._batch):
                partitions += self._client.get_partitions_by_names(table.database, table.name, list(some))
            return [CatalogPartition(tuple(partition.values), partition.sd.location) for partition in partitions]

    def check(self, action: Action) -> None:
        """A metastore can carry out every action."""

    def apply(self, action: Action) -> None:
        """Carry out one action."""
        with self._asking(f"to {action}"):
            match action:
                case CreateDatabase(database):
                    self._create_database(database)
                case CreateTable(table):
                    self._create_table(table)
                case AddColumns(table, columns):
                    self._add_columns(table, columns)
                case ReplaceColumns(table, columns, _):
                    self._set_columns(table, [_field(column) for column in columns])
                case SetProperties(table, properties):
                    self._set_properties(table, dict(properties))
                case SetSerdeProperties(table, properties):
                    self._set_serde(table, dict(properties))
                case AddPartitions(table, partitions):
                    self._add_partitions(table, partitions)
                case MovePartitions(table, partitions):
                    self._move_partitions(table, partitions)
                case DropPartitions(table, partitions):
                    self._drop_partitions(table, partitions)

    def _create_database(self, database: str) -> None:
        try:
            self._client.create_database(hive.Database(name=database, description="made by Hive sync", parameters={}))
        except hive.AlreadyExistsException:
            return

    def _create_table(self, table: CatalogTable) -> None:
        external = {} if table.managed else {"EXTERNAL": "TRUE"}
        new = hive.Table(
            tableName=table.name,
            dbName=table.database,
            owner=self._user,
            createTime=int(time.time()),
            lastAccessTime=0,
            retention=0,
            sd=hive.StorageDescriptor(
                cols=[_field(column) for column in table.columns],
                location=table.location,
                inputFormat=table.input_format,
                outputFormat=table.output_format,
                compressed=False,
                numBuckets=0,
                serdeInfo=hive.SerDeInfo(serializationLib=table.serde, parameters=dict(table.serde_properties)),
                bucketCols=[],
                sortCols=[],
                parameters={},
            ),
            partitionKeys=[_field(column) for column in table.partition_columns],
            parameters={**table.properties, **external},
            tableType="MANAGED_TABLE" if table.managed else "EXTERNAL_TABLE",
        )
        try:
            self._client.create_table(new)
        except hive.AlreadyExistsException:
            return  # another sync was quicker

    def _add_columns(self, table: CatalogTable, columns: Sequence[Column]) -> None:
        have = self._get(table.database, table.name).sd.cols
        names = {field.name for field in have}
        self._set_columns(table, [*have, *(_field(column) for column in columns if column.name not in names)])

    def _set_columns(self, table: CatalogTable, fields: list[Any]) -> None:
        current = self._get(table.database, table.name)
        current.sd.cols = fields
        self._alter(current, _CASCADE if table.partition_columns else {})

    def _set_properties(self, table: CatalogTable, properties: dict[str, str]) -> None:
        current = self._get(table.database, table.name)
        current.parameters = {**current.parameters, **properties}
        self._alter(current, {})

    def _set_serde(self, table: CatalogTable, properties: dict[str, str]) -> None:
        current = self._get(table.database, table.name)
        current.sd.serdeInfo.parameters = {**(current.sd.serdeInfo.parameters or {}), **properties}
        self._alter(current, {})

    def _alter(self, table: Any, context: dict[str, str]) -> None:
        self._client.alter_table_with_environment_context(
            table.dbName, table.tableName, table, hive.EnvironmentContext(properties=dict(context))
        )

    def _add_partitions(self, table: CatalogTable, partitions: Sequence[CatalogPartition]) -> None:
        storage = self._get(table.database, table.name).sd
        for some in batches(partitions, self._batch):
            request = hive.AddPartitionsRequest(
                dbName=table.database,
                tblName=table.name,
                parts=[self._partition(table, storage, partition) for partition in some],
                ifNotExists=True,
                needResult=False,
            )
            self._client.add_partitions_req(request)

    def _move_partitions(self, table: CatalogTable, partitions: Sequence[CatalogPartition]) -> None:
        storage = self._get(table.database, table.name).sd
        for some in batches(partitions, self._batch):
            moved = [self._partition(table, storage, partition) for partition in some]
            self._client.alter_partitions(table.database, table.name, moved)

    def _drop_partitions(self, table: CatalogTable, partitions: Sequence[CatalogPartition]) -> None:
        for partition in partitions:
            try:
                self._client.drop_partition(table.database, table.name, list(partition.values), False)
            except hive.NoSuchObjectException:
                continue

    def _partition(self, table: CatalogTable, storage: Any, partition: CatalogPartition) -> Any:
        return hive.Partition(
            values=list(partition.values),
            dbName=table.database,
            tableName=table.name,
            createTime=0,
            lastAccessTime=0,
            sd=hive.StorageDescriptor(
                cols=storage.cols,
                location=partition.location,
                inputFormat=storage.inputFormat,
                outputFormat=storage.outputFormat,
                compressed=False,
                numBuckets=0,
                serdeInfo=storage.serdeInfo,
                bucketCols=[],
                sortCols=[],
                parameters={},
            ),
            parameters={},
        )

    def _get(self, database: str, name: str) -> Any:
        return self._client.get_table_req(hive.GetTableRequest(dbName=database, tblName=name)).table

    @contextmanager
    def _asking(self, request: str) -> Iterator[None]:
        try:
            yield
        except (TException, OSError) as error:
            raise CatalogError(
                f"The Hive metastore at {self._connection.address} failed on a request {request}",
                found=words(error),
                fix="see the metastore's log; the table is unchanged, and the next sync continues",
            ) from error


def _step(key: str, value: str) -> str:
    return f"{key}={escape_path_name(value)}"


def _field(column: Column) -> Any:
    return hive.FieldSchema(name=column.name, type=column.type, comment="")


def _to_table(table: Any) -> CatalogTable:
    storage = table.sd
    return CatalogTable(
        database=table.dbName,
        name=table.tableName,
        columns=tuple(Column(field.name, field.type) for field in storage.cols),
        partition_columns=tuple(Column(field.name, field.type) for field in table.partitionKeys or ()),
        location=storage.location or "",
        input_format=storage.inputFormat or "",
        output_format=storage.outputFormat or "",
        serde=storage.serdeInfo.serializationLib or "",
        serde_properties=dict(storage.serdeInfo.parameters or {}),
        properties=dict(table.parameters or {}),
        managed=table.tableType == "MANAGED_TABLE",
    )
