"""Tables of a server that are loaded into a Hudi table: one, or many that become one."""

from __future__ import annotations

from dataclasses import dataclass, field

from hudi_services.entry.source import StatementPolicies
from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Choices

DATABASE_COLUMN, TABLE_COLUMN = "_source_database", "_source_table"
"""The columns of a Hudi table with several sources that say where a row is from."""


@dataclass(frozen=True)
class TableSource:
    """The table `database`.`name` of the server `server` of the registry.

    `ignore_cascades` loads a table whose rows foreign keys change, which the log does not have. `choices` say how its
    values are read, `statements` what a load does at statements that change rows without logging them.
    """

    server: str
    database: str
    name: str
    ignore_cascades: bool = False
    choices: Choices = PLAIN
    statements: StatementPolicies = field(default_factory=StatementPolicies)

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    @property
    def source(self) -> str:
        """The name by which commits of the Hudi table say where its rows are from."""
        return f"{self.server}/{self.full_name}"

    @property
    def tables(self) -> tuple[TableSource, ...]:
        """The only table."""
        return (self,)


@dataclass(frozen=True)
class MergedSource:
    """Tables of one server whose rows become one Hudi table, such as the shards of a table. More may join in later runs.

    Rows have the columns `_source_database` and `_source_table`, which are the first ones of the record key. With
    `global_keys` they are not: no two of the tables have a row of the same key. The other columns are joined by name.
    """

    server: str
    tables: tuple[TableSource, ...]
    global_keys: bool = False

    @property
    def source(self) -> str:
        """The name by which commits of the Hudi table say where its rows are from."""
        return f"{self.server}/*"

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that come before those of the tables in the record key."""
        return () if self.global_keys else (DATABASE_COLUMN, TABLE_COLUMN)


Origin = TableSource | MergedSource
"""The source of a Hudi table."""
