"""INSERT INTO and INSERT OVERWRITE: rows of a query by position, into all columns or the named ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc
from sqlglot import exp

from hoodie.errors import SqlError, TableExistsError
from hoodie.keygen import key_generator
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.model.place import same_table
from hoodie.sql.catalog import Entry
from hoodie.sql.changes import Target, check_plain, refuse_more
from hoodie.sql.dml import Computed, append, change, write_message
from hoodie.sql.engine import Rows
from hoodie.sql.look import Look
from hoodie.sql.parse import DIALECT
from hoodie.sql.partition import named_partitions, partition_casts
from hoodie.sql.result import Result
from hoodie.sql.session import INSERT_OPERATION, OVERWRITE_MODE, Session
from hoodie.transaction.create import never_committed
from hoodie.view import TableState
from hoodie.write.execute import WriteHooks


def insert_rows(session: Session, entry: Entry, tree: exp.Insert, node: exp.Table) -> Result:
    """Run an INSERT. One that overwrites takes out, as in Spark: the partitions that PARTITION names; all rows where it names
    none, or, with `hoodie.datasource.overwrite.mode=dynamic`, the partitions of the new rows.

    Raises SqlError for rows that do not fit, and what a write raises.
    """
    refuse_more(tree, {"this", "expression", "overwrite", "by_name", "with_"})
    check_plain(node, {"this", "db", "partition"})
    query = _query(tree)

    def changed(look: Look, target: Target) -> Computed:
        into = _Into.of(tree, node, target)
        casts = partition_casts(session, target, into.given)
        fetched = without_meta(session.rows(completed(query, casts), look))
        rows = fetched.stored(target.schema, into.columns_of(fetched.schema.names, tree))
        if tree.args.get("overwrite") and into.given and rows.is_empty():
            return Computed(named_partitions(session, target, into.given, look), "delete_partition")
        replaces: tuple[str, ...] = ()
        if tree.args.get("overwrite") and into.given and not _is_dynamic(session, entry):
            replaces = _paths(named_partitions(session, target, into.given, look), target)
        return Computed(rows, _operation(session, entry, target, tree, into), replaces)

    empties = tree.args.get("overwrite") and _partition(node)
    if empties or any(same_table(read.location, entry.location) for read in session.reads(query)):
        return change(session, entry, node, changed)  # its rows are computed from the table
    return append(session, entry, node, changed)


def insert_plan(session: Session, entry: Entry, tree: exp.Insert, target: Target) -> tuple[str, exp.Query]:
    """The operation by which an INSERT writes, and the query of its rows. Raises SqlError."""
    return _operation(session, entry, target, tree, _Into.of(tree, target.node, target)), _query(tree)


def empty_partitions(session: Session, entry: Entry, clause: exp.Expression, node: exp.Table) -> Result:
    """TRUNCATE TABLE … PARTITION (…): the partitions with these values of some or all partition columns go.

    Raises SqlError for what names no partition column, or gives it no value.
    """
    lacking = next((expression for expression in clause.expressions if not isinstance(expression, exp.EQ)), None)
    if lacking is not None or not clause.expressions:
        raise SqlError(
            "TRUNCATE … PARTITION gives a column no value",
            found=clause.sql(dialect=DIALECT),
            fix="write column = value",
        )

    def changed(look: Look, target: Target) -> Computed:
        values = {
            _partition_column(expression.this, target): expression.expression for expression in clause.expressions
        }
        if len(values) < len(clause.expressions):
            raise SqlError("A column is named twice", found=clause.sql(dialect=DIALECT), fix="name each once")
        return Computed(named_partitions(session, target, values, look), "delete_partition")

    return change(session, entry, node, changed)


def without_meta(rows: Rows) -> Rows:
    """The rows of a query without the meta columns of a table, which come first if `*` has given them."""
    first, names = len(META_COLUMNS), rows.schema.names
    return rows.selected(names[first:]) if tuple(names[:first]) == META_COLUMNS else rows


def fill(session: Session, entry: Entry, rows: Rows) -> Result:
    """The rows of the query of which a table was just made."""
    table = session.open(entry)
    stored, operation = rows.stored(table.schema, rows.schema.names), _chosen(session.options, "bulk_insert")
    return write_message(
        stored.write(table, operation, session.write_options(entry), hooks=WriteHooks(on_begin=_refuse_filled))
    )


def _refuse_filled(state: TableState) -> None:
    if not never_committed(state):
        raise TableExistsError(
            f"Another process has just written to {state.storage.base_path}",
            fix="read that table, or choose another name",
        )


@dataclass(frozen=True)
class _Into:
    """The columns that take values, and those whose value PARTITION gives."""

    names: Sequence[str]  # those whose value PARTITION gives come last
    given: dict[str, exp.Expression]
    target: Target
    are_named: bool

    @classmethod
    def of(cls, tree: exp.Insert, node: exp.Table, target: Target) -> _Into:
        partition_values = {}
        for part in _partition(node):
            if isinstance(part, exp.EQ):
                partition_values[_partition_column(part.this, target)] = part.expression
            else:
                _partition_column(part, target)
        named = (
            [target.column(c.name).name for c in tree.this.expressions] if isinstance(tree.this, exp.Schema) else None
        )
        names = named if named is not None else [name for name in target.schema.names if name not in partition_values]
        both = [*names, *partition_values]
        if named is not None and tree.args.get("by_name"):
            raise SqlError("BY NAME, and a list of columns", found=", ".join(named), fix="leave out one of them")
        if len(set(both)) < len(both):
            raise SqlError("A column is named twice", found=", ".join(both), fix="name each once")
        return cls(both, partition_values, target, named is not None)

    def matched(self, names: Sequence[str]) -> Sequence[str]:
        """The columns for those of a query. As in Hudi, names decide if they are those of the table, one for one, and the
        statement does not name columns; position decides otherwise."""
        count = len(self.names) - len(self.given)
        stored_names = {name.lower(): name for name in self.names[:count]}
        columns = [name.lower() for name in names[:count]]
        if self.are_named or len(names) != len(self.names) or set(columns) != set(stored_names):
            return self.names
        return [*(stored_names[name] for name in columns), *self.names[count:]]

    def columns_of(self, names: Sequence[str], tree: exp.Insert) -> Sequence[str]:
        """The columns for those of a query, which are called so. Raises SqlError."""
        if tree.args.get("by_name"):
            return self.named(names)
        return self.names if isinstance(tree.args.get("expression"), exp.Values) else self.matched(names)

    def named(self, columns: Sequence[str]) -> list[str]:
        """For BY NAME: the columns that the rows' own columns are for. Raises SqlError."""
        before = columns[: len(columns) - len(self.given)]
        names = [*(str(self.target.column(name).name) for name in before), *self.given]
        if len(set(names)) < len(names):
            raise SqlError("A column is named twice", found=", ".join(names), fix="name each once")
        return names


def completed(query: exp.Expression, values: Mapping[str, exp.Expression]) -> exp.Expression:
    """The query, with the values that PARTITION gives as its last columns."""
    return exp.select("*", *values.values()).from_(query.copy().subquery("given")) if values else query


def _query(tree: exp.Insert) -> exp.Query:
    query = tree.args.get("expression")
    if isinstance(query, exp.Values):
        return exp.select("*").from_(exp.Values(expressions=query.expressions, alias=exp.TableAlias(this="given")))
    if not isinstance(query, exp.Query):
        raise SqlError("An INSERT has no rows", fix="give VALUES, or a query")
    if tree.args.get("with_") is not None:
        if query.args.get("with_") is not None:
            raise SqlError("An INSERT has a WITH before it and one in its query", fix="write both as one")
        query = query.copy()
        query.set("with_", tree.args["with_"].copy())
    return query


def _operation(session: Session, entry: Entry, target: Target, tree: exp.Insert, into: _Into) -> str:
    if tree.args.get("overwrite"):
        named = into.given or _is_dynamic(session, entry)
        return "insert_overwrite" if target.properties.partition_fields and named else "insert_overwrite_table"
    keyed = target.properties.record_key_fields and target.properties.ordering_fields
    return _chosen({**entry.options, **session.options}, "upsert" if keyed else "insert")


def _chosen(options: Mapping[str, str], default: str) -> str:
    """The operation that the options name. Raises SqlError for one that takes rows out of the table: an INSERT adds some."""
    operation = options.get(INSERT_OPERATION, default).strip().lower()
    if operation not in ("insert", "upsert", "bulk_insert"):
        raise SqlError(
            f"{INSERT_OPERATION} is {operation!r:.50}",
            fix="set it to insert, upsert or bulk_insert; nothing was changed",
        )
    return operation


def _is_dynamic(session: Session, entry: Entry) -> bool:
    """Return whether an overwrite takes out the partitions of its rows and no others. Raises SqlError."""
    mode = {**entry.options, **session.options}.get(OVERWRITE_MODE, "static").strip()
    if mode.lower() not in ("static", "dynamic"):
        raise SqlError(f"{OVERWRITE_MODE} is {mode!r:.50}", fix="set it to static or dynamic; nothing was changed")
    return mode.lower() == "dynamic"


def _paths(rows: Rows, target: Target) -> tuple[str, ...]:
    """The partitions that the rows name."""
    _, paths = key_generator(target.properties)
    return tuple(sorted(pc.unique(paths.of(rows.fetched())).to_pylist()))


def _partition(node: exp.Table) -> list[exp.Expression]:
    clause = node.args.get("partition")
    return list(clause.expressions) if clause is not None else []


def _partition_column(node: exp.Expression, target: Target) -> str:
    if not isinstance(node, exp.Column) or node.table:
        raise SqlError(
            f"PARTITION does not name a column: {node.sql(dialect=DIALECT)}",
            fix="write column = value, the column without its table; nothing was changed",
        )
    column = str(target.column(node.name).name)
    if column not in target.properties.partition_fields:
        raise SqlError(
            f"Column {column} is not a partition column of table {target.node.name}",
            found=f"partitioned by {', '.join(target.properties.partition_fields) or 'nothing'}",
            fix="name partition columns in PARTITION, others before VALUES or the query",
        )
    return column
