"""Indexes: Hudi 1.2.0 and we write one table in turns, with the same index; no key stands twice."""

from __future__ import annotations

import pytest

from tests.interop.test_cow import hudi_options
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.interop

FIRST = [("a", "p", 10, 1), ("b", "p", 10, 1), ("c", "q", 10, 1), ("d", "p", 10, 1)]
STEPS = [
    ("upsert", [("a", "q", 20, 2), ("b", "q", 5, 2), ("c", "q", 20, 2), ("n", "q", 1, 2)]),
    ("delete", [("c", "p", 1, 9)]),
    ("upsert", [("d", "q", 10, 3), ("n", "p", 0, 3)]),
    ("upsert", [("a", "p", 30, 4), ("c", "p", 1, 5)]),
    ("upsert", [("a", "r", 31, 6), ("x", "p", 5, 5), ("x", "q", 7, 6)]),
    ("delete", [("a", "p", 31, 6)]),
    ("upsert", [("a", "q", 2, 7), ("c", "q", 2, 7)]),
]
LAST = {"a": ("q", 2, 7), "b": ("p", 10, 1), "c": ("q", 2, 7), "d": ("q", 10, 3), "n": ("q", 1, 2), "x": ("q", 7, 6)}


def seen(rows, partitions=True):
    """Without `partitions`: Hudi shows those of the folder, where its own rows may name others."""
    found = {row["id"]: (row["part"] if partitions else "", row["ts"], row["value"]) for row in rows.to_pylist()}
    assert len(found) == rows.num_rows, "a key stands more than once"
    return found


def hudis(table, operation, **more):
    own = {"hoodie.datasource.write.operation": operation, "hoodie.clean.automatic": "false"}
    return hudi_options(table, True) | own | more


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("moves", ["true", "false"])
def test_global_simple_in_turns(tmp_path, hudi12, kind, version, moves):
    options = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": moves}
    for first in range(2):
        name = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
        table = create(tmp_path / str(first), **name)
        table.write(batch(FIRST), "upsert", {**SMALL_BLOOM, **options})
        for number, (operation, rows) in enumerate(STEPS):
            if number % 2 == first:
                table.write(batch(rows), operation, {**SMALL_BLOOM, **options})
            else:
                hudi12.write(table.base_path, batch(rows), hudis(table, operation, **options))
            theirs = hudi12.read(table.base_path)
            assert seen(table.read(), moves == "true") == seen(theirs, moves == "true"), number
        assert moves == "false" or seen(theirs) == LAST
