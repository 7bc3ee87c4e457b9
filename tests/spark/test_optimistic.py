"""Two writers at once on Spark: its workers send the driver the new keys, and the driver finds those of others."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.errors import DuplicateKeyError, WriteConflictError
from hoodie.spark import SparkEngine
from hoodie.write.execute import WriteHooks
from tests.support.matrix import sample
from tests.support.rivals import OCC, shared
from tests.support.tables import batch, create

pytestmark = pytest.mark.spark

APART = {**OCC, "hoodie.parquet.small.file.limit": 0}
OTHERS = [("x", "p", 2, 2), ("a", "q", 2, 2)]


@pytest.mark.parametrize("kind", sample(["COPY_ON_WRITE", "MERGE_ON_READ"], 1))
def test_a_key_that_another_inserts_meanwhile_is_found(spark, tmp_path, kind):
    create(tmp_path, **{"hoodie.table.type": kind}).write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", APART)
    mine = HoodieTable.open(str(tmp_path), engine=SparkEngine(spark))

    def write(rows, operation, others, **options):
        def meanwhile():
            if others:
                shared(tmp_path).write(batch(others), "upsert", APART)
                others.clear()
            return {}

        frame = spark.createDataFrame(batch(rows).to_pandas())
        mine.write(frame, operation, {**APART, **options}, hooks=WriteHooks(before_commit=meanwhile))

    with pytest.raises(WriteConflictError, match="has inserted one of its keys"):
        write([("x", "p", 3, 3), ("y", "p", 3, 3)], "upsert", list(OTHERS))
    again = {"hoodie.write.num.retries.on.conflict.failures": 1}
    write([("z", "p", 3, 3), ("x", "p", 3, 3)], "upsert", [("z", "p", 2, 2)], **again)
    with pytest.raises(DuplicateKeyError):
        write([("v", "p", 3, 3)], "bulk_insert", [("v", "p", 2, 2)])
    write([("w", "p", 3, 3)], "bulk_insert", [("w", "q", 2, 2)])
    keys = mine.read()["id"].to_pylist()
    assert sorted(keys) == ["a", "a", "b", "v", "w", "w", "x", "z"], "a key is one's own in its partition"
    assert not mine.timeline.pending
