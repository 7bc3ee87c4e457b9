"""How far a table is verified is kept beside it, and never goes back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import CorruptTableError
from hoodie.storage import storage_of
from hudi_services.sources.cdc.mysql.equality.proof import PATH, Proof, keep_proof, verified_up_to

PROOF = Proof("shop/d.t", "bin.000001:4", "transactions 0-1-1", "20260101000000000", 7, "2026-01-01T10:00:00+00:00")


def test_the_last_proof_stays(tmp_path):
    storage = storage_of(str(tmp_path))
    assert verified_up_to(str(tmp_path)) is None
    assert keep_proof(storage, PROOF)
    later = replace(PROOF, position="bin.000001:9", verified_at="2026-01-01T11:00:00+00:00")
    assert keep_proof(storage, later)
    assert not keep_proof(storage, PROOF)
    assert verified_up_to(str(tmp_path)) == later


def test_of_two_processes_the_later_one_wins(tmp_path, monkeypatch):
    storage = storage_of(str(tmp_path))
    later = replace(PROOF, rows=8, verified_at="2026-01-01T11:00:00+00:00")
    keep_proof(storage, PROOF)
    replaced = type(storage).replace

    def beaten(self, path, old, new):
        monkeypatch.setattr(type(storage), "replace", replaced)
        assert keep_proof(storage, later)
        return replaced(self, path, old, new)

    monkeypatch.setattr(type(storage), "replace", beaten)
    assert not keep_proof(storage, replace(PROOF, rows=9, verified_at="2026-01-01T10:30:00+00:00"))
    assert verified_up_to(str(tmp_path)) == later


def test_another_file_is_refused_and_replaced(tmp_path):
    storage = storage_of(str(tmp_path))
    storage.create(PATH, b"[]")
    with pytest.raises(CorruptTableError, match="cdc verify"):
        verified_up_to(str(tmp_path))
    assert keep_proof(storage, PROOF)
    assert verified_up_to(str(tmp_path)) == PROOF
