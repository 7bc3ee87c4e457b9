"""A connection of Airflow to the tables of a warehouse: for `SQLExecuteQueryOperator`, and other users of a SQL hook."""

from __future__ import annotations

from typing import Any

from airflow.providers.common.sql.hooks.sql import DbApiHook
from sqlalchemy import URL

from hoodie import dbapi
from hoodie.sqlalchemy import HoodieDialect


class HoodieHook(DbApiHook):
    """The connection's host is the warehouse, a folder or a URL, or `thrift://` of a Hive metastore; its schema the database in
    use; its extra the options of reads and writes, as SET gives them. Statements run in the task itself, on DuckDB.
    """

    conn_name_attr = "hoodie_conn_id"
    default_conn_name = "hoodie_default"
    conn_type = "hoodie"
    hook_name = "Hudi tables"
    supports_autocommit = True
    supports_executemany = True  # a thousand rows are one commit, instead of a thousand
    _placeholder = "?"

    def get_conn(self) -> dbapi.Connection:
        """A new connection. Raises ValueError for one of Airflow's without a warehouse."""
        warehouse, database, options = self._parts()
        return dbapi.connect(warehouse, database=database, options=options)

    @property
    def sqlalchemy_url(self) -> URL:
        """The URL for SQLAlchemy, by the dialect `hoodie`."""
        warehouse, database, options = self._parts()
        query = options if database is None else {**options, "database": database}
        return URL.create(HoodieDialect.name, database=warehouse, query=query)

    @staticmethod
    def _serialize_cell(cell: Any, conn: Any = None) -> Any:
        """A value of `insert_rows` goes as it is: text would go into no column of numbers."""
        return cell

    def _parts(self) -> tuple[str, str | None, dict[str, str]]:
        connection: Any = self.connection
        if not connection.host:
            raise ValueError(
                f"Connection {self.get_conn_id()} names no warehouse. Give it as host: a folder, or a URL such as s3://lake"
            )
        options = {str(name): str(value) for name, value in self.connection_extra.items()}
        return connection.host, connection.schema or None, options
