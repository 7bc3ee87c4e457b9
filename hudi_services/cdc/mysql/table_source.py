"""A table of a server that is loaded into a Hudi table."""

from __future__ import annotations

from dataclasses import dataclass, field

from hudi_services.cdc.mysql.binlog.decoding import PLAIN, Choices
from hudi_services.entry.source import StatementPolicies


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
