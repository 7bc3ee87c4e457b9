"""A bootstrap that goes on after a kill, with options or a source that may have changed."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import TableExistsError
from hoodie.model.names import FULL_BOOTSTRAP
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from tests.support.clock import FakeClock
from tests.support.sources import SMALL, TABLE, put

ENGINE = LocalEngine(1)


def request(tmp_path, regex):
    options = {
        "hoodie.bootstrap.base.path": str(tmp_path / "source"),
        "hoodie.bootstrap.mode.selector.regex": regex,
        **SMALL,
    }
    return BootstrapRequest(str(tmp_path / "table"), TABLE, options)


@pytest.fixture
def table(tmp_path):
    """Killed between its commits: the rows of p1 stay in the source, those of p2 were to be copied."""
    for part in ("p1", "p2"):
        put(tmp_path / "source", f"part={part}/a.parquet", ["a", "b"])
    run_bootstrap(request(tmp_path, "part=p1"), FakeClock(), ENGINE)
    table = HoodieTable.open(str(tmp_path / "table"), engine=ENGINE, clock=FakeClock())
    for file in table.storage.list(".hoodie/timeline").files:
        if file.name.startswith(FULL_BOOTSTRAP):
            table.storage.delete(file.path)
    return table


def partitions(table):
    return sorted(table.read()["part"].to_pylist())


def test_another_selector_of_as_many_rows_is_refused(tmp_path, table):
    """The rows of p1 would be there twice, those of p2 not at all."""
    with pytest.raises(
        TableExistsError, match=r"with another selector.*2 rows of part=p1 .* METADATA_ONLY, the plan has 0"
    ):
        run_bootstrap(request(tmp_path, "part=p2"), FakeClock(), ENGINE)
    assert partitions(table) == ["p1", "p1"]
    run_bootstrap(request(tmp_path, "part=p1"), FakeClock(), ENGINE)
    assert partitions(table) == ["p1", "p1", "p2", "p2"]


def test_rows_that_came_to_the_source_are_refused(tmp_path, table):
    put(tmp_path / "source", "part=p1/b.parquet", ["c"])
    with pytest.raises(TableExistsError, match=r"2 rows of part=p1 were .* the plan has 3"):
        run_bootstrap(request(tmp_path, "part=p1"), FakeClock(), ENGINE)


def test_rows_of_a_copy_that_is_done_are_counted(tmp_path):
    put(tmp_path / "source", "part=p1/a.parquet", ["a", "b"])
    run_bootstrap(request(tmp_path, "none"), FakeClock(), ENGINE)
    assert run_bootstrap(request(tmp_path, "none"), FakeClock(), ENGINE).repeated
    with pytest.raises(TableExistsError, match="2 rows were taken over as FULL_RECORD, the plan has 0"):
        run_bootstrap(request(tmp_path, ".*"), FakeClock(), ENGINE)
