"""Names that code binds: a few words say nothing of what a name holds, and are refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

ROOTS = ("benchmarks/", "dags/", "hudi_services/", "plugins/", "spark_apps/")
EMPTY_WORDS = {
    "asked", "begun", "each", "found", "gone", "met", "mine", "said", "there", "those", "told", "wanted", "what", "which", "who",
}  # fmt: skip
# Classes whose attributes are keys of JSON that users or stored files have.
PUBLIC = {
    "hudi_services/operations/alerts/conditions.py": {"what"},
    "hudi_services/operations/pages/table.py": {"what"},
    "hudi_services/runtime/failures.py": {"found", "what"},
    "hudi_services/sources/cdc/requirement.py": {"found"},
    "hudi_services/sources/ingest/expectations/results.py": {"found"},
    "plugins/hoodie/errors.py": {"found", "what"},
    "plugins/hoodie/doctor/finding.py": {"found", "what"},
}


def empty_names(path: str, source: str) -> Iterator[tuple[int, str]]:
    """The line of each binding of an empty word, and the name."""
    if path.endswith(".py") and path.startswith(ROOTS):
        for node in ast.walk(ast.parse(source)):
            for line, name in _bound(node):
                word = name.strip("_").lower()
                if word in EMPTY_WORDS and word not in PUBLIC.get(path, ()):
                    yield line, name


def _bound(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield node.lineno, name
        case ast.arg(arg=name) | ast.alias(asname=str(name)):
            yield node.lineno, name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield node.lineno, name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield node.lineno, name
        case ast.MatchMapping(rest=str(name)):
            yield node.lineno, name
