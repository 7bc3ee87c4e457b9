"""Each merge rule, both ways: the same history written by Hudi and by us, then read by both, before and after a compaction.

The ids of the tests name the row of format notes, section 7, that they prove.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.errors import UnsupportedTableError
from tests.interop.recording import RecordedPeer
from tests.interop.rows import rows
from tests.interop.test_compaction import call as hudi_compaction
from tests.support.matrix import diagonal, sample

pytestmark = pytest.mark.interop

MODEL = "org.apache.hudi.common.model."
TOAST = "__debezium_unavailable_value"
PARTIAL, UNAVAILABLE = "hoodie.table.partial.update.mode", "hoodie.write.partial.update.unavailable.value"
FIELD, MARKER = "hoodie.payload.delete.field", "hoodie.payload.delete.marker"
MODE = "hoodie.record.merge.mode"


@dataclass(frozen=True)
class Rule:
    """A merge rule: Hudi's options for it, and ours. With `hudi` None only we create tables with it."""

    ours: dict[str, str]
    hudi: dict[str, str] | None = None
    ordering: str = "ts"
    kind: str = "I"  # spelling of the operation column: "I" I, U, D; "i" i, u, d
    late_after_delete: bool = (
        True  # whether rows and deletions come late to one another: 0.15.0 forgets the ordering of deletions
    )
    columns: tuple[str, ...] = field(default=("id", "ts", "a", "b"))


def payload(name: str, ordering: str = "ts", **more: object) -> Rule:
    option = {"hoodie.datasource.write.payload.class": MODEL + name}
    return Rule(option, option, ordering, **more)


def mode(name: str, **options: str) -> Rule:
    return Rule({MODE: name, **options})


COMMIT, EVENT = "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"
MARK = {FIELD: "Op", MARKER: "D"}
NINE = {
    "7.1a Overwrite": payload("OverwriteWithLatestAvroPayload"),
    "7.1b Default": payload("DefaultHoodieRecordPayload"),
    "7.1b EventTime": payload("EventTimeAvroPayload"),
    "7.1c NonDefaults": payload("OverwriteNonDefaultsWithLatestAvroPayload"),
    "7.1d PartialUpdate": payload("PartialUpdateAvroPayload"),
    "7.1e AWSDms": payload("AWSDmsAvroPayload"),
    "7.1f MySqlDebezium": payload("debezium.MySqlDebeziumAvroPayload", "_event_bin_file,_event_pos", kind="i"),
    "7.1g PostgresDebezium": payload("debezium.PostgresDebeziumAvroPayload", "_event_lsn", kind="i"),
    "7.1h none": Rule({}, {}),
    "7.2a IGNORE_DEFAULTS, event time": mode(EVENT, **{PARTIAL: "IGNORE_DEFAULTS"}),
    "7.2a IGNORE_DEFAULTS, commit time": mode(COMMIT, **{PARTIAL: "IGNORE_DEFAULTS"}),
    "7.2b FILL_UNAVAILABLE, event time": mode(EVENT, **{PARTIAL: "FILL_UNAVAILABLE", UNAVAILABLE: TOAST}),
    "7.2b FILL_UNAVAILABLE, commit time": mode(COMMIT, **{PARTIAL: "FILL_UNAVAILABLE", UNAVAILABLE: TOAST}),
    "7.2a 7.3d IGNORE_DEFAULTS, marker": mode(EVENT, **{PARTIAL: "IGNORE_DEFAULTS"}, **MARK),
    "7.3d marker, event time": Rule({MODE: EVENT, **MARK}, MARK),
    "7.3d marker, commit time": Rule({MODE: COMMIT, **MARK}, {"hoodie.write.record.merge.mode": COMMIT, **MARK}),
}
OLDER = {
    "7.1a Overwrite": payload("OverwriteWithLatestAvroPayload"),
    "7.1b Default": payload("DefaultHoodieRecordPayload"),
    "7.1c NonDefaults": payload("OverwriteNonDefaultsWithLatestAvroPayload"),
    "7.1d PartialUpdate": payload("PartialUpdateAvroPayload"),
    "7.1e AWSDms": payload("AWSDmsAvroPayload", late_after_delete=False),
}
SIX = {
    **OLDER,
    "7.1g PostgresDebezium": payload("debezium.PostgresDebeziumAvroPayload", "_event_lsn", late_after_delete=False),
}

# (id, ts, a, b, operation): updates in order, late and equal ones, nulls and toasts, deletions, a key that comes again
BATCHES = [
    [(f"k{i}", 10, None if i == 6 else "x", None if i == 7 else 1, "I") for i in range(1, 14)],
    [
        ("k1", 20, None, 2, "U"),
        ("k2", 5, "y", None, "U"),
        ("k3", 20, None, 2, "U"),
        ("k4", 5, None, 2, "U"),
        ("k5", 20, "y", 2, "D"),
        ("k6", 5, "y", 2, "U"),
        ("k7", 5, "y", 2, "U"),
        ("k8", 20, TOAST, 2, "U"),
        ("k9", 30, None, 3, "U"),
        ("k10", 10, None, 4, "U"),
        ("k11", 5, "gone?", 4, "D"),
        ("k12", 20, "gone", 4, "D"),
    ],
    [
        ("k1", 30, "z", None, "U"),
        ("k2", 40, None, None, "U"),
        ("k3", 15, "z", 5, "U"),
        ("k4", 20, "zz", None, "U"),
        ("k5", 15, "late", 3, "U"),
        ("k6", 20, None, None, "U"),
        ("k8", 15, "q", None, "U"),
        ("k9", 20, "late", None, "D"),
        ("k12", 30, None, 5, "I"),
        ("n1", 5, None, 5, "I"),
    ],
    [("n1", 3, "w", None, "U"), ("k3", 15, "zz", None, "U"), ("k8", 40, TOAST, 9, "U"), ("k13", 50, None, None, "U")],
]


def batches(rule: Rule) -> list[pa.Table]:
    made = []
    for number, entries in enumerate(BATCHES):
        if not rule.late_after_delete:
            entries = [e for e in entries if not (number >= 2 and e[0] in ("k5", "k9")) and e[2] != "gone?"]
        ids, ts, a, b, operations = zip(*entries, strict=True)
        times = pa.array(ts, pa.int64())
        spelled = pa.array(operations if rule.kind == "I" else [each.lower() for each in operations])
        made.append(
            pa.table(
                {
                    "id": pa.array(ids),
                    "ts": times,
                    "a": pa.array(a, pa.string()),
                    "b": pa.array(b, pa.int64()),
                    "Op": spelled,
                    "_change_operation_type": spelled,
                    "_event_lsn": times,
                    "_event_bin_file": pa.array(["mysql.000001"] * len(ids)),
                    "_event_pos": times,
                }
            )
        )
    return made


def hudi_options(rule: Rule, version: str, kind: str) -> dict[str, str]:
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.precombine.field": rule.ordering,
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.metadata.enable": "false",
        "hoodie.compact.inline": "false",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
    }
    return options | (rule.hudi or {})


def create(path, rule: Rule, version: str, kind: str) -> HoodieTable:
    options = {
        "hoodie.table.name": "t",
        "hoodie.table.type": kind,
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.ordering.fields": rule.ordering,
        "hoodie.write.table.version": version,
        **rule.ours,
    }
    return HoodieTable.create(str(path), options)


def seen(rule: Rule, table: pa.Table) -> list[tuple]:
    return rows(table, list(rule.columns))


def by_hudi(hudi: RecordedPeer, path, rule: Rule, version: str, kind: str) -> HoodieTable:
    for number, batch in enumerate(batches(rule)):
        hudi.write(path, batch, hudi_options(rule, version, kind), "append" if number else "overwrite")
    return HoodieTable.open(hudi.table(path))


def by_us(path, rule: Rule, version: str, kind: str) -> HoodieTable:
    ours = create(path, rule, version, kind)
    for batch in batches(rule):
        ours.write(batch, "upsert")
    return ours


def both_ways(hudi, recorded, tmp_path, rule: Rule, version: str, kind: str, *, create_ours: bool = True) -> None:
    """The rows that both histories leave, for both readers, are the same before and after the other's compaction."""
    logs = kind == "MERGE_ON_READ"
    tables = [by_us(tmp_path / f"ours_{kind}", rule, version, kind)] if create_ours else []
    readers = [hudi] * len(tables)
    if rule.hudi is not None:
        tables.append(by_hudi(recorded, tmp_path / f"theirs_{kind}", rule, version, kind))
        readers.append(recorded)
    expected = seen(rule, tables[0].read())
    for table, reader in zip(tables, readers, strict=True):
        who = table.base_path.rpartition("/")[2]
        assert seen(rule, table.read()) == expected, f"we read {who}"
        assert seen(rule, reader.read(table.base_path)) == expected, f"Hudi reads {who}"
    if not logs:
        return
    for number, table in enumerate(tables):
        if number == 0 and create_ours and "," not in rule.ordering:  # its SQL takes one ordering field
            hudi_compaction(hudi, table, "scheduleAndExecute")
        else:
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
        who = table.base_path.rpartition("/")[2]
        assert not any(file_slice.log_files for file_slice in table.file_slices()), who
        assert seen(rule, hudi.read(table.base_path)) == expected, f"Hudi reads {who}, compacted"
        assert seen(rule, table.read()) == expected, f"we read {who}, compacted"


KINDS = ["MERGE_ON_READ", "COPY_ON_WRITE"]


@pytest.mark.format("7.1a", "7.1b", "7.1c", "7.1d", "7.1e", "7.1f", "7.1g", "7.1h", "7.2a", "7.2b", "7.3d")
@pytest.mark.parametrize(("row", "kind"), diagonal(NINE, KINDS))
def test_version_9(tmp_path, hudi12, recorded, row, kind):
    both_ways(hudi12, recorded("hudi12"), tmp_path, NINE[row], "9", kind)


@pytest.mark.format("7.1a", "7.1b", "7.1c", "7.1d", "7.1e")
@pytest.mark.parametrize(("row", "kind"), sample(product(OLDER, KINDS), 2, 7))
def test_version_8(tmp_path, hudi12, recorded, row, kind):
    both_ways(hudi12, recorded("hudi12"), tmp_path, OLDER[row], "8", kind, create_ours=False)


@pytest.mark.format("7.1a", "7.1b", "7.1c", "7.1d", "7.1e", "7.1g")
@pytest.mark.parametrize(("row", "kind"), diagonal(SIX, KINDS[::-1]))
def test_version_6(tmp_path, hudi15, recorded, row, kind):
    both_ways(hudi15, recorded("hudi15"), tmp_path, SIX[row], "6", kind)


@pytest.mark.format("7.1i")
@pytest.mark.parametrize("version", ["9", "8"])
def test_row_7_1i_refused(tmp_path, recorded, version):
    """A class of its own that Hudi's bundle has, but no rule: Hudi reads the table, we refuse it by name."""
    rule = payload("ReverseOrderHoodieRecordPayload")
    with pytest.raises(UnsupportedTableError, match="ReverseOrderHoodieRecordPayload"):
        by_hudi(recorded("hudi12"), tmp_path / "t", rule, version, "MERGE_ON_READ").read()


@pytest.mark.format("7.3e")
def test_row_7_3e_operation(tmp_path, hudi12):
    """Rows of logs whose `_hoodie_operation` is D are deletions; those with U, I, -U are rows."""
    rule = Rule({MODE: EVENT}, None)
    ours = create(tmp_path / "t", rule, "9", "MERGE_ON_READ")

    def batch(ids, ts, operations):
        columns = {"id": ids, "ts": pa.array(ts, pa.int64()), "a": ids, "b": pa.array(ts, pa.int64())}
        return pa.table({**columns, "_hoodie_operation": operations})

    ours.write(batch(list("abcd"), [10] * 4, ["I"] * 4), "upsert")
    ours.write(batch(list("abcd"), [20, 20, 5, 20], ["D", "U", "D", "I"]), "upsert")
    assert [row[0] for row in seen(rule, ours.read())] == ["b", "c", "d"]
    assert seen(rule, hudi12.read(ours.base_path)) == seen(rule, ours.read())
    hudi_compaction(hudi12, ours, "scheduleAndExecute")
    assert seen(rule, hudi12.read(ours.base_path)) == seen(rule, ours.read())
