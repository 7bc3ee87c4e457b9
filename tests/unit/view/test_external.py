"""Tables over files that Hudi did not write, as Apache XTable makes them: commits name a file with the suffix `_hudiext`."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import UnsupportedTableError
from tests.support.tables import batch, create

ROWS = batch([("a", "p", 1, 1)])


@pytest.fixture
def table(tmp_path):
    create(tmp_path, **{"hoodie.write.table.version": "6"}).write(ROWS)
    (file,) = tmp_path.glob("part=p/*.parquet")
    (commit,) = tmp_path.glob(".hoodie/*.commit")
    file.rename(file.with_name("data.parquet"))
    external = f"data.parquet_{commit.name.partition('.')[0]}_hudiext"
    commit.write_text(commit.read_text().replace(file.name, external))
    properties = tmp_path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text() + "hoodie.table.metadata.partitions=files\n")
    return HoodieTable.open(str(tmp_path), engine=LocalEngine(1))


def test_it_is_called_what_it_is(table, tmp_path):
    before = (tmp_path / ".hoodie" / "hoodie.properties").read_text()
    for do in (
        table.read,
        *(lambda name=name: table.write(ROWS, name) for name in ("upsert", "bulk_insert", "insert_overwrite_table")),
        lambda: table.run(CLEAN, options={"hoodie.clean.commits.retained": 1}),
    ):
        with pytest.raises(UnsupportedTableError, match="files that Hudi did not write"):
            do()
    assert (tmp_path / ".hoodie" / "hoodie.properties").read_text() == before, "readers need its metadata table"
    findings = {each.check: each.found or "" for each in table.diagnose().findings}
    assert "missing-file" not in findings
    assert "files that Hudi did not write" in findings["unchecked"]
