"""The findings of the doctor that pages show: those of the last round, and of the last deep one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hoodie.doctor.catalogue import DUPLICATE_KEYS, MARKERS, MISSING_FILE
from hoodie.doctor.finding import Diagnosis
from hudi_services.operations.doctor.rounds import TableDiagnosis
from hudi_services.operations.watch.findings import keep_round, last_round
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from tests.support.advice import NOW
from tests.support.registered import registered

MISSING = MISSING_FILE.finding("A file is missing", "restore it")
TWICE = DUPLICATE_KEYS.finding("A key is there twice", "delete it")
LEFT = MARKERS.finding("Markers are left", "remove them")


@pytest.fixture
def registry(tmp_path):
    return read_registry(registered(tmp_path, {"name": "orders"}, {"name": "trips"})).registry


def keep(registry, *findings, minutes=0, deep=False, name="orders"):
    diagnosis = TableDiagnosis(name, Diagnosis("", findings, {}))
    keep_round(registry, [diagnosis], NOW + timedelta(minutes=minutes), deep=deep)


def shown(registry, name="orders"):
    with SnapshotStore.open(store_of(registry)) as store:
        found = last_round(store, name, registry.table(name).base_path)
    return found and [(damage.check, (damage.looked_at - NOW).seconds // 60) for damage in found.damages]


def test_the_newest_round_counts_and_deep_findings_stay_until_a_deep_one(registry):
    SnapshotStore.open(store_of(registry), make=True).close()
    assert shown(registry) is None
    keep(registry, MISSING, LEFT, name="trips")
    keep(registry, LEFT, TWICE, deep=True)
    assert shown(registry) == [("markers", 0), ("duplicate-keys", 0)]
    keep(registry, MISSING, minutes=5)
    assert sorted(shown(registry)) == [("duplicate-keys", 0), ("missing-file", 5)]
    keep(registry, minutes=7)
    assert shown(registry) == [("duplicate-keys", 0)]
    keep(registry, minutes=9, deep=True)
    assert shown(registry) == []
    assert shown(registry, "trips") == [("missing-file", 0), ("markers", 0)]


def test_without_a_store_nothing_is_kept(registry, tmp_path):
    keep(registry, MISSING)
    assert not (tmp_path / ".watch").exists()


def test_a_table_that_lies_elsewhere_now_has_had_no_round(registry):
    with SnapshotStore.open(store_of(registry), make=True) as store:
        keep(registry, MISSING)
        assert last_round(store, "orders", "/lake/elsewhere") is None
        keep(registry, MISSING, name="of no registry")
        assert last_round(store, "of no registry", "") is None
