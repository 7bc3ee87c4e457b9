"""The table that another one follows, on the page of that one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hudi_services.entry.table import Table
from hudi_services.operations.pages.stream import StreamError, followed, follows, stream_dag
from hudi_services.operations.watch.model import Event
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from hudi_services.registry.load import load_registry
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


def test_rows_a_second_of_the_newest_batches_and_the_last_error(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY.format(tmp_path))
    orders, copy, _ = load_registry(file).tables
    assert (stream_dag(orders), stream_dag(copy)) == (None, "hudi_stream__copy")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    counts = {"rows_inserted": 60, "rows_updated": 20, "rows_deleted": None, "seconds": 2.0, "moves_rows": False}
    facts = [{"operation": "UPSERT", **counts}] * 20 + [{"operation": "UPSERT", **counts, "seconds": 900.0}]
    facts[:0] = [{"operation": "COMPACT", **counts, "moves_rows": True}, {"seconds": 1.0}]
    events = [Event(1, "copy", "1", "commit", now, now, True, each) for each in facts]
    error = StreamError("hudi_stream__copy", "run", "no", now.isoformat())
    found = follows(copy, None, events, error)
    assert found is not None
    assert (found.rows_per_second, found.error) == (40, error)
    silent = follows(copy, None)
    assert silent is not None
    assert (silent.rows_per_second, silent.error) == (None, None)
