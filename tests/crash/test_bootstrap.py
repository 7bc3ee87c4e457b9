"""A bootstrap is killed or out of disk at each storage call."""

from __future__ import annotations

import re

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.formats.bootstrap_index import PARTITIONS_PATH
from hoodie.services.bootstrap import BootstrapRequest, run_bootstrap
from hoodie.storage import LocalStorage, walk_files
from tests.support.clock import FakeClock
from tests.support.crashes import FIRST, reopen, run_to_failure, uncommitted
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import diagonal
from tests.support.sources import TABLE, contents, hive_source
from tests.support.tables import SMALL_BLOOM, content


@pytest.mark.parametrize(
    ("regex", "version", "kind", "half"),
    diagonal([".*", "part=p2"], [("9", "kill", True), ("6", "kill", False), ("9", "full", False)]),
)
def test_a_bootstrap_that_dies_at_any_call(tmp_path, version, kind, half, regex):
    """All rows left in the source, and one partition of two. Each way to die is tried on one version."""
    source = hive_source(tmp_path / "source")
    before = contents(source)
    options = {
        "hoodie.bootstrap.base.path": str(source),
        "hoodie.bootstrap.mode.selector.regex": regex,
        **SMALL_BLOOM,
    }
    properties = {**TABLE, "hoodie.write.table.version": version}

    def bootstrap(table):
        asked = BootstrapRequest(table.storage, properties, options)
        return run_bootstrap(asked, table.clock, LocalEngine(1))

    (tmp_path / "done").mkdir()
    done = HoodieTable(LocalStorage(str(tmp_path / "done")), LocalEngine(1), FakeClock())
    bootstrap(done)
    found = done.read().to_pylist()
    rows = sorted(map(repr, found))
    # In a mix, the rows that stay where they are become visible right before the others.
    first = sorted(repr(row) for row in found if re.fullmatch(regex, f"part={row['part']}"))
    files = sorted(file.path.rpartition("/")[0] for file in walk_files(done.storage, ""))

    for storage, clock, call in run_to_failure(tmp_path, lambda path: path.mkdir(), bootstrap, kind, half):
        again = HoodieTable(storage, LocalEngine(1), clock)
        if storage.info(".hoodie/hoodie.properties") is not None:
            visible = sorted(map(repr, again.read().to_pylist()))
            assert visible in ([], first, rows), call
        bootstrap(again)
        assert sorted(map(repr, again.read().to_pylist())) == rows, call
        assert uncommitted(again) == [], call
        assert again.timeline.pending == (), call
        data = [file.path for file in walk_files(storage, "") if not file.path.startswith(".hoodie/timeline")]
        kept = [path.rpartition("/")[0] for path in data]
        index = [path for path in kept if ".bootstrap" in path or "part=" in path]
        assert index == [path for path in files if ".bootstrap" in path or "part=" in path], call
        assert contents(source) == before
    assert len(bootstrap(done).commits) == (1 if regex == ".*" else 2)


def test_what_a_dead_bootstrap_left_goes_with_the_next_write(tmp_path):
    hive_source(tmp_path / "source")
    asked = {"hoodie.bootstrap.base.path": str(tmp_path / "source"), **SMALL_BLOOM}
    calls = FaultyStorage(tmp_path / "count")
    run_bootstrap(BootstrapRequest(calls, TABLE, asked), FakeClock(), LocalEngine(1))
    completed = next(n for n, (_, path) in enumerate(calls.log, 1) if "00000000000001_" in path)
    dying = FaultyStorage(tmp_path / "t", completed)
    clock = FakeClock()
    with pytest.raises(Killed):
        run_bootstrap(BootstrapRequest(dying, TABLE, asked), clock, LocalEngine(1))
    assert (tmp_path / "t" / PARTITIONS_PATH).exists()
    table = reopen(LocalStorage(str(tmp_path / "t")), clock)
    table.write(FIRST, "upsert", SMALL_BLOOM)
    assert len(content(table)) == 3
    assert uncommitted(table) == []
    assert not any(file.name.endswith(".hfile") for file in walk_files(table.storage, ""))
