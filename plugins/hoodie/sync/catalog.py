"""Catalogs, as a sync needs them. Three implementations: the metastore itself, HiveServer2, and AWS Glue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self, TypeVar

from hoodie.sync.model import Action, CatalogPartition, CatalogTable

T = TypeVar("T")


class Catalog(Protocol):
    """An open connection. Every method raises CatalogError when the server is down or refuses."""

    takes_spark_properties: bool
    """True if `spark.sql.*` table properties can be set: Spark's own Thrift Server refuses them."""

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
        """Raises ConfigError or SchemaConflictError for an action that this kind of catalog cannot carry out. Makes no I/O."""

    def apply(self, action: Action) -> None:
        """Carry out one action. Safe to repeat."""


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """`items` in pieces of at most `size`: what a catalog's server takes in one call is limited."""
    return (items[start : start + size] for start in range(0, len(items), size))
