"""Literals that a changing statement casts. A cast that fails is null on DuckDB and an error in Spark 4."""

from __future__ import annotations

from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.sql.parse import DIALECT
from hoodie.sql.session import Session


def refuse_failed_casts(session: Session, tree: exp.Expression) -> None:
    """Raises SqlError for a literal that is not a value of the type to which it is cast.

    As null it would be stored, or make a comparison by `<=>` or IS NULL true for rows that are not meant. TRY_CAST says that
    null is meant.
    """
    casts = {cast.sql(dialect=DIALECT): cast for cast in tree.find_all(exp.Cast) if _is_of_literal(cast)}
    if not casts:
        return
    tried = [exp.TryCast(this=cast.this.copy(), to=cast.to.copy(), safe=True) for cast in casts.values()]
    columns = [exp.Is(this=cast, expression=exp.null()).as_(f"c{place}") for place, cast in enumerate(tried)]
    (row,) = session.rows(exp.select(*columns)).fetched().to_pylist()
    failed = [text for text, is_null in zip(casts, row.values(), strict=True) if is_null]
    if failed:
        raise SqlError(
            f"A literal is not a value of the type to which it is cast: {failed[0]:.100}",
            fix="correct it, or write TRY_CAST where null is meant; nothing was changed",
        )


def _is_of_literal(cast: exp.Cast) -> bool:
    value = cast.this
    while isinstance(value, exp.Paren | exp.Neg):
        value = value.this
    return isinstance(value, exp.Literal) and not cast.args.get("safe")
