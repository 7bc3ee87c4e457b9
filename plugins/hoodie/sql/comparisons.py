"""Comparisons that DuckDB makes in another way than Spark: of whole numbers or bytes with texts, of structs without names."""

from __future__ import annotations

import re
from functools import reduce
from itertools import starmap

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.date_text import TIMES, read_time
from hoodie.sql.untyped_values import is_untyped

_COMPARED = "__HOODIE_COMPARED"  # in large letters, as sqlglot writes functions
_GROUPED = f"{_COMPARED}_OF_ROWS"
_REFUSED = "error('a whole number is compared with a text of another one: write it without quotes')"
_NO_BYTES = "error('bytes are compared with a text: cast them to STRING in a query around this one')"
_EQUAL = "__HOODIE_EQUAL"
_EQUAL_OF_ROWS = f"{_EQUAL}_OF_ROWS"
_EQUAL_OF_LIST, _EQUAL_OF_FLOATS = "__HOODIE_EQUAL_OF_LIST", "__HOODIE_EQUAL_OF_FLOATS"
_NO_WHOLE = "NOT regexp_full_match(trim(CAST({0} AS VARCHAR)), '[+-]?[0-9]+')"
_AS_WHOLE = f"CASE WHEN {_NO_WHOLE} THEN {_REFUSED} ELSE CAST({{0}} AS HUGEINT) END"


def _equal(operator: str, suffix: str) -> tuple[str, str]:
    """Macros for `x = y` or `x IS NOT DISTINCT FROM y`: a text beside a whole number has to be one, beside a decimal it is a
    float, and beside bytes it is those of its letters, as in Spark. Alone DuckDB rounds it to the type of the other side, and
    takes `\\x41` for the byte of A."""
    x, y = _AS_WHOLE.format("x"), _AS_WHOLE.format("y")
    typed = (
        *(f"(x VARCHAR, y {kind}) AS ({x}) {operator} y" for kind in ("BIGINT", "HUGEINT")),
        *(f"(x {kind}, y VARCHAR) AS x {operator} ({y})" for kind in ("BIGINT", "HUGEINT")),
        *(f"({sides}) AS x {operator} y" for sides in ("x VARCHAR, y FLOAT", "x FLOAT, y VARCHAR")),
        *(f"(x VARCHAR, y {kind}) AS {read_time('x')} {operator} y" for kind in TIMES),
        *(f"(x {kind}, y VARCHAR) AS x {operator} {read_time('y')}" for kind in TIMES),
        f"(x VARCHAR, y BLOB) AS encode(x) {operator} y",
        f"(x BLOB, y VARCHAR) AS x {operator} encode(y)",
        f"(x VARCHAR, y DOUBLE) AS CAST(x AS DOUBLE) {operator} y",
        f"(x DOUBLE, y VARCHAR) AS x {operator} CAST(y AS DOUBLE)",
        f"(x, y) AS x {operator} y",
    )
    mixed = " OR ".join(
        f"(typeof({one}) = 'VARCHAR' AND regexp_matches(typeof({other}), 'INT') AND {_NO_WHOLE.format(one)})"
        for one, other in (("x", "y"), ("y", "x"))
    )
    return (
        f"CREATE MACRO {_EQUAL}{suffix} {', '.join(typed)}".replace(f"{suffix} (", f"{suffix}(", 1),
        f"CREATE MACRO {_EQUAL_OF_ROWS}{suffix}(x, y) AS CASE WHEN {mixed} THEN {_REFUSED} "
        f"WHEN list_sort([typeof(x), typeof(y)]) = ['BLOB', 'VARCHAR'] THEN {_NO_BYTES} ELSE x {operator} y END",
    )


MACROS = (
    f"CREATE MACRO {_EQUAL_OF_LIST}(x VARCHAR) AS {_AS_WHOLE.format('x')}, (x) AS x",
    f"CREATE MACRO {_EQUAL_OF_LIST}_OF_ROWS(x) AS "
    f"CASE WHEN typeof(x) = 'VARCHAR' AND {_NO_WHOLE.format('x')} THEN {_REFUSED} ELSE x END",
    f"CREATE MACRO {_EQUAL_OF_FLOATS}(x VARCHAR) AS CAST(x AS DOUBLE), (x) AS x",
    f"CREATE MACRO {_EQUAL_OF_FLOATS}_OF_ROWS(x) AS x",
    *_equal("=", ""),
    *_equal("IS NOT DISTINCT FROM", "_OR_NULL"),
    f"CREATE MACRO {_COMPARED}(x BIGINT) AS {_REFUSED}, (x HUGEINT) AS {_REFUSED}, "
    "(x FLOAT) AS x, (x DOUBLE) AS CAST(x AS DOUBLE), (x) AS x",
    f"CREATE MACRO {_GROUPED}(x) AS CASE WHEN regexp_matches(typeof(x), 'INT') THEN {_REFUSED} ELSE x END",
)
"""For sides of a comparison: DuckDB rounds the text '1.5' to the type of the other side, where Spark raises an error.
DuckDB does not know the type of some values in time (`is_untyped`): they have the second."""
_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")
_NUMBER = re.compile(r"\s*[+-]?(0[xb][0-9a-f_]+|[0-9_]*\.?[0-9_]*(e[+-]?[0-9]+)?)\s*", re.IGNORECASE)
"""Texts that DuckDB reads as numbers."""
_BYTES = re.compile(r"\\x[0-9a-fA-F]{2}")
"""The signs of one byte, as DuckDB reads a text beside bytes."""
_EQUALITIES = (exp.EQ, exp.EqualNull, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Nullif, exp.Case)
_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_RENAMED = (*_EQUALITIES, *_RANGES, exp.Bracket, exp.DecodeCase, exp.Div, exp.Mod, exp.Mul)
_OR_NULL = (exp.EqualNull, exp.NullSafeEQ, exp.NullSafeNEQ)
_UNNAMED = re.compile("col[0-9]+")


def exact_comparison(node: exp.Expression) -> None:
    """Let the engine refuse to compare a whole number with a text of another number.

    Raises UnsupportedError for structs of other names: in Spark the order of the fields counts, in DuckDB their names do.
    """
    if isinstance(node, exp.Max | exp.Min) and isinstance(node.this, exp.Struct):
        raise UnsupportedError("max and min of a struct: DuckDB puts nulls last, Spark first; use max_by or min_by")
    sides = _sides(node)
    names = {
        tuple(expression.name.lower() for expression in side.expressions)
        for side in sides
        if isinstance(side, exp.Struct)
    }
    if len(names) > 1 or any(_UNNAMED.fullmatch(name) for row in names for name in row):
        raise UnsupportedError(
            "a comparison with struct(…): DuckDB compares names of fields, too; use named_struct or (a, b)"
        )
    if _exact_equality(node):
        return
    if any(_is_no_whole_number(side) for side in sides):
        for side in sides:
            if not isinstance(side, exp.Literal | exp.Null):
                macro = _GROUPED if is_untyped(side) else _COMPARED
                side.replace(exp.Anonymous(this=macro, expressions=[side.copy()]))


def keep_backslashes(tree: exp.Expression) -> None:
    """Give texts that DuckDB would read as bytes the type of texts. Beside bytes they are then an error, if not equalities."""
    for node in list(tree.find_all(exp.Literal)):
        if _is_like_bytes(node) and not isinstance(node.parent, exp.Cast):
            node.replace(exp.cast(node.copy(), "varchar"))


def compare_searched(tree: exp.Expression) -> None:
    """Let `decode(x, a, 1, b, 2)` compare as `x <=> a` does."""
    for node in list(tree.find_all(exp.DecodeCase)):
        value, *others = node.expressions
        pairs = zip(others[::2], others[1::2], strict=False)
        ifs = [exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=one), true=then) for one, then in pairs]
        node.replace(exp.Case(ifs=ifs, default=others[-1] if len(others) % 2 else None))


def named(tree: exp.Expression) -> None:
    """Name the columns of queries that have no name and whose text would be another one."""
    for select in tree.find_all(exp.Select):
        for column in select.expressions:
            if not isinstance(column, exp.Alias | exp.Column | exp.Star) and column.find(*_RENAMED):
                text = column.sql(dialect="spark")
                name = f"({text})" if isinstance(column, (*_EQUALITIES, *_RANGES, exp.Div, exp.Mod, exp.Mul)) else text
                column.replace(exp.alias_(column.copy(), name, quoted=True))


def _exact_equality(node: exp.Expression) -> bool:
    """Let the engine compare the sides of an equality as Spark does. False for what is not an equality."""
    if isinstance(node, exp.In) and all(
        isinstance(expression, exp.Literal | exp.Neg | exp.Null) and not _is_like_bytes(expression)
        for expression in node.expressions
    ):
        return _exact_list(node)
    if isinstance(node, exp.In) and node.expressions:
        pairs = [(node.this, expression) for expression in node.expressions]
    elif isinstance(node, exp.Case) and node.this is not None:
        pairs = [(node.this, branch.this) for branch in node.args["ifs"]]
    elif isinstance(node, (exp.EQ, exp.NEQ, exp.Nullif, *_OR_NULL)):
        pairs = [(node.this, node.expression)]
    else:
        return False
    if not any(_may_mix(left, right) for left, right in pairs):
        return not any(_is_no_whole_number(side) for pair in pairs for side in pair)
    if isinstance(node, exp.Case):
        node.set("this", None)
        for branch, pair in zip(node.args["ifs"], pairs, strict=True):
            branch.set("this", _equality(*pair))
        return True
    equal = reduce(lambda left, right: exp.Or(this=left, expression=right), starmap(_equality, pairs))
    if isinstance(node, _OR_NULL):
        equal.set("this", f"{equal.this}_OR_NULL")
    if isinstance(node, exp.NEQ | exp.NullSafeNEQ):
        equal = exp.Not(this=equal)
    elif isinstance(node, exp.Nullif):
        equal = exp.Case(ifs=[exp.If(this=equal, true=exp.null())], default=node.this.copy())
    node.replace(exp.paren(equal, copy=False))
    return True


def _exact_list(node: exp.In) -> bool:
    """A list of literals, which may be long, stays one: DuckDB looks the value up in it."""
    numbers = [
        expression.unnest().this if isinstance(expression, exp.Neg) else expression for expression in node.expressions
    ]
    numbers = [number for number in numbers if isinstance(number, exp.Literal) and not number.is_string]
    if not numbers or isinstance(node.this, exp.Literal | exp.Struct | exp.Array | exp.Tuple):
        return False
    macro = _EQUAL_OF_LIST if all(number.is_int for number in numbers) else _EQUAL_OF_FLOATS
    suffix = "_OF_ROWS" if is_untyped(node.this) else ""
    node.set("this", exp.Anonymous(this=macro + suffix, expressions=[node.this.copy()]))
    return True


def _equality(left: exp.Expression, right: exp.Expression) -> exp.Expression:
    of_rows = any(is_untyped(side) for side in (left, right))
    return exp.Anonymous(this=_EQUAL_OF_ROWS if of_rows else _EQUAL, expressions=[left.copy(), right.copy()])


def _may_mix(left: exp.Expression, right: exp.Expression) -> bool:
    """True where one side may be a number or bytes, and the other a text that DuckDB would round to it, or read as other
    bytes."""
    sides = (left, right)
    if any(isinstance(side, exp.Null | exp.Boolean | exp.Struct | exp.Array | exp.Tuple) for side in sides):
        return False
    if any(_is_like_bytes(side) for side in sides):
        return True
    if any(isinstance(side, exp.Literal) and side.is_string and not _is_no_whole_number(side) for side in sides):
        return False
    return not all(isinstance(side, exp.Literal) and not side.is_string for side in sides)


def _sides(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, *_OR_NULL)):
        return [node.this, node.expression]
    if isinstance(node, exp.In):
        return [node.this, *node.expressions]
    return [node.this, node.args["low"], node.args["high"]] if isinstance(node, exp.Between) else []


def _is_like_bytes(side: exp.Expression) -> bool:
    return isinstance(side, exp.Literal) and side.is_string and _BYTES.search(side.name) is not None


def _is_no_whole_number(side: exp.Expression) -> bool:
    return bool(
        isinstance(side, exp.Literal)
        and side.is_string
        and _NUMBER.fullmatch(side.name)
        and not _INTEGER.fullmatch(side.name)
        and side.name.strip()
    )
