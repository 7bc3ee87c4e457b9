"""The allowed parts of a statement: those that look at one row at a time and always give the same result."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from hudi_services.sources.ingest.shape.duck import RELATION
from hudi_services.sources.ingest.shape.grammar import Grammar, Node, name_of, nodes

_PLAIN = frozenset(
    [
        "CASE",
        "CAST",
        "COLLATE",
        "COLUMN_REF",
        "COMPARISON",
        "CONJUNCTION",
        "BETWEEN",
        "CONSTANT",
        "FUNCTION",
        "LAMBDA",
        "OPERATOR",
        "TYPE",
    ]
)
_WORDS = {
    "WINDOW": "a window function",
    "SUBQUERY": "a subquery (for `x = ANY(list)` say list_contains(list, x))",
    "STAR": "* or COLUMNS(…) inside an expression",
    "PARAMETER": "a parameter",
    "POSITIONAL_REFERENCE": "a column by its number",
    "DEFAULT": "DEFAULT",
}
_MODIFIERS = {"ORDER_MODIFIER": "ORDER BY", "LIMIT_MODIFIER": "LIMIT", "LIMIT_PERCENT_MODIFIER": "LIMIT"}
_CLOCK = frozenset(["current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"])


def problems(grammar: Grammar, tree: Node) -> Iterator[str]:
    """Parts of a statement that are not allowed. The first is reported."""
    if tree["type"] != "SELECT_NODE":
        yield "a UNION or another set of several SELECTs"
        return
    if tree["cte_map"]["map"]:
        yield "WITH"
    table = tree["from_table"]
    if table["type"] != "BASE_TABLE" or table["schema_name"] or table["catalog_name"]:
        yield f"FROM without {RELATION}, or with more than that"
    elif table["table_name"].lower() != RELATION:
        yield f"FROM {table['table_name']}; the rows of the source are called {RELATION}"
    elif table["sample"] or table["at_clause"] or table["column_name_alias"]:
        yield f"more than a name behind FROM {RELATION}"
    for modifier in tree["modifiers"]:
        kind = modifier["type"]
        yield _MODIFIERS.get(kind, "DISTINCT" if kind.startswith("DISTINCT") else kind)
    if tree["group_expressions"] or tree["group_sets"] or tree["aggregate_handling"] != "STANDARD_HANDLING":
        yield "GROUP BY"
    for clause in ("having", "qualify", "sample"):
        if tree[clause] is not None:
            yield clause.upper()
    yield from _select_problems(grammar, tree["select_list"])
    if tree["where_clause"] is not None:
        yield from _inner_problems(grammar, tree["where_clause"])


def _select_problems(grammar: Grammar, select: Sequence[Node]) -> Iterator[str]:
    names: set[str] = set()
    for item in select:
        if item["class"] == "STAR":
            if item["columns"] or item["expr"] is not None:
                yield "COLUMNS(…)"
            if item["rename_list"]:
                yield "RENAME; the source has `rename` for that, or say: a AS b"
            for replacement in item["replace_list"]:
                yield from _inner_problems(grammar, replacement["value"])
            continue
        yield from _inner_problems(grammar, item)
        name = name_of(item)
        if not name:
            yield f"a column without a name: {grammar.expression(item)}; give it one with AS"
        if name.lower() in names:
            yield f"two columns of the name {name!r}"
        names.add(name.lower())


def _inner_problems(grammar: Grammar, tree: Node) -> Iterator[str]:
    for node in nodes(tree):
        kind = node["class"]
        if kind not in _PLAIN:
            yield _WORDS.get(kind, str(kind))
        elif kind == "FUNCTION":
            yield from _function_problems(grammar, node)
        elif kind == "OPERATOR" and node["type"] == "GROUPING_FUNCTION":
            yield "GROUPING"
        elif kind == "COLUMN_REF" and len(node["column_names"]) == 1 and node["column_names"][0].lower() in _CLOCK:
            yield _unsteady(node["column_names"][0])


def _function_problems(grammar: Grammar, node: Node) -> Iterator[str]:
    name = node["function_name"].lower()
    function = grammar.functions.get(name)
    if node["distinct"] or node["filter"] is not None or node["order_bys"]["orders"]:
        yield f"an aggregate: {name}"
    elif name == "unnest":
        yield "unnest, which makes several rows of one"
    elif function is None:
        close = difflib.get_close_matches(name, grammar.functions, n=1)
        yield f"a function {name} that DuckDB does not have" + (f"; did you mean {close[0]}?" if close else "")
    elif function.kind not in ("scalar", "macro"):
        yield f"{name}, a function of the kind {function.kind}"
    elif not function.steady or (name == "age" and len(node["arguments"]) == 1):
        yield _unsteady(name)
    else:
        for definition in function.definitions:
            for problem in problems(grammar, grammar.tree(f"SELECT {definition} AS it FROM {RELATION}")):
                yield f"{name}, which is {problem}"


def _unsteady(name: str) -> str:
    return f"{name}, which may give something else each time; a task that is tried again must give the same rows"
