"""HiveServer2, Hive's or Spark's Thrift Server (`hoodie.datasource.hive_sync.mode=jdbc`), without Java."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from impala import dbapi
from impala.error import Error
from thrift.Thrift import TException

from hoodie.errors import CatalogError, ConfigError
from hoodie.sync import ddl
from hoodie.sync.model import Action, CatalogPartition, CatalogTable, CreateTable

_URL = re.compile(
    r"jdbc:hive2://(?P<host>[^:/;,?#]+)(:(?P<port>\d+))?(/(?P<database>[^;?#]*))?(;(?P<settings>[^?#]*))?"
)
_DEFAULT_PORT = 10000
_TIMEOUT = 120  # seconds for one answer
_SETTINGS = ("auth", "ssl", "transportmode", "httppath", "user", "password")
_FAILURES = (Error, TException, OSError, EOFError)


@dataclass(frozen=True)
class Address:
    """Parts of a `jdbc:hive2://` URL."""

    host: str
    port: int
    settings: dict[str, str]


def parse_url(url: str) -> Address:
    """Raises ConfigError for an invalid URL, and for a setting that would have no effect here, by name."""
    match = _URL.fullmatch(url.strip())
    if match is None:
        raise ConfigError(
            "hoodie.datasource.hive_sync.jdbcurl is not an address of one HiveServer2",
            found=repr(re.sub(r"(?i)(password=)[^;]*", r"\1…", url)),
            fix="write jdbc:hive2://host:port, then ;auth=noSasl, ;ssl=true or ;transportMode=http;httpPath=… as needed",
        )
    settings = {}
    for pair in filter(None, (match["settings"] or "").split(";")):
        key, _, value = pair.partition("=")
        if key.lower() not in _SETTINGS:
            raise ConfigError(
                f"The setting {key!r} of hoodie.datasource.hive_sync.jdbcurl is not supported",
                fix=f"supported are {', '.join(_SETTINGS)}",
            )
        settings[key.lower()] = value
    return Address(match["host"], int(match["port"] or _DEFAULT_PORT), settings)


class HiveServer:
    """A session at HiveServer2."""

    def __init__(self, connection: Any, address: Address, batch: int) -> None:
        """Use `connect`."""
        self._connection = connection
        self._cursor: Any = None
        self._address = address
        self._batch = batch
        self._spark = False
        self.takes_spark_properties = True

    @classmethod
    def connect(cls, url: str, user: str, password: str, batch: int) -> Self:
        """Open a session. Raises ConfigError for a URL that cannot be used, CatalogError when the server does not answer."""
        address = parse_url(url)
        settings = address.settings
        http = settings.get("transportmode", "binary").lower() == "http"
        plain = settings.get("auth", "").lower() == "nosasl"
        try:
            connection = dbapi.connect(
                host=address.host,
                port=address.port,
                timeout=_TIMEOUT,
                use_ssl=settings.get("ssl", "false").lower() == "true",
                auth_mechanism="NOSASL" if plain else "PLAIN",
                user=settings.get("user", user),
                password=settings.get("password", password),
                use_http_transport=http,
                http_path=settings.get("httppath", "cliservice") if http else "",
            )
            server = cls(connection, address, batch)
            server._cursor = connection.cursor()
            # Hive answers in one column, Spark in two: key and value.
            server._spark = len(server._rows("SET hive.metastore.warehouse.dir", columns=True)) > 1
            server.takes_spark_properties = not server._spark
        except _FAILURES as error:
            raise CatalogError(
                f"HiveServer2 does not answer at {address.host}:{address.port}",
                found=_words(error),
                fix="start it, or correct hoodie.datasource.hive_sync.jdbcurl, .username and .password; the table is as it "
                "was, and the next sync catches up",
            ) from error
        return server

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The cursor is the session: left open, the server keeps it until it times out.
        for part in (self._cursor, self._connection):
            with suppress(*_FAILURES):  # no more messages are expected
                part.close()

    def has_database(self, database: str) -> bool:
        with self._asking(f"for database {database}"):
            return database in [str(row[0]).lower() for row in self._rows("SHOW DATABASES")]

    def table(self, database: str, name: str) -> CatalogTable | None:
        """The table as the server describes it."""
        with self._asking(f"for table {database}.{name}"):
            if not self.has_database(database):
                return None
            rows = self._rows(f"SHOW TABLES IN {ddl.identifier(database)}")
            # Spark: database, name, whether it is temporary; Hive: the name.
            if name not in [str(row[1] if self._spark else row[0]).lower() for row in rows]:
                return None
            full = f"{ddl.identifier(database)}.{ddl.identifier(name)}"
            properties = {str(row[0]): str(row[1]) for row in self._rows(f"SHOW TBLPROPERTIES {full}") if len(row) > 1}
            return ddl.parse_table(database, name, self._rows(f"DESCRIBE FORMATTED {full}"), properties)

    def partitions(self, table: CatalogTable, values: Sequence[tuple[str, ...]] | None) -> list[CatalogPartition]:
        """Their names in one question, the folder of each in a question of its own."""
        with self._asking(f"for partitions of {table.full_name}"):
            rows = self._rows(f"SHOW PARTITIONS {ddl.name(table)}")
            all_partitions = [ddl.parse_partition_name(str(row[0])) for row in rows]
            requested = set(all_partitions if values is None else values)
            return [
                CatalogPartition(row, ddl.parse_location(self._rows(ddl.describe_partition(table, row))))
                for row in all_partitions
                if row in requested
            ]

    def check(self, action: Action) -> None:
        """Raises what `ddl.statements` raises for an action that has no words in the server's dialect."""
        for _ in ddl.statements(action, self._batch, spark=self._spark):
            pass

    def apply(self, action: Action) -> None:
        """Run the statements of one action."""
        with self._asking(f"to {action}"):
            for statement in ddl.statements(action, self._batch, spark=self._spark):
                try:
                    self._cursor.execute(statement)
                except Error as error:
                    if isinstance(action, CreateTable) and "org.apache.hudi" in str(error):
                        raise CatalogError(
                            f"The server at {self._address.host}:{self._address.port} does not know Hudi's classes",
                            found=_words(error),
                            fix="put Hudi's bundle onto its class path (spark.driver.extraClassPath for Spark's Thrift "
                            "Server), or sync with hoodie.datasource.hive_sync.mode=hms",
                        ) from error
                    raise

    def _rows(self, statement: str, *, columns: bool = False) -> list[Any]:
        self._cursor.execute(statement)
        return list(self._cursor.description) if columns else list(self._cursor.fetchall())

    @contextmanager
    def _asking(self, request: str) -> Iterator[None]:
        try:
            yield
        except _FAILURES as error:
            raise CatalogError(
                f"HiveServer2 at {self._address.host}:{self._address.port} failed on a request {request}",
                found=_words(error),
                fix="see the server's log; the table is unchanged, and the next sync continues",
            ) from error


def _words(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:500] if lines else type(error).__name__
