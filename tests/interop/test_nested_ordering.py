"""Ordering fields inside structs: of two rows Hudi and we keep the same one, and go on with each other's logs and deletions."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.peer import PeerError

pytestmark = pytest.mark.interop

META = pa.struct([("name", pa.string()), ("deep", pa.struct([("ts", pa.int64())]))])


def rows(*entries):
    """One row for each (id, number in the struct, plain number, it is a deletion)."""
    ids, inside, plain, gone = zip(*entries, strict=True)
    return pa.table(
        {
            "id": ids,
            "meta": pa.array([{"name": f"n{ts}", "deep": {"ts": ts}} for ts in inside], META),
            "n": pa.array(plain, pa.int32()),
            "_hoodie_is_deleted": pa.array(gone, pa.bool_()),
        }
    )


FIRST = rows(*((key, 5, 5, False) for key in "abcdef"), ("f", 5, 4, False), ("f", 4, 9, False))
SECOND = rows(("a", 4, 9, False), ("b", 5, 6, False), ("c", 5, 4, False), ("d", 6, 0, True), ("e", 4, 9, True))
THIRD = rows(("a", 5, 5, False), ("d", 5, 9, False), ("e", 6, 0, False), ("f", 9, 9, True))


_DEEP = pytest.mark.deep("the same path with another table version or type")


def held(table):
    columns = table.select(["id", "meta", "n"]).to_pylist()
    return sorted((row["id"], row["meta"]["deep"]["ts"], row["n"]) for row in columns)


def options(kind, version, ordering):
    return {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.precombine.field": ordering,
        "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.write.table.version": version,
    }


@pytest.mark.format("7.3h")
@pytest.mark.parametrize(
    ("kind", "version", "peer", "ordering"),
    [
        ("MERGE_ON_READ", "9", "hudi12", "meta.deep.ts,n"),
        pytest.param("COPY_ON_WRITE", "9", "hudi12", "meta.deep.ts,n", marks=_DEEP),
        pytest.param("MERGE_ON_READ", "8", "hudi12", "meta.name,n", marks=_DEEP),
        ("MERGE_ON_READ", "6", "hudi15", "meta.deep.ts"),
    ],
)
def test_the_same_rows_stay(tmp_path, request, recorded, kind, version, peer, ordering):
    given = options(kind, version, ordering)
    theirs = {
        **given,
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.logfile.data.block.format": "avro",
        "hoodie.metadata.enable": "false",
    }
    hudis, batches = recorded(peer), [FIRST, SECOND]
    if version == "6":  # 0.15.0 forgets the ordering values of its deletions
        batches = [FIRST.slice(0, 6), SECOND.slice(0, 3)]
    for number, batch in enumerate(batches):
        hudis.write(tmp_path / "theirs", batch, theirs, "append" if number else "overwrite")
    table = HoodieTable.open(hudis.table(tmp_path / "theirs"))
    assert held(table.read()) == held(hudis.read(tmp_path / "theirs"))
    if version == "8":
        return  # we do not create tables of this version
    ours = HoodieTable.create(str(tmp_path / "ours"), given)
    for batch in batches:
        ours.write(batch)
    assert held(ours.read()) == held(table.read())
    hudi = request.getfixturevalue(peer)
    hudi.write(tmp_path / "ours", THIRD, theirs)
    table.write(THIRD)
    assert held(ours.read()) == held(hudi.read(tmp_path / "ours"))
    if version == "9":
        assert held(ours.read()) == held(table.read())


@pytest.mark.format("7.3h")
def test_hudi_refuses_a_null_struct_too(tmp_path, recorded):
    hudi = recorded("hudi12")
    none = FIRST.set_column(1, "meta", pa.array([None] * FIRST.num_rows, META))
    given = {**options("COPY_ON_WRITE", "9", "meta.deep.ts"), "hoodie.metadata.enable": "false"}
    with pytest.raises(PeerError, match="Cannot find a record at part value :meta"):
        hudi.write(tmp_path / "t", none, {**given, "hoodie.datasource.write.operation": "upsert"}, "overwrite")
