"""UPDATE, DELETE and MERGE as queries, whose rows are then written in one commit. Trees in, trees out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from hoodie.config.properties.merge import EVENT
from hoodie.config.properties.table import TableProperties
from hoodie.errors import SqlError
from hoodie.schema import top_level
from hoodie.sql.names import refuse_own
from hoodie.sql.parse import DIALECT, shortened
from hoodie.sql.update_rows import CLAUSE, VALUE, Changes, value_name


@dataclass(frozen=True)
class Target:
    """The table that a statement changes: its node in the statement, its columns, its keys."""

    node: exp.Table
    schema: pa.Schema
    properties: TableProperties

    @property
    def alias(self) -> str:
        return str(self.node.alias or self.node.name)

    @property
    def keys(self) -> list[str]:
        """Columns of keys and partitions: what names a row."""
        return top_level((*self.properties.record_key_fields, *self.properties.partition_fields))

    @property
    def changes(self) -> Changes:
        """Those of an UPDATE."""
        fields = (*self.properties.record_key_fields, *self.properties.partition_fields)
        return Changes(self.node.name, self.schema, fields)

    def column(self, name: str) -> pa.Field:
        """The column of this name in any letters. Raises SqlError."""
        for field in self.schema:
            if field.name.lower() == name.lower():
                return field
        raise SqlError(
            f"Table {self.node.name} has no column {name}",
            found=f"columns {', '.join(self.schema.names)}",
            fix="correct the name",
        )

    def check(self) -> None:
        """Raises SqlError for a table whose rows have no key by which they could be changed, and for one that is named with more
        than an alias, such as a moment: rows of then would be written as those of now."""
        check_plain(self.node, {"this", "db", "alias"})
        if not self.properties.record_key_fields:
            raise SqlError(
                f"Rows of table {self.node.name} cannot be changed",
                found="they have generated keys, which no column holds",
                fix="create the table with primaryKey",
            )


def check_plain(node: exp.Table, allowed: set[str]) -> None:
    """Raises SqlError for a table that is named with more than the parts that are `allowed`."""
    more = [name for name, value in node.args.items() if value and name not in allowed]
    if more:
        raise SqlError(
            f"Changes apply to the current table as a whole:  {node.sql(dialect=DIALECT)}",
            found=", ".join(more),
            fix="name the table alone; choose its rows by a condition",
        )


def update_query(tree: exp.Update, target: Target) -> exp.Select:
    """The rows that change, whole, and behind them what is set, as `value_name` says. Raises SqlError for columns that are not
    there."""
    target.check()
    refuse_own(target.schema.names, "rename the column by ALTER TABLE", VALUE)
    values = _assigned(tree.expressions, target)
    columns = [_column(target, field) for field in target.schema]
    for number, field in enumerate(target.schema):
        if field.name in values:
            columns.append(values[field.name].as_(value_name(0, number)))
    where = tree.args.get("where")
    query = exp.select(*columns).from_(target.node.copy())
    if where is not None:
        query = query.where(where.this.copy())
    refuse_more(tree, {"this", "expressions", "where", "with_"})
    return with_clause_of(tree, query, target)


def lowered_query(tree: exp.Update, target: Target) -> exp.Select | None:
    """The rows whose ordering an update would lower, so that the stored ones stay; None where it cannot."""
    properties, values = target.properties, _assigned(tree.expressions, target)
    fields = [(target.column(name.partition(".")[0]), name.split(".")[1:]) for name in properties.ordering_fields]
    if properties.merge_mode != EVENT or not any(field.name in values for field, _ in fields):
        return None
    lower: list[exp.Expression] = []
    same: list[exp.Expression] = []
    for field, inside in fields:  # the first that differs decides
        stored = _column(target, field)
        new, old = _part(exp.paren(values.get(field.name, stored).copy()), inside), _part(stored, inside)
        lower.append(exp.and_(*(condition.copy() for condition in same), exp.LT(this=new, expression=old)))
        same.append(exp.EQ(this=new.copy(), expression=old.copy()))
    query = exp.select(exp.Literal.number(1)).from_(target.node.copy()).where(exp.or_(*lower)).limit(1)
    where = tree.args.get("where")
    return with_clause_of(tree, query if where is None else query.where(where.this.copy()), target)


def delete_query(tree: exp.Delete, target: Target) -> exp.Select:
    """The keys and partitions of the rows that go."""
    target.check()
    columns = [_column(target, target.column(name)) for name in target.keys]
    where = tree.args.get("where")
    query = exp.select(*columns).from_(target.node.copy())
    if where is not None:
        query = query.where(where.this.copy())
    refuse_more(tree, {"this", "where", "with_"})
    return with_clause_of(tree, query, target)


def partitions_query(target: Target, values: Mapping[str, exp.Expression]) -> exp.Select:
    """A key of each partition in which the partition columns have these values."""
    columns = [_column(target, target.column(name)) for name in target.properties.partition_fields]
    keys = [target.column(name) for name in target.keys if name not in target.properties.partition_fields]
    rules = [
        exp.NullSafeEQ(this=_column(target, target.column(name)), expression=value.copy())
        for name, value in values.items()
    ]
    some = [exp.Min(this=_column(target, key)).as_(_quoted(key.name)) for key in keys]
    return exp.select(*columns, *some).from_(target.node.copy()).where(exp.and_(*rules)).group_by(*columns)


def merge_query(tree: exp.Merge, target: Target, source: pa.Schema) -> tuple[exp.Select, Changes]:
    """The rows that a merge changes, with the number of their clause in `CLAUSE`, the columns of the row that is there (null for
    a new one), and what each clause gives, as `value_name` says. `source` are the columns of what is merged.

    The first clause whose condition is true counts for a row. Raises SqlError for columns that do not exist.
    """
    target.check()
    refuse_more(tree, {"this", "using", "on", "whens", "with_"})
    refuse_own((*target.schema.names, *source.names), "rename that column of the table or the source")
    if tree.args["using"].alias_or_name.lower() == target.alias.lower():
        raise SqlError(f"Source and target of the merge are both called {target.alias}", fix="give each an alias")
    clauses = [
        _Clause.of(when, target, tree.args["using"].alias_or_name, source) for when in tree.args["whens"].expressions
    ]
    rules = [clause.applies() for clause in clauses]
    columns = [_cases([(rule, exp.Literal.number(number)) for number, rule in enumerate(rules)]).as_(CLAUSE)]
    columns += [_column(target, field) for field in target.schema]
    for number, clause in enumerate(clauses):
        before = [(rule, exp.null()) for rule in rules[:number]]
        for place, field in enumerate(target.schema):
            if field.name in clause.values:
                value = _cases([*before, (rules[number], clause.values[field.name])])
                columns.append(value.as_(value_name(number, place)))
    kinds = {(clause.matched, clause.by_source) for clause in clauses}
    unmatched_source, unmatched_target = (False, False) in kinds, (False, True) in kinds
    join = "full" if unmatched_source and unmatched_target else "left" if unmatched_source else "right"
    if not unmatched_source and not unmatched_target:
        join = "inner"
    # A row exists on a side if a column of it that is never null has a value.
    using = tree.args["using"]
    target_side = exp.select("*", exp.true().as_(_IN_TABLE)).from_(target.node.copy()).subquery(target.alias)
    source_side = exp.select("*", exp.true().as_(_IN_SOURCE)).from_(using.copy()).subquery(using.alias_or_name)
    query = (
        exp.select(*columns)
        .from_(source_side)
        .join(target_side, on=tree.args["on"].copy(), join_type=join)
        .where(exp.or_(*(rule.copy() for rule in rules)))
    )
    numbers = range(len(clauses))
    deletes = [number for number in numbers if clauses[number].deletes]
    inserts = [number for number in numbers if not clauses[number].matched and not clauses[number].by_source]
    changes = replace(target.changes, deletes=tuple(deletes), inserts=tuple(inserts), merges=True)
    return with_clause_of(tree, query, target), changes


def source_query(tree: exp.Merge) -> exp.Select:
    """The columns of what is merged, without its rows."""
    query = exp.select("*").from_(tree.args["using"].copy()).limit(0)
    return _with_clause(tree, query)


_IN_TABLE, _IN_SOURCE = "__hoodie_in_table", "__hoodie_in_source"


@dataclass(frozen=True)
class _Clause:
    """One WHEN: which rows it is for, and what becomes of their columns."""

    matched: bool
    by_source: bool
    condition: exp.Expression | None
    deletes: bool
    values: Mapping[str, exp.Expression]  # expressions of the columns that get one

    @classmethod
    def of(cls, when: exp.When, target: Target, alias: str, source: pa.Schema) -> _Clause:
        matched, by_source = bool(when.args.get("matched")), bool(when.args.get("source"))
        then = when.args["then"]
        _refuse_other(when, then)
        values: dict[str, exp.Expression] = {}
        if isinstance(then, exp.Update):
            values = _updated(then, target, alias, source, by_source)
        elif isinstance(then, exp.Insert):
            values = _inserted(then, target, alias, source)
        elif then.name.upper() != "DELETE":
            raise SqlError(
                f"A merge cannot do this: {then.sql(dialect=DIALECT)}", fix="use UPDATE SET, DELETE or INSERT"
            )
        deletes, condition = not values, when.args.get("condition")
        if not matched:  # as in Spark, names of an unmatched row are those of its own side
            names, side = (target.schema.names, target.alias) if by_source else (source.names, alias)
            values = {name: _qualified(value, names, side) for name, value in values.items()}
            condition = None if condition is None else _qualified(condition, names, side)
        return cls(matched, by_source, condition, deletes, values)

    def applies(self) -> exp.Expression:
        """Condition under which a clause is for a row, were it the only one."""
        no_target, no_source = exp.column(_IN_TABLE).is_(exp.null()), exp.column(_IN_SOURCE).is_(exp.null())
        if self.matched:
            kind = exp.and_(exp.not_(no_target), exp.not_(no_source))
        elif self.by_source:
            kind = exp.and_(exp.not_(no_target), no_source)
        else:
            kind = exp.and_(no_target, exp.not_(no_source))
        return kind if self.condition is None else exp.and_(kind, exp.paren(self.condition.copy()))


def _refuse_other(when: exp.When, then: exp.Expression) -> None:
    """Raises SqlError for a clause that says what Spark does not know, such as `UPDATE SET … WHERE`: all rows would change."""
    refuse_more(then, {"this", "expressions", "expression"})
    for star in then.find_all(exp.Star):
        refuse_more(star, set())
    matched, by_source = bool(when.args.get("matched")), bool(when.args.get("source"))
    is_whole = isinstance(then.args.get("expressions") or [], list)  # `UPDATE *` has no SET
    if isinstance(then, exp.Insert) is (matched or by_source) or (matched and by_source) or not is_whole:
        raise SqlError(
            f"A merge cannot do this: {shortened(when.sql(dialect=DIALECT))}",
            fix="write WHEN MATCHED or WHEN NOT MATCHED BY SOURCE with UPDATE SET or DELETE, WHEN NOT MATCHED with INSERT; "
            "nothing was changed",
        )


def _qualified(tree: exp.Expression, names: Sequence[str], table: str) -> exp.Expression:
    """The expression with `table` before those of `names` that have no table, but for columns of its subqueries."""
    lower_names = {name.lower() for name in names}

    def with_table(node: exp.Expression) -> exp.Expression:
        plain = isinstance(node, exp.Column) and not node.table and node.name.lower() in lower_names
        if not plain or node.find_ancestor(exp.Query) is not None:
            return node
        return exp.column(node.this.copy(), table=exp.to_identifier(table, quoted=True))

    return tree.copy().transform(with_table)


def _updated(
    then: exp.Update, target: Target, alias: str, source: pa.Schema, by_source: bool
) -> dict[str, exp.Expression]:
    if len(then.expressions) == 1 and isinstance(then.expressions[0], exp.Star):
        if by_source:
            raise SqlError("UPDATE SET * has no source", found="WHEN NOT MATCHED BY SOURCE", fix="name the columns")
        return all_of(target, alias, source)
    return _assigned(then.expressions, target)


def inserted_values(tree: exp.Merge, target: Target, source: pa.Schema) -> list[dict[str, exp.Expression]]:
    """For each clause of a merge that inserts rows what it gives to the columns of the table. Raises SqlError."""
    then = [when.args["then"] for when in tree.args["whens"].expressions]
    alias = tree.args["using"].alias_or_name
    return [_inserted(insert, target, alias, source) for insert in then if isinstance(insert, exp.Insert)]


def _inserted(then: exp.Insert, target: Target, alias: str, source: pa.Schema) -> dict[str, exp.Expression]:
    if isinstance(then.this, exp.Star):
        return all_of(target, alias, source)
    if not isinstance(then.this, exp.Tuple):
        raise SqlError(
            "An INSERT of a merge names no columns", fix="write INSERT (column, …) VALUES (value, …), or INSERT *"
        )
    names = [column.name for column in then.this.expressions]
    expressions = then.expression.expressions if then.expression is not None else []
    if len(names) != len(expressions):
        raise SqlError(
            "An INSERT of a merge does not give each column a value",
            found=f"{len(names)} columns, {len(expressions)} values",
            fix="name as many columns as there are values",
        )
    values: dict[str, exp.Expression] = {}
    for name, value in zip(names, expressions, strict=True):
        column = target.column(name).name
        if column in values:
            raise SqlError(f"Column {column} is named twice", found=", ".join(names), fix="name it once")
        values[column] = value.copy()
    lacking = [key for key in target.keys if key not in values]
    if lacking:
        raise SqlError(f"An INSERT of a merge gives no value for the key column {lacking[0]}", fix="add it")
    return values


def all_of(target: Target, alias: str, source: pa.Schema) -> dict[str, exp.Expression]:
    """For `*`: each column of the table has its value from the source's column of that name."""
    source_names = {name.lower(): name for name in source.names}
    lacking = [field.name for field in target.schema if field.name.lower() not in source_names]
    if lacking:
        raise SqlError(
            f"The source of the merge has no column {lacking[0]}",
            found=f"columns {', '.join(source.names)}; `*` takes each column of the table from it",
            fix="name the columns that are set, or add it to the source",
        )
    return {f.name: exp.column(_quoted(source_names[f.name.lower()]), table=_quoted(alias)) for f in target.schema}


def _assigned(assignments: Sequence[exp.Expression], target: Target) -> dict[str, exp.Expression]:
    """The new value of each column. Raises SqlError for a name that is not a column, or is set twice."""
    values: dict[str, exp.Expression] = {}
    for assignment in assignments:
        if not isinstance(assignment, exp.EQ) or not isinstance(assignment.this, exp.Column):
            raise SqlError(
                f"Only whole columns can be set: {assignment.sql(dialect=DIALECT)}", fix="write column = expression"
            )
        column = assignment.this
        if column.table and column.table.lower() not in (target.alias.lower(), target.node.name.lower()):
            raise SqlError(
                f"Only columns of the table can be set: {assignment.sql(dialect=DIALECT)}",
                fix="a field of a struct cannot be set by itself; set the whole column",
            )
        field = target.column(column.name)
        if field.name in values:
            raise SqlError(f"Column {field.name} is set twice", fix="set it once")
        values[field.name] = assignment.expression.copy()
    return values


def _cases(rules: Sequence[tuple[exp.Expression, exp.Expression]]) -> exp.Case:
    case = exp.Case()
    for rule, value in rules:
        case = case.when(rule.copy(), value.copy())
    return case


def _column(target: Target, field: pa.Field) -> exp.Column:
    return exp.column(_quoted(field.name), table=_quoted(target.alias))


def _part(struct: exp.Expression, names: Sequence[str]) -> exp.Expression:
    """The field of a struct to which `names` lead; with none the value itself."""
    for name in names:
        struct = exp.Dot(this=struct, expression=_quoted(name))
    return struct


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def with_clause_of(tree: exp.Expression, query: exp.Select, target: Target) -> exp.Select:
    """The query with the WITH of its statement. Raises SqlError when that defines the name of the table itself."""
    clause = tree.args.get("with_")
    if clause is not None and any(
        expression.alias.lower() == target.node.name.lower() for expression in clause.expressions
    ):
        raise SqlError(
            f"WITH gives the table that is changed another meaning: {target.node.name}", fix="choose another name"
        )
    return _with_clause(tree, query)


def _with_clause(tree: exp.Expression, query: exp.Select) -> exp.Select:
    clause = tree.args.get("with_")
    if clause is not None:
        query.set("with_", clause.copy())
    return query


def refuse_more(tree: exp.Expression, allowed: set[str]) -> None:
    """Raises SqlError for a statement with parts that are not `allowed`: without them it would do something else."""
    more = [name for name, value in tree.args.items() if value and name not in allowed]
    if more:
        raise SqlError(
            f"A statement has more to it than is understood: {shortened(tree.sql(dialect=DIALECT))}",
            found=", ".join(name.strip("_").replace("_", " ") for name in more),
            fix="leave that out; nothing was changed",
        )
