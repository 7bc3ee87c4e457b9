"""The same batches through Hudi's writer and ours leave the same rows: ordering, ties, deletes, duplicates, nulls."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.rows import rows

pytestmark = pytest.mark.interop

BASE = [
    ("a", 10, "base"),
    ("b", 10, "base"),
    ("c", 10, "base"),
    ("d", 10, "base"),
    ("e", 10, "base"),
    ("n", None, "base"),
]
# name -> list of (operation, rows of (id, ts, note[, deleted]))
SCENARIOS = {
    "older, tie, newer": [("upsert", [("a", 5, "older"), ("b", 10, "tie"), ("c", 15, "newer"), ("z", 1, "new")])],
    "duplicates in a batch": [
        ("upsert", [("a", 20, "first"), ("a", 30, "greatest"), ("a", 25, "last"), ("y", 2, "y2"), ("y", 1, "y1")])
    ],
    "duplicates that nobody asked to combine": [
        (
            "upsert",
            [
                ("a", 30, "first"),
                ("a", 20, "last"),
                ("b", 20, "first"),
                ("b", 30, "last"),
                ("y", 2, "y2"),
                ("y", 1, "y1"),
            ],
        )
    ],
    "delete by key, lower ordering": [("delete", [("a", 1, ""), ("b", 99, ""), ("unknown", 5, "")])],
    "soft deletes": [("upsert", [("a", 5, "", True), ("b", 10, "", True), ("c", 15, "", True), ("w", 1, "", True)])],
    "insert after delete": [("delete", [("a", 99, "")]), ("upsert", [("a", 1, "again")])],
    "delete and insert in a batch": [
        ("upsert", [("a", 20, "", True), ("a", 30, "back"), ("b", 30, "", True), ("b", 20, "gone")])
    ],
    "null against value": [("upsert", [("a", None, "null"), ("n", 5, "value")])],
}
MODES = {
    "9 event": ("9", "EVENT_TIME_ORDERING"),
    "9 commit": ("9", "COMMIT_TIME_ORDERING"),
    "6 event": ("6", "EVENT_TIME_ORDERING"),
    "6 commit": ("6", "COMMIT_TIME_ORDERING"),
}
PAYLOADS = {
    "EVENT_TIME_ORDERING": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
    "COMMIT_TIME_ORDERING": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
}


def batch(entries):
    entries = [entry if len(entry) == 4 else (*entry, False) for entry in entries]
    ids, ts, note, deleted = zip(*entries, strict=True)
    return pa.table(
        {
            "id": pa.array(ids),
            "ts": pa.array(ts, pa.int64()),
            "note": pa.array(note),
            "_hoodie_is_deleted": pa.array(deleted, pa.bool_()),
        }
    )


def hudi_options(version, mode):
    options = {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.metadata.enable": "false",
    }
    if version == "9":
        options["hoodie.write.record.merge.mode"] = mode
    else:
        options["hoodie.datasource.write.payload.class"] = PAYLOADS[mode]
    return options


def outcome(run):
    """Rows after a run, or that it failed: what one writer refuses the other must not let through silently."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001 - a refusal is an outcome too
        return f"refused: {str(error)[:200]}"


@pytest.mark.format("7.1a", "7.1b", "7.3c", "14f", "14g")
@pytest.mark.parametrize(("mode", "peer"), [(mode, "hudi15" if mode[0] == "6" else "hudi12") for mode in MODES])
def test_same_rows_as_hudi(tmp_path, recorded, mode, peer):
    version, ordering = MODES[mode]
    hudi = recorded(peer)
    differences = {}
    for name, steps in SCENARIOS.items():
        if "nobody" in name and version == "6":  # Hudi 0.x then takes the last of the batch, however old it is
            continue
        base = [entry for entry in BASE if entry[1] is not None or "null" in name]
        folder = tmp_path / name.replace(" ", "_").replace(",", "")
        extra = {"hoodie.combine.before.upsert": "false"} if "nobody" in name else {}

        def theirs(base=base, folder=folder, steps=steps, extra=extra):
            path = folder / "theirs"
            options = hudi_options(version, ordering) | extra
            hudi.write(path, batch(base), {**options, "hoodie.datasource.write.operation": "upsert"}, "overwrite")
            for operation, entries in steps:
                hudi.write(path, batch(entries), {**options, "hoodie.datasource.write.operation": operation})
            return rows(hudi.read(path), ["id", "ts", "note"])

        def ours(base=base, folder=folder, steps=steps, extra=extra):
            options = {
                "hoodie.table.name": "trips",
                "hoodie.table.recordkey.fields": "id",
                "hoodie.table.ordering.fields": "ts",
                "hoodie.record.merge.mode": ordering,
                "hoodie.write.table.version": version,
            }
            table = HoodieTable.create(str(folder / "ours"), options)
            table.write(batch(base), "upsert")
            for operation, entries in steps:
                table.write(batch(entries), operation, extra)
            return rows(table.read(), ["id", "ts", "note"])

        left, right = outcome(theirs), outcome(ours)
        if left != right and not (isinstance(left, str) and isinstance(right, str)):  # both refused
            differences[name] = {"hudi": left, "ours": right}
    assert not differences, "\n".join(f"{n}\n  hudi {d['hudi']}\n  ours {d['ours']}" for n, d in differences.items())
