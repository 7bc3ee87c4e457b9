"""CALL: which procedure is meant, what its parameters are given, and its rows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from hoodie.errors import SqlError
from hoodie.sql.parse import DIALECT, shortened, unreadable
from hoodie.sql.procedures.catalogue import ABSENT, PROCEDURES
from hoodie.sql.procedures.procedure import FILTER, Call, Parameter, Procedure
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.sql.types import sql_type


def call_procedure(session: Session, called: exp.Expression) -> Result:
    """Run what follows the word CALL, as it was parsed.

    Raises SqlError for a procedure or parameter that is not there, or a value that does not fit, and what the procedure raises.
    """
    name, arguments = _read(called)
    procedure = _procedure(name)
    call = Call(session, procedure, _bound(procedure, arguments))
    rows: Iterable[tuple[Any, ...]] = procedure.run(call)
    condition, most = call.arguments.get(FILTER.name), call.arguments.get("limit")
    if not condition and most is not None and most >= 0:
        rows = islice(rows, most)
    result = _table(procedure.result, list(rows))
    if condition:
        result = session.engine.filtered(result, _condition(str(condition)))
        result = result if most is None or most < 0 else result.slice(0, most)
    return Result(result)


def _read(called: exp.Expression) -> tuple[str, Sequence[exp.Expression]]:
    """The name, and the arguments in their order, those with names as Kwarg."""
    node = called.expression if isinstance(called, exp.Dot) else called  # system.show_commits(…)
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower(), node.expressions
    if isinstance(node, exp.Column):  # help, without parentheses
        return str(node.name).lower(), ()
    raise SqlError(
        f"Not a procedure in CALL: {shortened(called.sql(dialect=DIALECT))}",
        fix="write CALL name(parameter => value, …)",
    )


def _procedure(name: str) -> Procedure:
    if name in PROCEDURES:
        return PROCEDURES[name]
    if name in ABSENT:
        raise SqlError(f"The procedure {name} is not there", found=ABSENT[name], fix="CALL help lists those that are")
    close = difflib.get_close_matches(name, PROCEDURES, n=1)
    raise SqlError(
        f"There is no procedure {name:.100}",
        found=f"the closest one is {close[0]}" if close else "no name like it",
        fix="CALL help lists them",
    )


def _bound(procedure: Procedure, arguments: Sequence[exp.Expression]) -> dict[str, Any]:
    """A value for each parameter: by its name, or by its place."""
    by_name = {parameter.name.lower(): parameter for parameter in procedure.parameters}
    values: dict[str, Any] = {}
    for place, argument in enumerate(arguments):
        if isinstance(argument, exp.Kwarg):
            parameter = by_name.get(argument.this.name.lower())
            if parameter is None:
                raise _unknown(procedure, argument.this.name, by_name)
        elif place < len(procedure.parameters):
            parameter = procedure.parameters[place]
        else:
            raise SqlError(
                f"{procedure.name} is given {len(arguments)} values",
                found=_signature(procedure),
                fix="leave out the rest",
            )
        if parameter.name in values:
            raise SqlError(f"The parameter {parameter.name} of {procedure.name} is given twice", fix="give it once")
        values[parameter.name] = _value(
            procedure, parameter, argument.expression if isinstance(argument, exp.Kwarg) else argument
        )
    lacking = [p.name for p in procedure.parameters if p.required and values.get(p.name) is None]
    if lacking:
        raise SqlError(
            f"{procedure.name} is called without its parameter {lacking[0]}",
            found=_signature(procedure),
            fix=f"write CALL {procedure.name}({lacking[0]} => …)",
        )
    return {p.name: p.default if values.get(p.name) is None else values[p.name] for p in procedure.parameters}


def _unknown(procedure: Procedure, name: str, parameters: Mapping[str, Parameter]) -> SqlError:
    close = difflib.get_close_matches(name.lower(), parameters, n=1)
    return SqlError(
        f"{procedure.name} has no parameter {name:.100}",
        found=_signature(procedure),
        fix=f"did you mean {parameters[close[0]].name}?" if close else "leave it out",
    )


def _value(procedure: Procedure, parameter: Parameter, argument: exp.Expression) -> Any:
    """A literal as the parameter has it; texts of numbers and of true and false are taken, too."""
    if isinstance(argument, exp.Null):
        return None
    negative = isinstance(argument, exp.Neg)
    literal = argument.this if negative else argument
    word = str(literal.this).lower() if isinstance(literal, exp.Boolean) else literal.name
    if not isinstance(literal, exp.Literal | exp.Boolean) or (negative and literal.is_string):
        word = None
    try:
        if word is None:
            raise ValueError("no literal")
        text = f"-{word}" if negative else word
        if pa.types.is_string(parameter.kind):
            return text
        return pa.scalar(text.strip()).cast(parameter.kind).as_py()
    except (ValueError, pa.ArrowException) as error:
        raise SqlError(
            f"The parameter {parameter.name} of {procedure.name} cannot be {argument.sql(dialect=DIALECT):.100}",
            fix=f"give a literal of type {sql_type(parameter.kind).lower()}",
        ) from error


def _signature(procedure: Procedure) -> str:
    expected = ", ".join(p.name + ("" if p.required else f" = {p.default!r}") for p in procedure.parameters)
    return f"its parameters are {expected}" if expected else "it has none"


def _condition(text: str) -> exp.Expression:
    try:
        return sqlglot.parse_one(text, read=DIALECT, into=exp.Condition)
    except (SqlglotError, RecursionError) as error:
        raise unreadable(text, error) from error


def _table(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    values = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pa.table([pa.array(list(column), field.type) for column, field in zip(values, schema, strict=True)], schema)
