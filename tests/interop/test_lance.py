"""Base files of Lance, written and read by its own package."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from tests.interop import peer_env
from tests.support.lance import as_lance
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.interop


@pytest.mark.deep("the package is 220 MB: in `unit` a stand-in has its calls")
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_tables_of_lance_files_are_read(tmp_path, monkeypatch, kind):
    monkeypatch.syspath_prepend(str(peer_env.ensure_lance()))
    from lance.file import LanceFileWriter

    def write(rows, path):
        with LanceFileWriter(path, rows.schema) as writer:
            writer.write_batch(rows)

    table = create(tmp_path / "t", **{"hoodie.table.type": kind})
    for step in range(1, 4):
        rows = [("a", "p", step, step), *((f"b{n}", "p", step, n) for n in range(2000)), (f"c{step}", "q", 1, None)]
        table.write(batch(rows), "upsert", SMALL_BLOOM)
    rows, times = content(table), [commit.time for commit in table.timeline.commits]
    past = content(table, as_of=times[0])
    as_lance(table, write)
    table = HoodieTable.open(table.base_path)
    assert content(table) == rows
    assert content(table, as_of=times[0]) == past
    assert table.read(filter="value < 2", columns=["id"]).num_rows == 2
    assert table.diagnose(deep=True).findings == ()
