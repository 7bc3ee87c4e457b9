"""SQL as a tree, by DuckDB's own parser, and as text again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hoodie.errors import ConfigError
from hudi_services.sources.ingest.shape.duck import RELATION, Duck, opened

Node = dict[str, Any]

_CLOCKS = ("current_localtime", "current_localtimestamp")
"""Functions of the time that DuckDB itself calls consistent."""

SELECT_FIX = f"write one SELECT … FROM {RELATION} [WHERE …] that looks at one row at a time"


def unusable(problem: str) -> ConfigError:
    return ConfigError("The SQL of the source cannot be used", found=problem, fix=SELECT_FIX)


@dataclass(frozen=True)
class Function:
    """`steady`: of the same arguments it makes the same. `definitions` are those of a macro."""

    kind: str
    steady: bool
    definitions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grammar:
    """DuckDB's knowledge of its own language."""

    duck: Duck

    def tree(self, text: str) -> Node:
        """The one SELECT of a text. Raises ConfigError for anything else."""
        answer = json.loads(self.duck.fetch("SELECT json_serialize_sql(?)", text)[0][0])
        if answer["error"]:
            error_message = answer["error_message"]
            if answer["error_type"] == "not implemented":
                error_message = "another statement than SELECT"
            elif "position" in answer:
                place = int(answer["position"])
                line, near = text.count("\n", 0, place) + 1, text[max(0, place - 20) : place + 20]
                error_message += f' (line {line}: {near!r}; a column with a name of SQL\'s needs quotes, such as "at")'
            raise unusable(error_message)
        statements = answer["statements"]
        if len(statements) != 1:
            raise unusable(f"{len(statements)} statements" if statements else "no statement")
        node: Node = statements[0]["node"]
        return node

    def text(self, tree: Node) -> str:
        """The text of a SELECT."""
        serialised = json.dumps({"error": False, "statements": [{"node": tree, "named_param_map": []}]})
        text: str = self.duck.fetch("SELECT json_deserialize_sql(?)", serialised)[0][0]
        return text

    def expression(self, tree: Node) -> str:
        """The text of a part of one."""
        select = {**self.tree(f"SELECT 1 FROM {RELATION}"), "select_list": [tree]}
        return self.text(select).removeprefix("SELECT ").removesuffix(f" FROM {RELATION}")

    @property
    def functions(self) -> Mapping[str, Function]:
        """DuckDB's own functions, by name."""
        return _functions()


@cache
def _functions() -> Mapping[str, Function]:
    """DuckDB's functions by name. `error('…')` counts as steady: it sends the row to the quarantine."""
    with opened() as duck:
        rows = duck.fetch(
            "SELECT function_name, function_type, stability, macro_definition FROM duckdb_functions() WHERE internal"
            " ORDER BY function_type <> 'scalar', function_type <> 'macro'"
        )
    result: dict[str, Function] = {}
    for name, kind, stability, definition in rows:
        steady = (stability in (None, "CONSISTENT") or name == "error") and name not in _CLOCKS
        function = result.setdefault(name.lower(), Function(kind, steady))
        if kind == function.kind == "macro":
            result[name.lower()] = Function(kind, function.steady, (*function.definitions, definition))
    return result


def nodes(tree: object) -> Iterator[Node]:
    """The expressions in a tree, itself first."""
    if isinstance(tree, dict):
        if "class" in tree:
            yield tree
        for below in tree.values():
            yield from nodes(below)
    elif isinstance(tree, list):
        for below in tree:
            yield from nodes(below)


def name_of(item: Node) -> str:
    """The name of a column of the result; empty if it has no name of its own."""
    if item["alias"]:
        return str(item["alias"])
    return str(item["column_names"][-1]) if item["class"] == "COLUMN_REF" else ""


def named_functions(tree: Node) -> set[str]:
    return {node["function_name"].lower() for node in nodes(tree) if node["class"] == "FUNCTION"}


def named_columns(tree: Node) -> set[str]:
    return {name.lower() for node in nodes(tree) if node["class"] == "COLUMN_REF" for name in node["column_names"]}
