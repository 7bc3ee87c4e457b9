"""Names of databases, tables and columns. As in Spark, large and small letters are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from hoodie.errors import SqlError

_NAME = re.compile(r"[a-z0-9_]{1,200}")
OWN = "__hoodie_"
"""Names of columns and tables in queries that this library makes begin with it."""


@dataclass(frozen=True, order=True)
class TableName:
    """A table in a catalog, in small letters."""

    database: str
    name: str

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"


def checked_name(name: str, kind: str) -> str:
    """The name in small letters. Raises SqlError for one that is more than letters, digits and underscores, as it becomes the
    name of a folder."""
    lower = name.lower()
    if not _NAME.fullmatch(lower):
        raise SqlError(
            f"{name!r:.100} cannot be the name of a {kind}", fix="use letters, digits and underscores, 200 at most"
        )
    return lower


def refuse_own(names: Iterable[str], fix: str, prefix: str = OWN) -> None:
    """Raises SqlError when one of the names of a user begins as those of queries that this library makes."""
    own = next((name for name in names if name.lower().startswith(prefix)), None)
    if own is not None:
        raise SqlError(f"The name {own:.100} is one of the library's own", found=f"it begins with {prefix}", fix=fix)


def refuse_own_aliases(tree: exp.Expression) -> None:
    """Raises SqlError when a statement calls a table as the library calls those of its queries."""
    refuse_own((alias.name for alias in tree.find_all(exp.TableAlias)), "choose another alias")


def table_name(table: exp.Table, database: str) -> TableName:
    """The name that a statement says, in `database` where it does not say one. Raises SqlError for names of three parts."""
    if table.args.get("catalog") is not None:
        raise SqlError(
            f"A table is named by three parts: {table.sql(dialect='spark')}",
            fix="name the database and the table: names of catalogs that statements created are for queries",
        )
    return TableName((table.db or database).lower(), table.name.lower())


def tables_read(tree: exp.Expression) -> Iterator[exp.Table]:
    """The tables that a query names, without those that are named by a WITH of its own."""
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and not _is_of_with(table):
            yield table


def _is_of_with(table: exp.Table) -> bool:
    if table.db:
        return False
    name, below = table.name.lower(), list[exp.Expression]([table])
    while (parent := below[-1].parent) is not None:
        clause = parent.args.get("with_") or parent.args.get("with")
        if clause is not None and clause not in below:
            if any(cte.alias.lower() == name for cte in clause.expressions):
                return True
        elif isinstance(parent, exp.With):  # a common table sees those that are named before it
            before = parent.expressions[: _place(parent, below[-1])]
            if any(cte.alias.lower() == name for cte in before) or (
                parent.args.get("recursive") and any(cte.alias.lower() == name for cte in parent.expressions)
            ):
                return True
        below.append(parent)
    return False


def _place(clause: exp.With, cte: exp.Expression) -> int:
    return next(number for number, expression in enumerate(clause.expressions) if expression is cte)


def renamed(tree: exp.Expression, marks: Mapping[int, str]) -> exp.Expression:
    """A copy of the tree in which each table, by the id of its node, has the name under which the engine has it."""
    order = [marks.get(id(node)) for node in tree.walk()]
    copied = tree.copy()
    for node, name in list(zip(copied.walk(), order, strict=True)):
        if name is not None:
            alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(str(node.this.name)))
            node.set("this", exp.to_identifier(name, quoted=True))
            for part in ("db", "catalog", "version", "partition"):
                node.set(part, None)
            node.set("alias", alias)
    _unqualify(copied)
    return copied


def _unqualify(tree: exp.Expression) -> None:
    """Remove the database in front of table names of columns; the table's name is an alias then. Names after a column are
    fields."""
    aliases = {alias.name.lower() for alias in tree.find_all(exp.TableAlias)}
    aliases |= {table.name.lower() for table in tree.find_all(exp.Table)}
    for column in list(tree.find_all(exp.Column)):
        parts = column.parts
        if len(parts) > 2:  # read as database.table.column, or more
            place = next((n for n, part in enumerate(parts[:-1]) if part.name.lower() in aliases), None)
            named = parts[place:] if place is not None else [None, *parts]
            plain = exp.Column(this=named[1], table=named[0])
            column.replace(exp.Dot.build([plain, *named[2:]]) if named[2:] else plain)
