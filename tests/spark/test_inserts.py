"""An insert leaves the same rows on Spark as on threads, for any stored rows."""

from __future__ import annotations

import pytest

from hoodie.engine import LocalEngine
from hoodie.spark import SparkEngine
from tests.support.matrix import diagonal
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.spark

FIRST = [("a", "p", 10, 0), ("b", "p", 10, 0)]
MORE = [("a", "p", 5, 1), ("b", "p", 20, 2), ("c", "p", 1, 3), ("c", "p", 2, 4)]


@pytest.mark.parametrize(
    ("kind", "allowed", "left"),
    diagonal(["COPY_ON_WRITE", "MERGE_ON_READ"], [("true", [0, 0, 1, 2, 3, 4]), ("false", [0, 2, 4])]),
)
def test_same_rows(spark, tmp_path, kind, allowed, left):
    for name, engine in (("threads", LocalEngine(2)), ("spark", SparkEngine(spark))):
        table = create(tmp_path / name, engine=engine, **{"hoodie.table.type": kind})
        table.write(batch(FIRST), "insert", SMALL_BLOOM)
        options = {**SMALL_BLOOM, "hoodie.merge.allow.duplicate.on.inserts": allowed}
        table.write(batch(MORE), "insert", options)
        assert sorted(table.read()["value"].to_pylist()) == left
