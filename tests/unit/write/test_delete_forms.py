"""Every form in which a row is deleted, in logs and on copy on write, read, merged and compacted (format notes, section 7.3)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION, LOG_COMPACTION
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
TWO = {"hoodie.log.compaction.blocks.threshold": 2, **SMALL_BLOOM}
MARKED = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}


def rows(entries):
    """(id, ts, is deleted, operation, op)"""
    ids, ts, deleted, operations, op = zip(*entries, strict=True)
    return pa.table(
        {
            "id": ids,
            "part": ["p"] * len(ids),
            "ts": pa.array(ts, pa.int64()),
            "_hoodie_is_deleted": pa.array(deleted, pa.bool_()),
            "_hoodie_operation": pa.array(operations, pa.string()),
            "op": pa.array(op, pa.string()),
        }
    )


def plain(keys, ts):
    return rows([(key, ts, None, None, None) for key in keys])


FORMS = {
    "flag": (True, None, None),
    "no flag": (False, None, None),
    "operation": (None, "D", None),
    "another operation": (None, "U", None),
    "marker": (None, None, "D"),
    "marker of another case": (None, None, "d"),
}


@pytest.fixture(params=[("9", "COPY_ON_WRITE"), ("9", "MERGE_ON_READ"), ("6", "COPY_ON_WRITE"), ("6", "MERGE_ON_READ")])
def table(request, tmp_path):
    version, kind = request.param
    options = {"hoodie.table.type": kind, "hoodie.write.table.version": version}
    return create(tmp_path / "t", FakeClock(), **options, **(MARKED if version == "9" else {}))


@pytest.mark.format("7.3a", "7.3c", "7.3d", "7.3e")
def test_forms(table):
    forms = {**FORMS, "by key": None}
    table.write(plain([f"{form} {ts}" for form in forms for ts in (5, 20)], 10), "insert", NO_SMALL_FILES)
    changes = [(f"{form} {ts}", ts, *how) for form, how in FORMS.items() for ts in (5, 20)]
    table.write(rows(changes), "upsert", NO_SMALL_FILES)
    table.write(plain(["by key 5"], 5), "delete", NO_SMALL_FILES)
    gone = {"flag 20", "operation 20", "by key 5"} | ({"marker 20"} if table.version == 9 else set())
    expected = {f"{form} {ts}": 20 if ts == 20 and form != "by key" else 10 for form in forms for ts in (5, 20)}
    expected = {key: ts for key, ts in expected.items() if key not in gone}

    def found():
        return {row["id"]: row["ts"] for row in table.read().to_pylist()}

    assert found() == expected, "a late deletion loses to the stored row, unless it is by key"
    if not table.properties.is_merge_on_read:
        return
    if table.version == 9:
        table.run(LOG_COMPACTION, TWO, time=table.schedule(LOG_COMPACTION, TWO))
        assert found() == expected
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert found() == expected
    table.write(plain(["flag 20", "by key 5"], 1), "upsert", NO_SMALL_FILES)
    assert found() == expected | {"flag 20": 1, "by key 5": 1}, "once compacted nothing is left of a deletion"
