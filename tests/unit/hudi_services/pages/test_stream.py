"""The table that another one follows, on the page of that one."""

from __future__ import annotations

from pathlib import Path

from hudi_services.entry.table import Table
from hudi_services.pages.stream import followed, follows
from hudi_services.registry.load import load_registry
from hudi_services.watch.follow import look
from hudi_services.watch.store import SnapshotStore
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

REGISTRY = """\
tables:
  - {{name: orders, base_path: {0}/orders}}
  - {{name: copy, base_path: {0}/copy, keys: {{record_key: id}}, stream: {{table: orders}}}}
  - {{name: far, base_path: {0}/far, keys: {{record_key: id}}, stream: {{path: "{0}/other"}}}}
"""


def test_a_stream_is_as_far_as_its_consumer_of_the_source(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY.format(tmp_path))
    orders, copy, far = load_registry(file).tables
    assert (followed(orders), followed(copy), followed(far)) == (None, "orders", None)
    assert follows(orders, None) is None
    unseen = follows(far, None)
    assert unseen is not None
    assert (unseen.table, unseen.path, unseen.consumer, unseen.looked_at) == (None, f"{tmp_path}/other", None, None)
    clock = FakeClock()
    table = create(tmp_path / "orders", clock)
    table.write(batch([("a", "p", 1, 1)]), options=SMALL_BLOOM)
    table.consumer("stream-copy").reset("latest")
    table.write(batch([("a", "p", 2, 2)]), options=SMALL_BLOOM)
    store = SnapshotStore.open(str(tmp_path / "store.db"), make=True)
    look(Table(name="orders", base_path=str(tmp_path / "orders")), store, clock)
    found = follows(copy, store.table("orders"))
    assert found is not None
    assert found.consumer is not None
    assert (found.read, found.mode, found.consumer.commits_behind) == ("changes", "schedule", 1)
    assert found.looked_at is not None
