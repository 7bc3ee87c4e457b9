"""Checksums of chunks notice each difference that a weak checksum hides."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.equality.chunks import SHA2, digests, row_hash, server_sums
from hudi_services.sources.cdc.mysql.snapshot import snapshot
from tests.support.binlog import DECLARED

TABLE = DeclaredTable(
    "d",
    "t",
    tuple(LoggedColumn(Code.LONG if name == "id" else Code.VARCHAR, 9, name) for name in ("id", "v", "w")),
    ("id",),
    {},
)
ROWS = [(number, f"v{number}", f"w{number}") for number in range(50)]


def sums(rows, names=("id", "v", "w")):
    columns = zip(*rows, strict=True) if rows else [[]] * 3
    batch = pa.record_batch(
        [
            pa.array(values, pa.int32() if name == "id" else pa.string())
            for name, values in zip(names, columns, strict=True)
        ],
        list(names),
    )
    with digests(TABLE, ("id",)) as computed:
        return computed.sums([batch.slice(0, 20), batch.slice(20)])


def changed(*rows):
    by_key = {row[0]: row for row in ROWS} | {row[0]: row for row in rows}
    return list(by_key.values())


@pytest.mark.parametrize(
    "rows",
    [
        changed((1, "v2", "w1"), (2, "v1", "w2")),  # two rows exchange a value: the XOR of their CRCs stays
        changed((1, "w1", "v1")),
        changed((1, None, "w1")),
        changed((1, "", "w1")),
        changed((1, "v1w", "1")),
        [*ROWS, ROWS[1]],
        [*ROWS, ROWS[1], ROWS[1]],  # the XOR of a pair is nothing
        [*ROWS[1:], ROWS[1]],
        [*ROWS[2:], ROWS[7], ROWS[7]],
        ROWS[1:],
        [],
    ],
)
def test_each_difference_is_noticed_in_its_chunk_alone(rows):
    found = sums(ROWS).differing(sums(rows))
    keys = {row[0] for row in set(ROWS) ^ set(rows)} | {row[0] for row in rows if rows.count(row) > 1}
    with digests(TABLE, ("id",)) as computed:
        batch = pa.record_batch([pa.array(sorted(keys), pa.int32())], ["id"])
        assert found.tolist() == np.unique(computed.chunks(batch)).tolist()


def test_moved_nulls_are_noticed_and_the_order_of_columns_does_not_count():
    one = changed((1, None, "x"), (2, "x", None))
    assert len(sums(one).differing(sums(changed((1, "x", None), (2, None, "x"))))) == 2
    reordered = [(row[0], row[2], row[1]) for row in one]
    assert not len(sums(one).differing(sums(reordered, ("id", "w", "v"))))


@pytest.mark.process
def test_chunks_of_a_server_do_not_depend_on_its_collations(server):
    """To the server these keys are in another order, and most of them are equal in pairs of a unique index of one column."""
    server.run(
        "CREATE DATABASE chunks",
        "CREATE TABLE chunks.t (a VARCHAR(20) COLLATE utf8mb4_general_ci, b INT, c VARCHAR(20) CHARACTER SET latin1, v DOUBLE, "
        "PRIMARY KEY (c, b, a))",
        "USE chunks",
        "INSERT INTO t SELECT IF(seq % 2, 'Ä ', 'a'), seq, IF(seq % 3, 'é', 'E'), seq / 7 FROM seq_1_to_500",
        "CREATE TABLE chunks.empty (id INT PRIMARY KEY)",
    )
    for name, count, hash_function in (("t", 500, None), ("t", 500, SHA2), ("empty", 0, None)):
        with snapshot("shop", DECLARED, {"AIRFLOW_CONN_SHOP": server.url}, "chunks", name) as found:
            hash_function = hash_function or row_hash(found.connection)
            of_server = server_sums(found, found.table.key, hash_function)
            with digests(found.table, found.table.key, hash_function) as computed:
                of_arrow = computed.sums(found.rows)
        assert (of_server.total, of_arrow.total, of_server.differing(of_arrow).tolist()) == (count, count, [])
        assert np.count_nonzero(of_server.rows) == len(set(of_server.rows.nonzero()[0])) > count * 0.9 - 1
