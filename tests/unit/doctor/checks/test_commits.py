"""A commit that builds on an instant which is not complete: reads give rows twice, and only the doctor can say so."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION
from tests.unit.doctor.test_instant_remedy import EACH, INGEST, LOGS, VERSIONS, Orders, begins

COPIES = pytest.mark.parametrize("orders", [(v, "COPY_ON_WRITE") for v in VERSIONS], indirect=True)


@pytest.fixture
def orders(tmp_path, request):
    return Orders(tmp_path, *request.param)


def found(orders):
    return [each for each in orders.table.diagnose().findings if each.check == "incomplete-base"]


def overwritten(orders):
    """An overwrite, a load that builds on it, and the completed file of the overwrite."""
    orders.run("ingest", "--operation=insert_overwrite", load="overwrite")
    orders.run("ingest", load="later")
    return orders.tear(".replacecommit", left=1)


@EACH
@pytest.mark.parametrize("is_rolled_back", [False, True])
def test_a_load_builds_on_an_overwrite_that_was_moved_aside(orders, is_rolled_back):
    path = overwritten(orders)
    whole = orders.rows()
    path.rename(orders.folder / path.name)
    overwrite = next(i for i in orders.table.timeline.pending)
    if is_rolled_back:
        orders.run("rollback", "--yes", "--instant", overwrite.time)
    last = orders.table.timeline.commits[-1]
    [finding] = found(orders)
    assert finding.what.startswith(f"{last.action} {last.time} builds on {overwrite.time}, which is not complete")
    if not is_rolled_back:
        assert begins(orders.pasted(), ["savepoint create", "restore --savepoint", INGEST, "savepoint delete"])
        assert [row for row in orders.rows() if row in whole] == whole


@EACH
def test_a_torn_file_has_a_finding_of_its_own(orders):
    path = overwritten(orders)
    assert found(orders) == []
    path.write_bytes(path.read_bytes()[:99])
    assert [each.check for each in orders.table.diagnose().findings if each.severity == "damage"] == ["torn-instant"]


@COPIES
def test_a_base_file_has_all_rows_of_the_load_that_it_builds_on(orders):
    orders.run("ingest", load="overwrite")
    path, instant = orders.tear(".commit", left=1), orders.table.timeline.commits[-1].time
    orders.run("ingest", load="later")
    later = orders.table.timeline.commits[-1]
    assert {stat.prev_commit for stat in orders.table.state().commit_metadata(later).stats} == {instant}
    path.rename(orders.folder / path.name)
    assert found(orders) == []
    orders.run("rollback", "--yes", "--instant", instant)
    assert found(orders) == []


@LOGS
@pytest.mark.parametrize("end", ["waits", "is given up", "runs"])
def test_logs_may_name_a_compaction_that_was_planned(orders, end):
    orders.run("ingest", load="update")
    plan = orders.table.schedule(COMPACTION, force=True)
    orders.run("ingest", load="overwrite")
    if end == "is given up":
        orders.run("compact", "--unschedule", plan)
    if end == "runs":
        orders.run("compact")
        orders.run("ingest", load="later")
    assert found(orders) == []
