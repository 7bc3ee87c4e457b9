"""The report of a purge names what is left, and no value."""

from __future__ import annotations

from hoodie import HoodieTable, Purge
from hoodie.engine import LocalEngine
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.storage import walk_files
from tests.support.clock import FakeClock
from tests.support.sources import SMALL, TABLE, put
from tests.support.tables import SMALL_BLOOM, batch, create

PERSON = "person-4711"


def test_a_text_that_no_step_rewrites_is_named(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([(PERSON, "p", 1, 1)]), "upsert", SMALL_BLOOM, extra_metadata={"note": f"asked by {PERSON}"})
    purge = Purge(f"id = '{PERSON}'")
    done = table.run(purge)
    message, instant = purge.report(done)
    (trace,) = done.remaining.unhandled
    assert trace.path.startswith(".hoodie/timeline/")
    kept = ".hoodie/.purge keeps the keys until a run erases everything"
    assert message == f"1 row deleted; not everything is erased: {trace.path} holds a text in its bytes; {kept}"
    assert instant is None
    assert not done.is_erased
    assert PERSON not in message
    assert trace.path in str(done.shown().rows)


def test_the_source_of_a_bootstrap_is_named(tmp_path):
    put(tmp_path / "s", "part=p1/a.parquet", [PERSON, "b"])
    request = BootstrapRequest(str(tmp_path / "t"), TABLE, {"hoodie.bootstrap.base.path": str(tmp_path / "s"), **SMALL})
    run_bootstrap(request, FakeClock(), LocalEngine(1))
    table, purge = HoodieTable.open(tmp_path / "t"), Purge(f"id = '{PERSON}'")
    assert f"{tmp_path}/s, is not searched" in table.explain(purge).as_text("purge")
    message, _ = purge.report(table.run(purge))
    assert message.endswith(f"found nothing more; {tmp_path}/s, the source of the bootstrap, was not searched")
    assert table.read()["id"].to_pylist() == ["b"]
    assert PERSON.encode() in (tmp_path / "s" / "part=p1" / "a.parquet").read_bytes()


def test_a_grace_time_of_cleans_keeps_nothing_of_a_purge(tmp_path):
    """A properties file is for all services of a table. Files that a purge removes are not set aside."""
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([(PERSON, "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert table.run(Purge("value = 1"), {"hoodie.delete.grace.hours": 24}).is_erased
    assert not list(walk_files(table.storage, ".hoodie/.deleted"))
