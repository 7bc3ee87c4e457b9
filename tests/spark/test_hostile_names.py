"""On Spark too the rows of a table do not depend on what its columns are called."""

from __future__ import annotations

from itertools import product

import pytest

import hoodie.spark
from hoodie.spark import SparkEngine
from tests.support.matrix import sample
from tests.support.renamed import INNER, ROLES, Twins, batch

pytestmark = pytest.mark.spark

NAMES = [
    ["__group", "__reset", "__sequence", "__delete", "__position", "__lacks", "__op"],
    ["result", "bucket", "block", "id", "values", "counts", "element"],
]
STEPS = [
    ("upsert", [("a", 1, 1), ("b", 1, 2), ("cc", 1, 3)]),
    ("insert", [("dd", 1, 4), ("a", 0, 5)]),
    ("upsert", [("a", 2, None), ("e", 1, 6)]),
    ("delete", [("b", 1, None)]),
    ("compact", []),
]


@pytest.mark.parametrize(("kind", "names"), sample(product(["MERGE_ON_READ", "COPY_ON_WRITE"], NAMES), 3))
def test_rows_do_not_depend_on_names(spark, tmp_path, kind, names):
    hostile = dict(zip((*ROLES, INNER), names, strict=True))
    twins = Twins(str(tmp_path), hostile, SparkEngine(spark), **{"hoodie.table.type": kind})
    for action, rows in STEPS:
        if action != "compact" or kind == "MERGE_ON_READ":
            twins.run(action, rows)
            twins.check()
    table, renamed = twins.tables[1], twins.names[1]
    frame = hoodie.spark.read(spark, table.base_path, columns=[hostile[role] for role in ROLES])
    assert sorted(frame.toArrow().to_pylist(), key=repr) == sorted(table.read().to_pylist(), key=repr)
    rows = spark.createDataFrame(renamed.table(batch([("a", 9, 9), ("f", 1, 1)])).to_pandas())
    hoodie.spark.write(rows, table.base_path)
    twins.tables[0].write(twins.names[0].table(batch([("a", 9, 9), ("f", 1, 1)])))
    twins.check()
