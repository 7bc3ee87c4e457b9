"""The watcher notes how far tables of database servers were verified."""

from __future__ import annotations

import pytest

from hoodie.clock import SystemClock
from hudi_services.entry.source import DatabaseSource
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from hudi_services.sources.cdc.mysql.equality.proof import PATH, Proof, keep_proof
from tests.support.tables import create
from tests.support.watched import entry

PROOF = Proof("shop/shop.orders", "bin.000001:4", "", "20261126000000000", 7, "2026-11-26T00:00:00+00:00")


@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_proof_of_a_table_of_a_server_is_noted(tmp_path, is_loaded):
    table = create(tmp_path / "orders", SystemClock())
    source = DatabaseSource(server="shop", table="shop.orders") if is_loaded else None
    declared = entry(table).model_copy(update={"source": source})
    store = SnapshotStore.open(str(tmp_path / "store.db"), make=True)
    assert keep_proof(table.storage, PROOF)
    look(declared, store, SystemClock())
    (seen,) = store.fleet()
    assert (seen.verified_at, seen.verified_position) == (
        (PROOF.verified_at, PROOF.position) if is_loaded else ("", "")
    )
    (tmp_path / "orders" / PATH).write_text("{")
    look(declared, SnapshotStore.anew(str(tmp_path / "store.db")), SystemClock())
    (seen,) = store.fleet()
    assert (seen.health, seen.verified_at) == ("ok", "")
