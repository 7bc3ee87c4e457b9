"""A Hive metastore as the catalog: the databases and tables that Hive, Spark and Trino see, under the same names.

Tables are entered as Hive sync enters them, and after each write the sync of that table adds its new partitions and columns.
Needs the extra `hive`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hoodie.config import select_keys
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.key import resolve
from hoodie.config.keys import sync as sync_keys
from hoodie.errors import CatalogError, SqlError, missing_extra
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.sql.catalog import Entry
from hoodie.sql.names import TableName
from hoodie.storage import storage_of
from hoodie.sync.registration import REALTIME_FORMAT, SNAPSHOT_FORMAT
from hoodie.sync.run import run_sync
from hoodie.table import HoodieTable

try:
    from pymetastore.hive_metastore import ttypes as hive
    from thrift.Thrift import TException
    from thrift.transport.TTransport import TTransportException

    from hoodie.metastore import Connection, words
except ImportError as error:
    raise missing_extra("hive", "a Hive metastore as the catalog", error) from error

T = TypeVar("T")

_TRIES = 2  # a metastore may have been restarted since it was last asked
_AT_ONCE = 100  # tables that one call asks for
_FORMATS = frozenset({SNAPSHOT_FORMAT, REALTIME_FORMAT, "com.uber.hoodie.hadoop.HoodieInputFormat"})
_PROVIDER, _AS_READ_OPTIMIZED, _COMMENT = "spark.sql.sources.provider", "hoodie.query.as.ro.table", "comment"


class HiveCatalog:
    """The catalog at the first of the comma separated `uris` that answers, such as `thrift://metastore:9083`.

    DROP TABLE forgets a table of any writer and deletes no file. Not for several threads. Raises CatalogError when no metastore
    answers, ConfigError for an invalid address: both at the first call.
    """

    def __init__(self, uris: str, options: Mapping[str, object] | None = None, *, warehouse: str | None = None) -> None:
        """The key `hoodie.datasource.hive_sync.username` of `options` names the user. `warehouse` is the folder of databases that
        this catalog creates, None for that of the metastore."""
        user_options = select_keys(options or {}, [sync_keys.USERNAME])
        self._uris, self._user = uris, resolve(user_options, [sync_keys.USERNAME])[sync_keys.USERNAME]
        self._warehouse = None if warehouse is None else storage_of(warehouse).base_path
        self._connection: Connection | None = None

    @property
    def path(self) -> str:
        return f"metastore {self._uris}"

    def databases(self) -> list[str]:
        """All databases, in order, also those that hold no Hudi table."""
        return sorted(self._ask("for its databases", lambda client: client.get_all_databases()))

    def create_database(self, name: str) -> None:
        """Nothing happens when it is there. Its tables go into the warehouse, otherwise to where the metastore says."""
        location = self._place_of_new(name)

        def create(client: Any) -> None:
            try:
                client.create_database(hive.Database(name=name, description="", locationUri=location, parameters={}))
            except hive.AlreadyExistsException:
                return

        self._ask(f"to create database {name}", create)

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Forget an empty database; `cascade`: also forget its Hudi tables. No file is deleted. Raises SqlError when it has
        tables, or tables of another format: then nothing is dropped."""
        names = self._names(name)
        hudi_tables = self.tables(name)
        if names and not cascade:
            raise SqlError(
                f"Database {name} is not empty", found=_some(names), fix="drop its tables first, or say CASCADE"
            )
        others = sorted(set(names) - {table.name for table in hudi_tables})
        if others:
            raise SqlError(
                f"Database {name} holds tables that are not Hudi tables",
                found=_some(others),
                fix="drop them with the engine that created them; nothing was dropped",
            )
        for table in hudi_tables:
            self._drop(table)
        self._ask(f"to drop database {name}", _unless_absent(lambda client: client.drop_database(name, False, False)))

    def place_of(self, database: str) -> str:
        """The place that the metastore has for tables of a database. One that is not there goes into the warehouse: without that,
        SqlError is raised."""
        place = self._known_place(database) or self._place_of_new(database)
        if place is None:
            raise _no_database(database)
        return place

    def tables(self, database: str) -> list[TableName]:
        """The Hudi tables of a database, in order; none of one that is not there."""
        names = self._names(database)
        result: list[str] = []
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            result += (table.tableName for table in self._tables(database, some) if _is_of_hudi(table))
        return [TableName(database, name) for name in sorted(result)]

    def find(self, name: TableName) -> Entry | None:
        """The metastore's entry of a Hudi table; None for others, which an engine may know. Its writes sync it."""
        table = self._table(name)
        if table is None or not _is_of_hudi(table):
            return None
        parameters = {**(table.parameters or {})}
        return Entry(
            name,
            storage_of(table.sd.location).base_path,
            managed=False,
            options=select_keys(parameters, WRITE_OPTIONS.keys),
            comment=parameters.get(_COMMENT) or None,
            read_optimized=_leaves_out_logs(table),
            defaults=self._sync(name, {**self._strategy(table), **_as_it_is(table)}),
        )

    def other(self, name: TableName) -> str | None:
        """Format and place of a table in the metastore that is not a Hudi table."""
        table = self._table(name)
        if table is None or _is_of_hudi(table):
            return None
        if "VIEW" in (table.tableType or ""):
            return "a view"
        kind = (table.parameters or {}).get(_PROVIDER) or (table.sd and table.sd.inputFormat) or "no format"
        return f"{kind} at {(table.sd and table.sd.location) or '(nowhere)'}"

    def location_of(self, name: TableName, requested: str | None) -> str:
        """The wanted place, or the folder of its database. Raises SqlError for a name that another table has."""
        occupant = self.other(name)
        if occupant is not None:
            raise SqlError(
                f"There is a table {name} in {self.path}, and it is not a Hudi table",
                found=occupant,
                fix="choose another name, or drop it with the engine that created it",
            )
        if requested is not None:
            return storage_of(requested).base_path
        place = self._known_place(name.database)
        if place is None:  # a sync would create it elsewhere
            raise _no_database(name.database)
        return storage_of(f"{place}/{name.name}").base_path

    def remember(self, entry: Entry) -> None:
        """Enter a table as Hive sync does, with the columns and partitions that it has. Raises what a sync raises, and SqlError
        for a table that has no columns yet."""
        options = {**select_keys(entry.options, sync_keys.SYNC_KEYS), **self._sync(entry.name, {})}
        try:
            plan = run_sync(HoodieTable.open(entry.location).state(), options)
        except CatalogError as error:
            enters = (
                f"the table is at {entry.location}, and CREATE TABLE {entry.name} USING hudi LOCATION '…' enters it"
            )
            raise CatalogError(error.what, found=error.found, fix=f"see the metastore's log; {enters}") from error
        if self._table(entry.name) is None:
            raise SqlError(
                f"Table {entry.name} cannot be entered in {self.path}",
                found=plan.reason,
                fix="name its columns in CREATE TABLE, or write rows to it first",
            )
        self.change(entry)

    def register(self, name: TableName, location: str) -> None:
        """Make the entry of a table equal to it, as the sync after a write does. Raises what a sync raises."""
        entry = self.find(name)
        run_sync(HoodieTable.open(location).state(), self._sync(name, {}) if entry is None else entry.defaults)

    def registered(self, database: str) -> dict[str, tuple[str, dict[str, str]]]:
        """Return the places and the properties of the Hudi tables of a database, by their names, in few calls.

        Tables with two entries, snapshot and read-optimised, are left out.
        """
        names = self._names(database)
        alone = [name for name in names if not {f"{name}_ro", f"{name}_rt"} & set(names)]
        tables = (
            table
            for start in range(0, len(alone), _AT_ONCE)
            for table in self._tables(database, alone[start : start + _AT_ONCE])
        )
        return {
            table.tableName: (storage_of(table.sd.location).base_path, {**(table.parameters or {})})
            for table in tables
            if _is_of_hudi(table)
        }

    def change(self, entry: Entry) -> None:
        """Keep the options and the comment as properties of the table."""
        table = self._table(entry.name)
        if table is None:
            raise SqlError(f"Table {entry.name} has gone in the meantime", fix="create it again")
        parameters = dict(table.parameters or {})
        for name in select_keys(parameters, WRITE_OPTIONS.keys):
            del parameters[name]
        parameters |= entry.options
        parameters.pop(_COMMENT, None)
        table.parameters = parameters | ({_COMMENT: entry.comment} if entry.comment is not None else {})
        self._alter(entry.name, table)

    def rename(self, entry: Entry, name: TableName) -> None:
        """It stays what it is: its partitions, its properties, what a sync has noted, whether Hive manages it."""
        table = self._table(entry.name)
        if table is None:
            raise SqlError(f"Table {entry.name} has gone in the meantime", fix="create it again")
        table.dbName, table.tableName = name.database, name.name
        self._alter(entry.name, table)

    def drop(self, entry: Entry) -> None:
        """Forget a table. Its files stay."""
        self._drop(entry.name)

    def close(self) -> None:
        """End the connection; the next question opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _known_place(self, database: str) -> str | None:
        known = self._ask(f"for database {database}", _unless_absent(lambda client: client.get_database(database)))
        return None if known is None else str(known.locationUri).rstrip("/")

    def _place_of_new(self, database: str) -> str | None:
        return None if self._warehouse is None else f"{self._warehouse}/{database}.db"

    def _alter(self, name: TableName, table: Any) -> None:
        context = hive.EnvironmentContext(properties={})
        self._ask(
            f"to change table {name}",
            lambda client: client.alter_table_with_environment_context(name.database, name.name, table, context),
        )

    def _drop(self, name: TableName) -> None:
        drop = _unless_absent(lambda client: client.drop_table(name.database, name.name, False))
        self._ask(f"to drop table {name}", drop)  # who asks twice finds it gone

    def _sync(self, name: TableName, more: Mapping[str, str]) -> dict[str, str]:
        """The options of a sync of this one table, after each write of it."""
        return {
            sync_keys.ENABLE.name: "true",
            sync_keys.MODE.name: "HMS",
            sync_keys.METASTORE_URIS.name: self._uris,
            sync_keys.USERNAME.name: self._user,
            sync_keys.DATABASE.name: name.database,
            sync_keys.TABLE.name: name.name,
            sync_keys.STRATEGY.name: "RT",
            **more,
        }

    def _strategy(self, table: Any) -> dict[str, str]:
        """The pair of a merge-on-read table, snapshot and read-optimised, is synced as a pair."""
        base = str(table.tableName).removesuffix("_rt").removesuffix("_ro")
        entries = self._tables(table.dbName, [base, f"{base}_ro", f"{base}_rt"])
        same = {other.tableName for other in entries if other.sd is not None and other.sd.location == table.sd.location}
        if {f"{base}_ro", f"{base}_rt"} <= same:
            # Otherwise the plain name would be entered, or another table of that name would be in the way.
            plain = {sync_keys.SNAPSHOT_WITH_TABLE_NAME.name: str(base in same).lower()}
            return {sync_keys.TABLE.name: base, sync_keys.STRATEGY.name: "ALL", **plain}
        return {}

    def _table(self, name: TableName) -> Any | None:
        request = hive.GetTableRequest(dbName=name.database, tblName=name.name)
        return self._ask(f"for table {name}", _unless_absent(lambda client: client.get_table_req(request).table))

    def _names(self, database: str) -> list[str]:
        return sorted(self._ask(f"for the tables of {database}", lambda client: client.get_all_tables(database)))

    def _tables(self, database: str, names: Sequence[str]) -> list[Any]:
        request = hive.GetTablesRequest(dbName=database, tblNames=list(names))  # what Hive 2.3 to 4 have
        table = self._ask(
            f"for tables of {database}", lambda client: client.get_table_objects_by_name_req(request).tables
        )
        return list(table)

    def _ask(self, request: str, call: Callable[[Any], T]) -> T:
        """The metastore's answer. Raises CatalogError."""
        for tries_left in reversed(range(_TRIES)):
            try:
                if self._connection is None:
                    self._connection = Connection.open(self._uris, "the catalog", self._user)
                return call(self._connection.client)
            except (TTransportException, OSError) as error:
                self.close()
                if not tries_left:
                    raise self._failed(request, error) from error
            except TException as error:
                raise self._failed(request, error) from error
        raise AssertionError("the last try returns or raises")

    def _failed(self, request: str, error: Exception) -> CatalogError:
        return CatalogError(
            f"The Hive metastore at {self._uris} failed on a request {request}",
            found=words(error),
            fix="start it, or correct its address, and see its log; `hudi-services show timeline` shows whether a table "
            "that was being written has its commit",
        )


def _no_database(name: str) -> SqlError:
    return SqlError(f"There is no database {name}", fix=f"CREATE DATABASE {name}")


def _unless_absent(call: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """The call, which gives None for a name that is not there."""

    def call_or_none(client: Any) -> T | None:
        try:
            return call(client)
        except hive.NoSuchObjectException:
            return None

    return call_or_none


def _is_of_hudi(table: Any) -> bool:
    if table.sd is None or not table.sd.location:
        return False
    return table.sd.inputFormat in _FORMATS or (table.parameters or {}).get(_PROVIDER, "").lower() == "hudi"


def _as_it_is(table: Any) -> dict[str, str]:
    """Options of the sync that entered a table, as far as the entry shows them: another's would change types or refuse to."""
    columns = {field.name: field.type for field in table.sd.cols}
    return {
        sync_keys.SUPPORT_TIMESTAMP.name: str("timestamp" in columns.values()).lower(),
        sync_keys.OMIT_META_FIELDS.name: str(COMMIT_TIME not in columns).lower(),
        sync_keys.AS_DATASOURCE.name: str(_PROVIDER in (table.parameters or {})).lower(),
    }


def _leaves_out_logs(table: Any) -> bool:
    """As Spark sees it, or else Hive: the format of snapshots reads the logs of no table."""
    parameters = table.sd.serdeInfo.parameters if table.sd.serdeInfo is not None else None
    value: str | None = (parameters or {}).get(_AS_READ_OPTIMIZED)
    return value.lower() == "true" if value is not None else str(table.sd.inputFormat) != REALTIME_FORMAT


def _some(names: Sequence[str]) -> str:
    return ", ".join(sorted(names)[:10])
