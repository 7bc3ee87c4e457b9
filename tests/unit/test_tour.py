"""The notebook of the documentation shows what its cells do."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.scripts import script

ROOT = Path(__file__).resolve().parents[2]
MAKE = script("docs/make_tour.py")


def test_cells_show_what_the_notebook_says(tmp_path):
    notebook = json.loads((ROOT / "docs" / "get-started" / "tour.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 10
    for cell, shown in zip(cells, MAKE.run(notebook, tmp_path.resolve()), strict=True):
        assert cell["outputs"] == shown, "".join(cell["source"])


def test_what_differs_from_run_to_run_has_one_form():
    assert MAKE._lines("20260102030405678 of /tmp/x/t: 1,234 bytes\n7", "/tmp/x") == [
        "20260131120000000 of /data/lake/t: 9,999 bytes\n",
        "7",
    ]
