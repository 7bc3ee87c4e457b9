"""The report of a purge names what is left, and no value."""

from __future__ import annotations

from hoodie import Purge
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

PERSON = "person-4711"


def test_a_text_that_no_step_rewrites_is_named(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([(PERSON, "p", 1, 1)]), "upsert", SMALL_BLOOM, extra_metadata={"note": f"asked by {PERSON}"})
    purge = Purge(f"id = '{PERSON}'")
    done = table.run(purge)
    message, instant = purge.report(done)
    (trace,) = done.left.left
    assert trace.path.startswith(".hoodie/timeline/")
    assert message == f"1 row deleted; not everything is erased: {trace.path} holds a text in its bytes"
    assert instant is None
    assert not done.is_erased
    assert PERSON not in message
    assert trace.path in str(done.shown().rows)
