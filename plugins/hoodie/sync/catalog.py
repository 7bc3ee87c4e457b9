"""What a sync needs of a catalog. Two implementations: the metastore itself, and HiveServer2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self, TypeVar

from hoodie.config import sync_keys as keys
from hoodie.config.key import Options
from hoodie.errors import ConfigError
from hoodie.sync.model import Action, CatalogPartition, CatalogTable

T = TypeVar("T")


class Catalog(Protocol):
    """An open connection. Every method raises CatalogError when the server is down or refuses."""

    takes_spark_properties: bool
    """Whether `spark.sql.*` table properties can be set: Spark's own Thrift Server refuses them."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def has_database(self, database: str) -> bool: ...

    def table(self, database: str, name: str) -> CatalogTable | None:
        """The table as the catalog has it, None when it has none."""

    def partitions(self, table: CatalogTable, values: Sequence[tuple[str, ...]] | None) -> list[CatalogPartition]:
        """Those of the partitions with these values that exist; None: all."""

    def check(self, action: Action) -> None:
        """Raises ConfigError or SchemaConflictError for an action that this kind of catalog cannot carry out. Asks nobody."""

    def apply(self, action: Action) -> None:
        """Carry out one action. Safe to repeat."""


def open_catalog(options: Options) -> Catalog:
    """Connect as `hoodie.datasource.hive_sync.mode` says. Raises ConfigError for an address that cannot be, and CatalogError."""
    # The clients are imported when they are wanted: Thrift's generated code takes a while to load.
    if not options.given(keys.MODE) and not options[keys.USE_JDBC]:
        raise ConfigError(
            f"Option {keys.USE_JDBC.name}=false is refused",
            found="it asks for Hive's own driver, a Java library",
            fix=f"say {keys.MODE.name}=hms, the metastore itself, or jdbc",
        )
    if options[keys.MODE] == "HMS":
        from hoodie.sync.metastore import Metastore

        return Metastore.connect(options[keys.METASTORE_URIS], options[keys.USERNAME], options[keys.BATCH])
    from hoodie.sync.hiveserver import HiveServer

    return HiveServer.connect(
        options[keys.JDBC_URL], options[keys.USERNAME], options[keys.PASSWORD], options[keys.BATCH]
    )


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """`items` in pieces of at most `size`: what a catalog's server takes in one call is limited."""
    return (items[start : start + size] for start in range(0, len(items), size))
