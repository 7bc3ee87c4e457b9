"""Rules in the registry: which tables of a database server go to which Hudi tables, by regular expressions."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hoodie.config.keys.table import RECORD_KEY_FIELDS, VERSION
from hudi_services.entry.feed.model import Texts
from hudi_services.entry.place import Place
from hudi_services.entry.source import ReadingOptions
from hudi_services.entry.table import Options

DATABASE, TABLE = "{database}", "{table}"
"""Parts of a base path that become the names of the source."""


def _expression(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r:.200} is no regular expression: {error}") from None
    return value


def _expressions(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_expression, values))


RuleService = Literal["compact", "cluster", "clean", "archive"]
Expression = Annotated[str, Field(min_length=1), AfterValidator(_expression)]
Expressions = Annotated[Texts, AfterValidator(_expressions)]


class DatabaseRule(ReadingOptions):
    """Tables of the server `server`, and the Hudi tables of their rows.

    `database`, `tables` and `excluding` are regular expressions over whole names. A rule takes the tables whose database matches,
    whose name matches one of `tables` and none of `excluding`. `sources` is one more expression, over DATABASE.TABLE. In
    `base_path`, `{database}` and `{table}` become the names of the source, `{1}` the first group of `sources`. With `merge`
    several sources may go into one Hudi table. With `global_keys`, too, no two of them have a row of the same key. `type`,
    `version` and `hoodie` are those of new tables and of their writes. The DAG of the server runs `services` of its tables, with
    options of `hoodie`.
    """

    server: str
    database: Expression
    tables: Annotated[Expressions, Field(min_length=1)] = (".*",)
    excluding: Expressions = ()
    sources: Expression | None = None
    base_path: Place
    merge: bool = False
    global_keys: bool = False
    type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE"
    version: Literal[6, 9] = 9
    hoodie: Options = Field(default={})
    services: tuple[RuleService, ...] = ("compact", "clean", "archive")

    @property
    def shown(self) -> str:
        """The tables and their place in a few words."""
        return f"{self.database}.{'|'.join(self.tables)} into {self.base_path}"

    @property
    def names_key(self) -> bool:
        """True if the rule itself names the columns of the record key."""
        return RECORD_KEY_FIELDS.name in self.hoodie

    @property
    def write_options(self) -> dict[str, str]:
        """Options of new tables and of writes."""
        return {"hoodie.table.type": self.type, **self.hoodie, VERSION.name: str(self.version)}

    def takes(self, database: str, table: str) -> bool:
        """Return True for a table of the rule."""
        return self.names(database, table) and (self.sources is None or _is(f"{database}.{table}", self.sources))

    def names(self, database: str, table: str) -> bool:
        """Return True for a table that the rule takes unless its `sources` leave it out."""
        return (
            self.takes_database(database)
            and any(_is(table, pattern) for pattern in self.tables)
            and not any(_is(table, pattern) for pattern in self.excluding)
        )

    def takes_database(self, database: str) -> bool:
        """Return True for a database in which the rule may take tables."""
        return _is(database, self.database)

    def path_of(self, database: str, table: str) -> str:
        """Return the base path of the Hudi table that has the rows of a table."""
        match = re.fullmatch(self.sources, f"{database}.{table}", re.DOTALL) if self.sources is not None else None
        groups = match.groups(default="") if match is not None else ()
        names = {DATABASE: database, TABLE: table, **{f"{{{at}}}": group for at, group in enumerate(groups, 1)}}
        return re.sub("|".join(map(re.escape, names)), lambda match: names[match[0]], self.base_path)


def _is(name: str, pattern: str) -> bool:
    """True if the whole name matches. `.` is any character, also a line break: `.*` are all tables."""
    return re.fullmatch(pattern, name, re.DOTALL) is not None
