"""Headers of CSV files whose columns are all text."""

from __future__ import annotations

import pytest

from hudi_services.sources.infer.entry import entry_text
from hudi_services.sources.infer.profile import look_at

TEXTS = "Ada,London\nBert,Paris\nCleo,Rome\n"


@pytest.mark.parametrize(
    "files",
    [
        {"a.csv": TEXTS, "b.csv": "Dora,Oslo\nEmil,Bern\n"},  # a header would be the same
        {"a.csv": TEXTS + "Finn,London\n"},  # a name that is a value of its column, too
    ],
)
def test_first_lines_of_text_that_are_rows_are_not_lost(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    finding = look_at(str(tmp_path), None, None)
    assert finding.rows == sum(text.count("\n") for text in files.values())
    assert "header: [column_1, column_2]  # the first line looks like a row; name the columns, or true?" in entry_text(
        finding
    )


def test_a_header_that_only_text_follows_has_a_remark(tmp_path):
    (tmp_path / "a.csv").write_text(f"name,city\n{TEXTS}")
    text = entry_text(look_at(str(tmp_path), None, None))
    assert "header: true  # each column is text, so the first line may be a row; if it is, name the columns?" in text
    (tmp_path / "a.csv").write_text(f"name,city\n{TEXTS}name,city\n{TEXTS}")  # two files, one after the other
    assert "header: true  # each column is text" in entry_text(look_at(str(tmp_path), None, None))
    (tmp_path / "a.csv").write_text("name,city,born\nAda,London,1815\nBert,Paris,1900\n")
    assert "header:" not in entry_text(look_at(str(tmp_path), None, None))
