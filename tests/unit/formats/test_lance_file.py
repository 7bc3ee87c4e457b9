"""Tables of Lance files, read through a stand-in of the package: `tests/interop/test_lance.py` has the real one."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hoodie import ARCHIVE, CLEAN, HoodieTable, Rollback
from hoodie.errors import ConfigError, CorruptFileError, UnsupportedTableError
from hoodie.formats import lance_file
from hoodie.formats.bootstrap_file import open_file
from hoodie.storage import LocalStorage
from tests.support.lance import as_lance
from tests.support.long_timelines import SHORT
from tests.support.tables import SMALL_BLOOM, batch, content, create


class StandIn:
    """The calls of Lance's reader that the library makes, over a file of Parquet."""

    def __init__(self, path, columns=None):
        self._rows = pq.read_table(path)
        self._rows = self._rows if columns is None else self._rows.select(columns)

    def num_rows(self):
        return self._rows.num_rows

    def metadata(self):
        return SimpleNamespace(schema=self._rows.schema)

    def read_range(self, start, rows, batch_size):
        found = self._rows.slice(start, rows)
        return SimpleNamespace(to_batches=lambda: iter(found.to_batches(max_chunksize=batch_size)))


@pytest.fixture
def installed(monkeypatch):
    package, module = ModuleType("lance"), ModuleType("lance.file")
    package.__spec__ = ModuleSpec("lance", None, origin="lance/__init__.py")
    module.LanceFileReader = StandIn
    monkeypatch.setitem(sys.modules, "lance", package)
    monkeypatch.setitem(sys.modules, "lance.file", module)


def made(path, kind="COPY_ON_WRITE"):
    table = create(path, **{"hoodie.table.type": kind})
    for step in range(1, 4):
        rows = [("a", "p", step, step), ("b", "p", 1, 1), (f"c{step}", "q", 1, step)]
        table.write(batch(rows), "upsert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
    return table


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_table_is_read_and_not_changed(tmp_path, monkeypatch, installed, kind):
    monkeypatch.setattr(lance_file, "_GROUP_ROWS", 1)
    table = made(tmp_path / "t", kind)
    rows, times = content(table), [commit.time for commit in table.timeline.commits]
    past = [content(table, as_of=time) for time in times]
    changed = table.read_incremental(times[1]).sort_by("id")
    as_lance(table, pq.write_table)
    table = HoodieTable.open(table.base_path)
    assert content(table) == rows
    assert [content(table, as_of=time) for time in times] == past
    assert table.read(filter="value = 3", columns=["id"]).to_pydict() == {"id": ["a", "c3"]}
    assert table.read_incremental(times[1]).sort_by("id") == changed
    assert table.diagnose(deep=True).findings == ()
    before = sorted(file.name for file in (tmp_path / "t").rglob("*") if file.is_file())
    for change in (
        lambda: table.write(batch([("z", "p", 1, 1)]), "insert"),
        lambda: table.run(CLEAN, {"hoodie.clean.commits.retained": 1}),
        lambda: table.run(ARCHIVE, SHORT),
        lambda: table.run(Rollback(times[-1])),
        lambda: table.savepoint(times[-1]),
    ):
        with pytest.raises(UnsupportedTableError, match=r"base\.file\.format.*with Hudi"):
            change()
    assert sorted(file.name for file in (tmp_path / "t").rglob("*") if file.is_file()) == before


def test_rows_come_in_groups_without_columns_too(tmp_path, monkeypatch, installed):
    monkeypatch.setattr(lance_file, "_GROUP_ROWS", 2)
    pq.write_table(pa.table({"x": range(5), "y": list("abcde")}), tmp_path / "f.lance")
    with open_file(LocalStorage(str(tmp_path)), "f.lance") as reader:
        assert (reader.rows, reader.row_groups, reader.row_interval(2)) == (5, 3, (4, 5))
        assert [rows.num_rows for rows in reader.batches([])] == [2, 2, 1]
        assert [rows.to_pydict() for rows in reader.batches(["y", "no"], [1])] == [{"y": ["c", "d"]}]
        assert [rows["x"].to_pylist() for rows in reader.intervals(["x"], [(0, 1), (3, 5)])] == [[0], [3, 4]]
        assert reader.key_index() is None


def test_a_file_that_is_cut_short_is_damaged(tmp_path, installed):
    (tmp_path / "f.lance").write_bytes(b"LANC")
    with pytest.raises(CorruptFileError, match=r"f\.lance cannot be read"):
        open_file(LocalStorage(str(tmp_path)), "f.lance")


def test_without_the_package_a_command_is_named(tmp_path, monkeypatch):
    for name in ("lance", "lance.file"):
        monkeypatch.setitem(sys.modules, name, None)
    table = made(tmp_path / "t")
    as_lance(table, pq.write_table)
    for opened in (lambda: HoodieTable.open(table.base_path), table.diagnose):
        with pytest.raises(ConfigError, match=r"base files are of LANCE.*pip install 'hudi-table-services\[lance\]'"):
            opened()
    (tmp_path / "f.lance").write_bytes(b"LANC")
    with pytest.raises(ConfigError, match=r"pip install 'hudi-table-services\[lance\]'"):
        open_file(LocalStorage(str(tmp_path)), "f.lance")
