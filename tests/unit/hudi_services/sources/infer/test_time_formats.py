"""A column whose times have several formats: the entry proposes these, and a load takes them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hudi_services.cli.program import main
from hudi_services.sources.infer.time_formats import fitting_formats, mixed_formats
from hudi_services.sources.ingest.shape.duck import opened


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["31.12.2026", "2026-12-31", "30.12.2026"], ["%d.%m.%Y", "iso"]),
        (["2026-12-31", "31/12/2026"], ["iso", "%d/%m/%Y"]),
        (["31.12.2026", "31/12/2026", "x"], []),
        (["x", "31.12.2026"], []),
        (["31.12.2026", "30.12.2026"], []),
        ([], []),
    ],
)
def test_the_formats_of_a_column(values, expected):
    column = pa.array(values, pa.string())
    with opened() as duck:
        assert mixed_formats(column, duck) == expected
        assert not (expected and fitting_formats(column, duck))


def test_the_entry_proposes_the_formats(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("id,day\n1,31.12.2026\n2,2026-12-30\n3,29.12.2026\n")
    assert main(["infer", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert '# timestamps: {day: {formats: ["%d.%m.%Y", "iso"]}}  # are these times of several formats?' in text
