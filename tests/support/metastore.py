"""A Hive metastore in this process, which speaks Thrift as a real one does and keeps all in memory."""

from __future__ import annotations

import copy
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pymetastore.hive_metastore import ThriftHiveMetastore
from pymetastore.hive_metastore import ttypes as hive
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TServerSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

_COLUMNS = [hive.FieldSchema(name="id", type="string", comment="")]


class MemoryMetastore:
    """`broken`: names of calls that fail inside of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.databases = {"default": hive.Database(name="default", locationUri=f"file:{folder}/warehouse")}
        self.tables: dict[tuple[str, str], Any] = {}
        self.broken: set[str] = set()
        self._sockets: set[Any] = set()
        self._listening = TServerSocket("127.0.0.1", 0)
        self._listening.listen()
        self.uri = f"thrift://127.0.0.1:{self._listening.handle.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def add(self, database, name, location=None, kind="EXTERNAL_TABLE", **storage):
        """A table that another program made."""
        serde = hive.SerDeInfo(serializationLib="serde", parameters={})
        told = hive.StorageDescriptor(cols=_COLUMNS, location=location, serdeInfo=serde, parameters={}, **storage)
        table = hive.Table(
            dbName=database, tableName=name, sd=told, parameters={}, partitionKeys=[], tableType=kind, owner="them"
        )
        self.tables[database, name] = table
        return table

    def hang_up(self) -> None:
        """All connections end, as those of a server that is started again."""
        for each in list(self._sockets):
            with suppress(OSError, AttributeError):  # it has just ended
                each.handle.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        self._listening.handle.shutdown(socket.SHUT_RDWR)  # ends the waiting of accept
        self._listening.close()
        self.hang_up()
        self._thread.join(5)

    def has_connections(self, count):
        """Wait up to ten seconds for `count` connections: the server learns of a closed one a little later."""
        deadline = time.monotonic() + 10
        while len(self._sockets) != count and time.monotonic() < deadline:
            time.sleep(0.01)
        return len(self._sockets) == count

    def _serve(self):
        while True:
            try:
                client = self._listening.accept()
            except (OSError, AttributeError, TypeError):
                return
            if client is None:
                return
            self._sockets.add(client)
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client):
        processor = ThriftHiveMetastore.Processor(_Handler(self))
        protocol = TBinaryProtocol(TBufferedTransport(client))
        try:
            while True:
                processor.process(protocol, protocol)
        except (TTransportException, OSError):
            client.close()
        finally:
            self._sockets.discard(client)


class _Handler:
    def __init__(self, store):
        self._store = store

    def set_ugi(self, user, groups):
        return groups

    def get_all_databases(self):
        self._call("get_all_databases")
        return list(self._store.databases)

    def get_database(self, name):
        self._call("get_database")
        return self._found(self._store.databases, name)

    def create_database(self, database):
        self._call("create_database")
        if database.name in self._store.databases:
            raise hive.AlreadyExistsException(message=database.name)
        database.locationUri = database.locationUri or f"file:{self._store._folder}/warehouse/{database.name}.db"
        self._store.databases[database.name] = database

    def drop_database(self, name, deleteData, cascade):  # noqa: N803 - names of Thrift
        self._call("drop_database")
        assert not deleteData
        if any(database == name for database, _ in self._store.tables):
            raise hive.InvalidOperationException(message=f"Database {name} is not empty")
        self._found(self._store.databases, name)
        del self._store.databases[name]

    def get_all_tables(self, db_name):
        self._call("get_all_tables")
        return [name for database, name in self._store.tables if database == db_name]

    def get_table_objects_by_name_req(self, req):
        self._call("get_table_objects_by_name_req")
        names = [(req.dbName, name) for name in req.tblNames]
        return hive.GetTablesResult(tables=[self._store.tables[name] for name in names if name in self._store.tables])

    def get_table_req(self, req):
        self._call("get_table")
        return hive.GetTableResult(table=self._found(self._store.tables, (req.dbName, req.tblName)))

    def create_table(self, tbl):
        self._call("create_table")
        if (tbl.dbName, tbl.tableName) in self._store.tables:
            raise hive.AlreadyExistsException(message=tbl.tableName)
        tbl.sd.location = tbl.sd.location if ":" in tbl.sd.location else f"file:{tbl.sd.location}"
        self._store.tables[tbl.dbName, tbl.tableName] = tbl

    def alter_table_with_environment_context(self, dbname, tbl_name, new_tbl, environment_context):
        self._call("alter_table")
        self._found(self._store.tables, (dbname, tbl_name))
        del self._store.tables[dbname, tbl_name]
        self._store.tables[new_tbl.dbName, new_tbl.tableName] = copy.deepcopy(new_tbl)

    def drop_table(self, dbname, name, deleteData):  # noqa: N803
        self._call("drop_table")
        assert not deleteData
        self._found(self._store.tables, (dbname, name))
        del self._store.tables[dbname, name]

    def get_partition_names(self, db_name, tbl_name, max_parts):
        self._call("get_partition_names")
        return []

    def get_partitions_by_names(self, db_name, tbl_name, names):
        self._call("get_partitions_by_names")
        return []

    def _call(self, name):
        if name in self._store.broken:
            raise hive.MetaException(message=f"{name}: the database is away")

    @staticmethod
    def _found(there, name):
        if name not in there:
            raise hive.NoSuchObjectException(message=str(name))
        return there[name]
