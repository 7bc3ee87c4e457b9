"""What only data files tell: torn ones, others than their commit wrote, keys that stand twice."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from tests.support.archive import archive_before
from tests.support.tables import SMALL_BLOOM, batch, create

SEVERAL = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def filled(path, version="9", kind="COPY_ON_WRITE"):
    table = create(path, **{"hoodie.write.table.version": version, "hoodie.table.type": kind})
    for step in range(3):
        table.write(batch([("a", "p", step, step), (f"b{step}", "q", step, step)]), "upsert", SEVERAL)
    return table


def found(table):
    return {each.check: each for each in table.diagnose(deep=True).findings}


def base(table):
    return next(s.base_file for s in table.file_slices() if s.partition == "part=p")


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_healthy_table_is_healthy_inside_too(tmp_path, version, kind):
    assert found(filled(tmp_path, version, kind)) == {}


@pytest.mark.parametrize("left", [0, 4, -10])
def test_a_base_file_that_was_cut_short(tmp_path, left):
    table = filled(tmp_path)
    file = tmp_path / base(table).path
    file.write_bytes(file.read_bytes()[:left])
    assert table.diagnose().findings == ()
    (told,) = found(table).values()
    assert (told.check, told.path) == ("torn-file", base(table).path)


def test_a_base_file_with_other_rows(tmp_path):
    table = filled(tmp_path)
    file = tmp_path / base(table).path
    rows = pq.read_table(file)
    pq.write_table(rows.slice(0, 0), file)
    told = found(table)["footer"]
    assert "0 rows, where the commit wrote 1" in told.found
    assert "bytes, where the commit wrote" in told.found


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_keys_that_stand_twice(tmp_path, kind):
    table = filled(tmp_path, kind=kind)
    for _ in range(2):
        table.write(batch([("a", "p", 9, 9), ("new", "p", 9, 9)]), "bulk_insert", SEVERAL)
    told = found(table)
    assert set(told) == {"duplicate-keys"}
    assert told["duplicate-keys"].path == "part=p"
    assert told["duplicate-keys"].found == "2 keys: 'a', 'new'"
    table.write(batch([("a", "p", 9, 9)]), "delete", SEVERAL)
    assert found(table)["duplicate-keys"].found == "1 keys: 'new'"


@pytest.mark.parametrize("version", ["6", "9"])
def test_a_file_that_would_have_been_archived_and_was_not(tmp_path, version):
    table = filled(tmp_path, version)
    first, second, third = table.timeline.commits
    archive_before(table, third.time)
    file = tmp_path / base(table).path
    between = str(int(second.time) - 1)
    assert first.time < between
    (file.parent / f"aaaa-0_0-1-2_{between}.parquet").write_bytes(file.read_bytes())
    (file.parent / "bbbb-0_0-1-2_20200101000000000.parquet").write_bytes(file.read_bytes())
    assert table.diagnose().findings == ()
    told = [each for each in table.diagnose(deep=True).findings if each.check == "unknown-file"]
    assert [each.instant for each in told] == [between], "of what was before the archive nobody knows"
