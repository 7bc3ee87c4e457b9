"""EXPLAIN: what a statement would read and write. It changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from sqlglot import exp

from hoodie.dataset import HoodieDataset
from hoodie.display import counted
from hoodie.errors import SqlError
from hoodie.read.snapshot import plan_snapshot
from hoodie.sql.catalog import Entry
from hoodie.sql.changes import Target, delete_query, merge_query, source_query, update_query
from hoodie.sql.inserts import insert_plan
from hoodie.sql.look import Look
from hoodie.sql.maintenance import MAINTENANCE
from hoodie.sql.parse import DIALECT, parsed, shortened
from hoodie.sql.result import Result
from hoodie.sql.session import Session

_FORMS = ("ANALYZE", "CODEGEN", "COST", "EXTENDED", "FORMATTED")
"""Words behind EXPLAIN by which Spark and DuckDB choose what they print."""


def explain(session: Session, tree: exp.Expression) -> Result:
    """The plan of a query, of an INSERT, UPDATE, DELETE or MERGE, of VACUUM or OPTIMIZE.

    Raises SqlError for another statement, and what its planning raises.
    """
    if isinstance(tree, exp.Literal):
        word = tree.name.partition(" ")[0].upper()
        if word in _FORMS:
            raise SqlError(f"EXPLAIN has no form {word}", fix=f"write EXPLAIN without {word}")
        tree = parsed(tree.name)
    if isinstance(tree, exp.Command) and tree.name.upper() in MAINTENANCE:
        return MAINTENANCE[tree.name.upper()](session, tree.args["expression"].name, dry=True)
    lines = _of_query(session, tree, Look()) if isinstance(tree, exp.Query) else _of_change(session, tree)
    return Result(pa.table({"plan": pa.array(list(lines), pa.string())}))


def _of_query(session: Session, query: exp.Expression, look: Look) -> Iterator[str]:
    sources = session.sources(query, look)
    for node, source in sources:
        if isinstance(source, HoodieDataset):
            slices = plan_snapshot(source.state, source.query).slices
            size = sum(file_slice.size for file_slice in slices)
            yield (
                f"table {node.sql(dialect=DIALECT)} at {source.state.storage.base_path}: "
                f"{counted(len(slices), 'file slice')}, {size:,} bytes before conditions leave some out"
            )
    yield f"plan of {session.engine.name}:"
    yield from session.engine.explained(query, sources).splitlines()


def _of_change(session: Session, tree: exp.Expression) -> Iterator[str]:
    """The operation by which rows are written, and the plan of the query that computes them."""
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if not isinstance(tree, exp.Insert | exp.Update | exp.Delete | exp.Merge) or not isinstance(node, exp.Table):
        raise SqlError(
            f"EXPLAIN has no plan of {shortened(tree.sql(dialect=DIALECT))}",
            fix="give it a query, INSERT, UPDATE, DELETE, MERGE INTO, VACUUM or OPTIMIZE of a Hudi table",
        )
    entry = session.written(node)
    dataset = HoodieDataset(session.open(entry))
    target = Target(node, dataset.schema, dataset.state.properties)
    look = Look.at(dataset)
    operation, query = _written(session, entry, tree, target, look)
    keys = ", ".join(target.properties.record_key_fields) or "generated keys"
    yield f"table {entry.name}: one commit by the operation {operation}, keys: {keys}"
    yield from _of_query(session, query, look)


def _written(
    session: Session, entry: Entry, tree: exp.Expression, target: Target, look: Look
) -> tuple[str, exp.Expression]:
    if isinstance(tree, exp.Insert):
        return insert_plan(session, entry, tree, target)
    if isinstance(tree, exp.Update):
        return "upsert", update_query(tree, target)
    if isinstance(tree, exp.Delete):
        return "delete", delete_query(tree, target)
    assert isinstance(tree, exp.Merge), tree
    source = session.rows(source_query(tree), look).schema
    return "upsert", merge_query(tree, target, source)[0]
