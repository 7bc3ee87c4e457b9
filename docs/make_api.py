"""Builds the reference of the Python library from its docstrings, for the docs site. A warning is an error."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pdoc

import hoodie

PAGES = (
    "hoodie",
    "hoodie.table",
    "hoodie.table_reader",
    "hoodie.new_table",
    "hoodie.spark",
    "hoodie.errors",
    "hoodie.engine",
    "hoodie.display",
    "hoodie.read.query",
    "hoodie.read.filters.text",
    "hoodie.schema.changes",
    "hoodie.write.execute",
    "hoodie.write.input",
    "hoodie.services.decision",
    "hoodie.services.service",
    "hoodie.services.measures",
    "hoodie.services.stages",
    "hoodie.timeline",
)


def build(folder: Path) -> None:
    """Write the pages into `folder`. Raises each warning of pdoc as an error."""
    for name in hoodie.__all__:  # pdoc looks at what a module holds already
        setattr(hoodie, name, getattr(hoodie, name))
    own = [page for page in PAGES if page.partition(".")[2] not in hoodie.__all__]  # the others are part of `hoodie`
    no_others = rf"!(?!({'|'.join(map(re.escape, PAGES))})$)"
    pdoc.render.configure(docformat="markdown", footer_text=f"hoodie {hoodie.__version__}", show_source=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pdoc.pdoc(*own, no_others, output_directory=folder)
