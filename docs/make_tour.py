"""Runs docs/get-started/tour.ipynb and writes what its cells show into it: `make tour`."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent / "get-started" / "tour.ipynb"
_PLACE = "/data/lake"  # what the pages call the folder of the tables
_VARYING = [
    (re.compile(r"(?<!\d)\d{17}(?!\d)"), "20260131120000000"),  # instants
    (re.compile(r"[\d,]+(?= bytes)"), "9,999"),
    (re.compile(r'(?<=text-align: right">)[\d,]{4,}'), "9,999"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d"), "9f1c0a52-7a55-4d3c-8f0e-2f3b1c5d7e90-0"),
    (re.compile(r"_\d+-\d+-\d+_"), "_0-0-0_"),  # write tokens
]


def run(notebook: dict[str, Any], folder: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield the output of each cell of code, one after the other in one namespace, with `folder` as the working directory."""
    names: dict[str, Any] = {}
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                yield _shown("".join(cell["source"]), names, os.getcwd())


def _shown(code: str, names: dict[str, Any], folder: str) -> list[dict[str, Any]]:
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue(), folder)})
    if value is not None:
        data = {"text/plain": _lines(repr(value), folder)}
        page = getattr(value, "_repr_html_", lambda: None)()
        if page is not None:
            data["text/html"] = _lines(page, folder)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str, folder: str) -> list[str]:
    """As a notebook keeps text; what differs from run to run has one form."""
    text = text.replace(folder, _PLACE)
    for varying, instead in _VARYING:
        text = varying.sub(instead, text)
    return text.splitlines(keepends=True)


def main() -> None:
    notebook = json.loads(NOTEBOOK.read_text())
    with tempfile.TemporaryDirectory() as folder:
        outputs = list(run(notebook, Path(folder).resolve()))
    for cell, shown in zip((c for c in notebook["cells"] if c["cell_type"] == "code"), outputs, strict=True):
        cell["outputs"] = shown
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
