"""The demo, as a new user runs it; its table, as other readers see it."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hudi_services.demo.land import expected
from tests.e2e.conftest import FIRST, LAST, Demo
from tests.interop import peer_env
from tests.interop.peer import HudiPeer

pytestmark = pytest.mark.e2e
_KEY = ("carrier", "flight", "origin", "planned_departure")


def _sorted(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in _KEY]).combine_chunks()


def test_the_demo_says_what_it_did(demo: Demo) -> None:
    assert demo.exit_code == 0, demo.output
    for text in (
        "Backfill of hudi_ingest__flights",
        "rows inserted",
        "Steps",
        "hudi_compact__flights_live, started by these loads",
        "hudi_bootstrap__flights_history, the plain table becomes a Hudi table",
        "11 of 13 file groups still have their rows in the files of the plain table",
        "All three tables hold exactly what the feed says",
        "/plugin/hudi",
    ):
        assert text in demo.output


def test_each_day_of_the_backfill_was_loaded_by_its_own_run(demo: Demo) -> None:
    commits = HoodieTable.open(demo.copy).timeline.commits
    assert len(commits) == (LAST - FIRST) // timedelta(days=1) + 1


def test_hudi_rs_reads_the_demos_rows(demo: Demo) -> None:
    from hudi import HudiTableBuilder

    wanted = expected(FIRST, LAST)
    found = pa.Table.from_batches(HudiTableBuilder.from_base_uri(demo.copy).build().read())
    assert _sorted(found.select(wanted.column_names).cast(wanted.schema)).equals(_sorted(wanted))


@pytest.mark.deep("hudi-rs reads them here, and tests of interop have Hudi read tables of this kind")
def test_apache_hudi_reads_the_demos_rows(demo: Demo) -> None:
    wanted = expected(FIRST, LAST)
    peer_env.ensure()
    hudi = HudiPeer("1.2.0")
    try:
        found = hudi.read(demo.copy)
    finally:
        hudi.stop()
    assert _sorted(found.select(wanted.column_names).cast(wanted.schema)).equals(_sorted(wanted))
