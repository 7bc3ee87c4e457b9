"""Inserts of stored keys through Hudi and through us leave the same rows, and each reads what the other wrote."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.rows import rows
from tests.support.matrix import diagonal

pytestmark = pytest.mark.interop

KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
OPTIONS = [
    {},
    {"hoodie.combine.before.insert": "true"},
    {"hoodie.merge.allow.duplicate.on.inserts": "false"},
]


def batch(entries):
    ids, ts, note, deleted = zip(*entries, strict=True)
    return pa.table({"id": ids, "ts": pa.array(ts, pa.int64()), "note": note, "_hoodie_is_deleted": deleted})


BASE = batch([("a", 10, "base", False), ("b", 10, "base", False), ("g", 10, "base", False)])
MORE = batch(
    [
        ("a", 5, "older", False),
        ("b", 20, "newer", False),
        ("c", 1, "new", False),
        ("c", 2, "new2", False),
        ("c", 1, "new3", False),
        ("g", 20, "gone", True),
    ]
)
NAMES = ["id", "ts", "note"]


@pytest.mark.format("11q")
@pytest.mark.parametrize(("kind", "mode"), diagonal(KINDS, ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]))
def test_same_rows_as_hudi(tmp_path, hudi12, recorded, kind, mode):
    hudis = recorded("hudi12")
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.write.record.merge.mode": mode,
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.operation": "insert",
        "hoodie.metadata.enable": "false",
    }
    own = {
        "hoodie.table.name": "t",
        "hoodie.table.type": kind,
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.record.merge.mode": mode,
    }
    for number, extra in enumerate(OPTIONS):
        theirs, ours = tmp_path / f"{number}" / "theirs", tmp_path / f"{number}" / "ours"
        table = HoodieTable.create(str(ours), own)
        hudis.write(theirs, BASE, options, "overwrite")
        hudis.write(theirs, MORE, options | extra)
        table.write(BASE, "insert")
        table.write(MORE, "insert", extra)
        expected = rows(table.read(), NAMES)
        assert len(expected) == ({0: 8, 1: 6, 2: 3}[number])
        assert rows(hudis.read(theirs), NAMES) == expected, extra
        assert rows(hudi12.read(ours), NAMES) == expected, extra
        other = HoodieTable.open(hudis.table(theirs))
        assert rows(other.read(), NAMES) == expected, extra
        # The other writer goes on, in the files that have keys twice.
        other.write(BASE, "insert", extra)
        hudi12.write(ours, BASE, options | extra)
        assert rows(other.read(), NAMES) == rows(hudi12.read(ours), NAMES), extra
        assert rows(hudi12.read(theirs), NAMES) == rows(table.read(), NAMES), extra
