"""Conditions as text: `day >= '2026-01-01' and city in ('x')`.

The grammar is a small part of SQL: `=`, `<>`, `<`, `<=`, `>`, `>=`, `between`, `in`, `like`, `is [not] null|true|false`, `and`,
`or`, `not`, parentheses; names, dotted for fields of structs, in double quotes if they are not names in SQL; literals, also `date
'…'`, `timestamp '…'`, `time '…'`, `decimal '…'`. Other parts of SQL are refused by name. As in SQL, comparisons with null are
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from hoodie.errors import ArgumentError
from hoodie.read.filters.comparison import (
    FLIPPED,
    NEGATED,
    NEVER,
    Column,
    Literal,
    columns_compared,
    compared,
    is_in,
    number_of,
)
from hoodie.read.filters.ranges import Conditions

_OPERATORS = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_TYPED = {"DATE": "date", "TIME": "time", "DECIMAL": "number"} | dict.fromkeys(
    ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "DATETIME"), "timestamp"
)
_HELP = "use comparisons, in, between, like, is null, and, or, not; for more an expression of pyarrow.compute"
_LAST = "\U0010ffff"


def parse_filter(text: str, columns: pa.Schema) -> pc.Expression:
    """The condition as an expression, which is true exactly where SQL's condition is true.

    Raises ArgumentError for text that is not such a condition, for a column that is not among `columns`, for a literal that is
    not of its column's type, and for parts of SQL that are not supported here.
    """
    try:
        return _Conditions(columns).truth(parse_condition(text), negated=False)
    except SqlglotError as error:
        raise ArgumentError(f"A filter cannot be read: {text!r:.200}", found=_place(error), fix=_HELP) from error
    except RecursionError as error:
        raise ArgumentError(
            f"A filter has too many parts inside each other: {text!r:.80}…", fix="use `in (…)`, or fewer parentheses"
        ) from error


def parse_condition(text: str) -> exp.Expression:
    """The tree of a condition, without a look at columns. Raises SqlglotError for other text."""
    if not text.strip():
        raise SqlglotError("nothing")
    try:
        return sqlglot.parse_one(text, read=Conditions, into=exp.Condition)
    except (
        AttributeError,
        TypeError,
        ValueError,
        LookupError,
    ) as error:  # the parser stumbles over what it does not expect
        raise SqlglotError(f"no condition ({error})") from error


def _place(error: SqlglotError) -> str:
    for problem in getattr(error, "errors", ()):
        word = f" at {problem['highlight']!r}" if problem.get("highlight") else ""
        return f"{problem['description'].partition(' for <class')[0]}{word}, character {problem['col']}"
    return re.sub(r"\s+", " ", str(error))


@dataclass(frozen=True)
class _Conditions:
    columns: pa.Schema

    def truth(self, node: Any, *, negated: bool) -> pc.Expression:
        """An expression that is true where the condition is, or, `negated`, where it is false. For rows in which the condition is
        unknown neither is true.

        Negations go down to the comparisons, so false and unknown need not be distinguished.
        """
        while isinstance(node, exp.Paren | exp.Not):
            _only(node, "this")
            negated ^= isinstance(node, exp.Not)
            node = node.this
        if isinstance(node, exp.And | exp.Or):
            parts = [self.truth(part, negated=negated) for part in _flat(node, type(node))]
            return _joined(parts, conjunction=isinstance(node, exp.And) is not negated)
        if isinstance(node, exp.Boolean):
            return pc.scalar(bool(node.this) is not negated)
        if isinstance(node, exp.Null):
            return NEVER
        if isinstance(node, exp.Column | exp.Dot):
            return self._flag(self._column(node), negated=negated)
        if type(node) in _OPERATORS:
            _only(node, "this", "expression")
            operator = _OPERATORS[type(node)]
            return self._comparison(node.this, NEGATED[operator] if negated else operator, node.expression)
        if isinstance(node, exp.Between):
            _only(node, "this", "low", "high")
            low = self._comparison(node.this, "<" if negated else ">=", node.args["low"])
            high = self._comparison(node.this, ">" if negated else "<=", node.args["high"])
            return low | high if negated else low & high
        if isinstance(node, exp.In):
            _only(node, "this", "expressions")
            if not node.expressions:
                raise ArgumentError(
                    f"A filter asks for one of no values: {node.sql()}", fix="name values between the parentheses"
                )
            return is_in(
                self._column(node.this), [_literal(expression) for expression in node.expressions], negated=negated
            )
        if isinstance(node, exp.Is):
            return self._is(node, negated=negated)
        if isinstance(node, exp.Like | exp.Escape):
            return self._like(node, negated=negated)
        raise _refused(node)

    def _flag(self, column: Column, *, negated: bool) -> pc.Expression:
        if not pa.types.is_boolean(column.kind):
            raise ArgumentError(
                f"A filter takes {column.name!r} for a condition",
                found=f"{column.name} is {column.kind}",
                fix="compare it",
            )
        return ~column.value if negated else column.value

    def _comparison(self, left: Any, operator: str, right: Any) -> pc.Expression:
        left, right = _bare(left), _bare(right)
        if not isinstance(left, exp.Column | exp.Dot):
            left, operator, right = right, FLIPPED[operator], left
        if not isinstance(left, exp.Column | exp.Dot):
            _literal(left), _literal(right)
            raise ArgumentError(f"A filter compares no column: {right.sql()}, {left.sql()}", fix="name a column")
        column = self._column(left)
        if isinstance(right, exp.Column | exp.Dot):
            return columns_compared(column, operator, self._column(right))
        return compared(column, operator, _literal(right))

    def _is(self, node: exp.Is, *, negated: bool) -> pc.Expression:
        _only(node, "this", "expression")
        column, operand = self._column(node.this), _bare(node.expression)
        if isinstance(operand, exp.Null):
            return column.is_valid if negated else column.value.is_null()
        if not isinstance(operand, exp.Boolean):
            raise _refused(node)
        truth = self._flag(column, negated=bool(operand.this) is negated)
        return column.value.is_null() | truth if negated else truth

    def _like(self, node: Any, *, negated: bool) -> pc.Expression:
        _only(node, *(("this", "expression") if isinstance(node, exp.Escape) else ("this", "expression", "negate")))
        escape = ""
        if isinstance(node, exp.Escape):
            escape = str(_literal(node.expression).value)
            node = node.this
            if not isinstance(node, exp.Like) or len(escape) != 1:
                raise _refused(node)
            _only(node, "this", "expression", "negate")
        negated ^= bool(node.args.get("negate"))
        column, pattern = self._column(node.this), _literal(node.expression)
        if pattern.kind == "null":
            return NEVER
        if not pa.types.is_string(column.kind) or pattern.kind != "text":
            raise ArgumentError(
                f"A filter asks whether {column.name!r} is like {pattern.sql}",
                found=f"{column.name} is {column.kind}",
                fix="compare text with a pattern in single quotes, such as 'x%'",
            )
        arrow, prefix = _pattern(str(pattern.value), escape)
        matches = pc.match_like(column.value, arrow)
        if negated:
            return ~matches
        # The prefix of the text rules partitions and row groups out.
        for operator, bound in ((">=", prefix), ("<", _after(prefix))):
            if bound:
                matches = compared(column, operator, Literal("text", bound, bound)) & matches
        return matches

    def _column(self, node: Any) -> Column:
        parts = _parts(_bare(node))
        fields = self.columns
        names: list[str] = []
        kind = pa.null()
        for number, part in enumerate(parts):
            name = _named(fields, part)
            if name is None:
                raise self._unknown(parts, number, fields)
            names.append(name)
            kind = fields.field(name).type
            fields = pa.schema(kind.fields if pa.types.is_struct(kind) else [])
        return Column(".".join(names), kind, pc.field(*names))

    def _unknown(self, parts: Sequence[Any], number: int, fields: pa.Schema) -> ArgumentError:
        path = ".".join(part.name for part in parts[: number + 1])
        inside = f"field {path!r}" if number else f"column {path!r}"
        text = "; text has single quotes" if parts[number].args.get("quoted") and not number else ""
        return ArgumentError(
            f"A filter names the {inside}, which the table does not have",
            found=f"{'fields' if number else 'columns'} {', '.join(fields.names) or '(none)'}",
            fix=f"name one of them{text}",
        )


def _flat(node: Any, kind: type[Any]) -> list[Any]:
    """The parts of a chain of `and` or of `or`, however long."""
    parts: list[Any] = []
    pending = [node]
    while pending:
        part: Any = pending.pop()
        if type(part) is kind:
            _only(part, "this", "expression")
            pending += [part.expression, part.this]
        else:
            parts.append(part)
    return parts


def _joined(parts: list[pc.Expression], *, conjunction: bool) -> pc.Expression:
    """As a balanced tree: Arrow goes down it by recursion."""
    while len(parts) > 1:
        pairs = [parts[at : at + 2] for at in range(0, len(parts), 2)]
        parts = [
            pair[0] if len(pair) == 1 else (pair[0] & pair[1] if conjunction else pair[0] | pair[1]) for pair in pairs
        ]
    return parts[0]


def _bare(node: Any) -> Any:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _parts(node: Any) -> list[Any]:
    """The identifiers of a dotted name."""
    if isinstance(node, exp.Column):
        _only(node, "this", "table", "db", "catalog")
        parts = [node.args.get(key) for key in ("catalog", "db", "table", "this")]
        result = [part for part in parts if part is not None]
    elif isinstance(node, exp.Dot):
        result = [*_parts(node.this), node.expression]
    else:
        raise _refused(node)
    for part in result:
        if not isinstance(part, exp.Identifier):
            raise _refused(part)
    return result


def _named(fields: pa.Schema, part: Any) -> str | None:
    """The column that an identifier names; without quotes in any case, as in SQL, which no two columns of a table differ in."""
    if part.name in fields.names:
        return str(part.name)
    lowered = {name.lower(): name for name in fields.names}
    return None if part.args.get("quoted") else lowered.get(part.name.lower())


def _literal(node: Any) -> Literal:
    node = _bare(node)
    if isinstance(node, exp.Null):
        return Literal("null", None, "null")
    if isinstance(node, exp.Boolean):
        return Literal("boolean", bool(node.this), node.sql())
    sql, sign = node.sql(), 1
    while isinstance(node, exp.Neg | exp.Paren):
        sign = -sign if isinstance(node, exp.Neg) else sign
        node = node.this
    if isinstance(node, exp.Literal):
        number = None if node.is_string else number_of(node.name)
        if number is not None:
            return Literal("number", number.copy_negate() if sign < 0 else number, sql)
        if node.is_string and sql == node.sql():
            return Literal("text", node.name, sql)
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string and sql == node.sql():
        kind = None if node.to.expressions else _TYPED.get(node.to.this.name)
        number = number_of(node.name) if kind == "number" else None
        if kind is not None and (kind != "number" or number is not None):
            return Literal(kind, node.name if number is None else number, sql)
    raise _refused(node)


def _pattern(text: str, escape: str) -> tuple[str, str]:
    """The pattern with Arrow's escape, a backslash, and what it begins with.

    Raises ArgumentError for an escape of nothing, and for a backslash without ESCAPE: it escapes in Spark, and not in other SQL.
    """
    if not escape and "\\" in text:
        raise ArgumentError(
            f"A pattern of a filter has a backslash and no escape: {text!r}",
            fix=r"say what escapes: like 'a\_%' escape '\', or, for a backslash as it is, escape '!'",
        )
    parts: list[str] = []
    prefix, fixed = "", True
    characters = iter(text)
    for char in characters:
        literal = char not in "%_"
        if char == escape:
            char = next(characters, "")
            if char not in ("%", "_", escape):
                raise ArgumentError(f"A pattern of a filter escapes nothing: {text!r}", fix=f"write {escape}{escape}")
            literal = True
        fixed = fixed and literal
        prefix += char if fixed else ""
        parts.append(f"\\{char}" if literal and char in "%_\\" else char)
    return "".join(parts), prefix


def _after(prefix: str) -> str:
    """The least text that is greater than all that begin with `prefix`; empty when there is none."""
    incrementable = prefix.rstrip(_LAST)
    if not incrementable:
        return ""
    following = ord(incrementable[-1]) + 1
    return incrementable[:-1] + chr(0xE000 if 0xD800 <= following <= 0xDFFF else following)


def _only(node: Any, *supported: str) -> None:
    """Raises ArgumentError when a part of SQL is said in a way that is not known here: nothing of it is passed over."""
    if any(value and key not in supported for key, value in node.args.items()):
        raise _refused(node)


def _refused(node: Any) -> ArgumentError:
    unsupported = (
        f"the function {node.sql_name().lower()}()"
        if isinstance(node, exp.Func) and not isinstance(node, exp.Cast)
        else None
    )
    if isinstance(node, exp.Anonymous):
        unsupported = f"the function {node.name}()"
    return ArgumentError(f"A filter has {unsupported or 'a part'} that is not supported: {node.sql():.200}", fix=_HELP)
