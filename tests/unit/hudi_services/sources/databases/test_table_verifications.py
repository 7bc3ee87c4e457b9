"""The last comparison of each table stays until the table is compared again."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError
from hoodie.storage import open_storage
from hudi_services.sources.cdc.cuts import Cut
from hudi_services.sources.databases.table_verifications import TableVerification, VerificationStore, left_out


def test_tables_that_are_left_out_keep_their_last_comparison(tmp_path):
    store = VerificationStore(open_storage(str(tmp_path)), "shop")
    assert (store.latest().number, store.latest().tables) == (0, {})
    first = [TableVerification(name, "equal", 1, "bin.000001:4", "2026", 5) for name in ("b.t", "b.u")]
    store.put(store.latest().followed_by(first))
    left = left_out("b.t", Cut(2, "bin.000001:9", "", ""), "it is behind")
    assert (left.state, left.cut, left.reason) == ("left", 2, "it is behind")
    store.put(store.latest().followed_by([left, TableVerification("b.u", "differs", 2, "bin.000001:9", "2027", 5, 1)]))
    assert {name: (one.state, one.cut) for name, one in store.latest().tables.items()} == {
        "b.t": ("equal", 1),
        "b.u": ("differs", 2),
    }
    (tmp_path / "shop/verifications/0000000003.json").write_text('{"tables": {"b.t": {"table": 5}}}')
    with pytest.raises(CorruptTableError, match="delete the file"):
        store.latest()
