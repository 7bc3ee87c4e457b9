"""Columns that a query names and no table of it has: the error says which ones there are, the nearest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from hoodie.display import nearest_first
from hoodie.errors import SqlError
from hoodie.sql.names import OWN

_MOST = 50  # columns that an error names


def unknown_column(tree: exp.Expression, tables: Sequence[tuple[exp.Table, Sequence[str]]]) -> SqlError | None:
    """The error of the first column that none of the `tables` has; None if all may be there. `tables` are nodes of the tree with
    their columns.

    A query that names other tables, too, may have columns of these.
    """
    if {id(node) for node, _ in tables} != {id(node) for node in tree.find_all(exp.Table)}:
        return None
    known = {name.lower() for _, names in tables for name in names} | _own_names(tree)
    for column in tree.find_all(exp.Column):
        name = column.name.lower()
        if isinstance(column.this, exp.Star) or name in known or column.table.lower() in known or name.startswith(OWN):
            continue
        return _error(column, {_shown(node): names for node, names in tables if _fits(column, node)})
    return None


def _own_names(tree: exp.Expression) -> set[str]:
    """The names that the query itself gives, to columns, in subqueries or to the arguments of lambdas."""
    names = {alias.alias for alias in tree.find_all(exp.Alias)}
    for alias in tree.find_all(exp.TableAlias):
        names.update(column.name for column in alias.columns)
    for function in tree.find_all(exp.Lambda):
        names.update(argument.name for argument in function.expressions)
    return {name.lower() for name in names}


def _fits(column: exp.Column, node: exp.Table) -> bool:
    return column.table.lower() in ("", node.alias_or_name.lower())


def _shown(node: exp.Table) -> str:
    return ".".join(part.name for part in node.parts)


def _error(column: exp.Column, tables: Mapping[str, Sequence[str]]) -> SqlError | None:
    if not tables:
        return None
    title = f"No table of the query has a column {column.name!r}"
    if len(tables) == 1:
        title = f"Table {next(iter(tables))} has no column {column.name!r}"
    columns = (f"columns of {table}: {', '.join(_nearest(column.name, names))}" for table, names in tables.items())
    return SqlError(title, found="; ".join(columns), fix="correct the name of the column")


def _nearest(missing_name: str, names: Sequence[str]) -> list[str]:
    """The names, those that resemble `missing_name` most first. Hudi's own columns are the last."""

    ordered = sorted(nearest_first(missing_name, names), key=lambda name: name.startswith("_hoodie_"))
    return [*ordered[:_MOST], *([f"and {len(ordered) - _MOST:,} more"] if len(ordered) > _MOST else [])]
