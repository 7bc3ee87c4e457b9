"""The ways that advice names for a completed instant that was torn: each line is pasted as it is printed, and heals the table."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from hoodie import CLUSTERING, HoodieTable
from hudi_services.cli.program import main
from hudi_services.entry.target import Target
from tests.support.registered import advised, registered

KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
VERSIONS = (6, 9)
APART = "--hoodie-conf=hoodie.parquet.small.file.limit=0"
LOADS = {
    "first": "id,dt,ts\n1,x,1\n2,y,1\n",
    "second": "id,dt,ts\n3,x,2\n4,y,2\n",
    "update": "id,dt,ts\n3,x,4\n6,y,4\n",
    "overwrite": "id,dt,ts\n5,x,3\n6,y,3\n",
    "later": "id,dt,ts\n5,x,5\n",
}
MOVE, FIX, ROLLBACK, INGEST = "mkdir", "doctor --fix", "rollback --instant", "ingest"
BACK = [MOVE, "savepoint create", "restore --savepoint", INGEST, "savepoint delete"]


class Orders:
    """A table with two loads, whose second file is a file group of its own, its registry and its source."""

    def __init__(self, folder, version, kind):
        self.folder, self.landing = folder, folder / "landing"
        self.landing.mkdir()
        source = {"path": str(self.landing), "format": "csv"}
        keys = {"record_key": ["id"], "partition_by": ["dt"], "ordering": ["ts"]}
        entry = {"name": "orders", "type": kind, "version": version, "keys": keys, "source": source}
        self.file = registered(folder, {**entry, "compact": {}, "cluster": {}, "clean": {}})
        self.run("ingest", load="first")
        self.run("ingest", "--operation=bulk_insert", APART, load="second")

    @property
    def table(self):
        return HoodieTable.open(f"{self.folder}/orders")

    def run(self, *words, load=None, text=None):
        if load is not None:
            (self.landing / f"{load}.csv").write_text(text or LOADS[load])
        assert main([*words, "--table=orders", f"--registry={self.file}"]) == 0

    def rows(self):
        return sorted(self.table.read(columns=["id", "dt", "ts"]).to_pylist(), key=lambda row: row["id"])

    def tear(self, suffix, left=0.5):
        """Cut the file of the newest completed instant of an action; returns its path."""
        state = self.table.state()
        instant = [i for i in state.timeline if i.is_completed and i.file_name.endswith(suffix)][-1]
        path = Path(state.storage.base_path, state.layout.path(instant))
        body = path.read_bytes()
        path.write_bytes(body[: int(len(body) * left)])
        return path

    def pasted(self):
        """The lines of the advice, carried out one after the other; returns how each begins."""
        advice = advised(self.file, "orders")["doctor"]
        lines = advice.commands if advice.fix in advice.commands else (advice.fix, *advice.commands)
        assert "or" not in list(Target.command_lines(advice.remedy, lines)), "they are one way"
        for line in lines:
            program, *words = shlex.split(line)
            if program == "hudi-services":
                sure = (
                    []
                    if words[0] == "ingest" or words[1] == "create" or words[0] in ("compact", "cluster")
                    else ["--yes"]
                )
                assert main([*words, f"--registry={self.file}", *sure]) == 0
            else:
                subprocess.run(line, shell=True, check=True)
        assert self.table.diagnose().severity is None
        return [line.removeprefix("hudi-services ") for line in lines]


def time_of(path):
    return path.stem.rpartition("_")[2]


def begins(lines, expected):
    return len(lines) == len(expected) and all(map(str.startswith, lines, expected))


@pytest.fixture
def orders(tmp_path, request):
    return Orders(tmp_path, *request.param)


EACH = pytest.mark.parametrize("orders", [(v, k) for v in VERSIONS for k in KINDS], indirect=True)
LOGS = pytest.mark.parametrize("orders", [(v, "MERGE_ON_READ") for v in VERSIONS], indirect=True)


@EACH
@pytest.mark.parametrize("left", [0, 0.5])
def test_an_overwrite(orders, left):
    """The rows that it had replaced are back until the last command: a plain load would leave them."""
    orders.run("ingest", "--operation=insert_overwrite", load="overwrite")
    whole = orders.rows()
    orders.tear(".replacecommit", left)
    assert "had replaced are back" in advised(orders.file, "orders")["doctor"].remedy
    assert begins(orders.pasted(), [MOVE, ROLLBACK, "ingest --operation insert_overwrite"])
    assert orders.rows() == whole


@EACH
@pytest.mark.parametrize("base", ["overwrite", "cluster"])
def test_a_replacement_that_later_commits_build_on(orders, base):
    """Without it the groups that it replaced would be read beside theirs."""
    words = ["cluster", "--force"] if base == "cluster" else ["ingest", "--operation=insert_overwrite"]
    orders.run(*words, load="overwrite" if base == "overwrite" else None)
    orders.run("ingest", load="later" if base == "overwrite" else "update")
    whole = orders.rows()
    orders.tear(".replacecommit")
    remedy = advised(orders.file, "orders")["doctor"].remedy
    assert ("rows that an overwrite had removed stay" in remedy) == (base == "overwrite")
    assert begins(orders.pasted(), BACK)
    assert [row for row in orders.rows() if row in whole] == whole
    assert len({row["id"] for row in orders.rows()}) == len(orders.rows())


@EACH
def test_a_clustering_loses_no_row(orders):
    whole = orders.rows()
    orders.run("cluster", "--force")
    orders.tear(".replacecommit")
    assert "No row is lost" in advised(orders.file, "orders")["doctor"].remedy
    assert begins(orders.pasted(), [MOVE, "cluster"])
    assert orders.rows() == whole
    assert [i.action for i in orders.table.timeline][-1] == "replacecommit", "it was done again"


@EACH
def test_a_clustering_whose_files_were_cleaned_cannot_be_taken_back(orders):
    orders.run("cluster", "--force")
    orders.run("ingest", load="overwrite")
    orders.run("clean", "--hoodie-conf=hoodie.clean.commits.retained=1")
    assert orders.table.timeline.instants[-1].action == "clean"
    orders.tear(".replacecommit")
    remedy = advised(orders.file, "orders")["doctor"].remedy
    assert "a clean has removed files that it had replaced" in remedy


@LOGS
@pytest.mark.parametrize("later", [None, "7,w,3", "8,w,3"])
def test_a_compaction_loses_no_row(orders, later):
    """The first of the later loads adds a log to its file, and the second one writes a file in place of it."""
    for number, row in enumerate(("7,w,1", "7,w,2")):
        orders.run("ingest", load=f"{number}", text=f"id,dt,ts\n{row}\n")
    orders.run("compact", "--force", "--hoodie-conf=hoodie.compaction.logfile.num.threshold=0")
    compaction = orders.table.timeline.commits[-1].time
    if later is not None:
        orders.run("ingest", load="later", text=f"id,dt,ts\n{later}\n")
    whole = orders.rows()
    orders.tear(".commit")
    assert "No row is lost" in advised(orders.file, "orders")["doctor"].remedy
    is_replaced = any(
        path.suffix == ".parquet" and time_of(path) > compaction for path in (orders.folder / "orders/w").iterdir()
    )
    assert is_replaced == (later == "8,w,3")
    lines = orders.pasted()
    assert begins(lines, [MOVE, f"compact --unschedule {compaction}" if is_replaced else "compact --table"])
    assert orders.rows() == whole


@EACH
def test_the_plan_of_a_clustering_is_given_up(orders):
    whole = orders.rows()
    time = orders.table.schedule(CLUSTERING, force=True)
    state = orders.table.state()
    plan = Path(state.storage.base_path, state.layout.requested_path(time, state.layout.clustering))
    plan.write_bytes(plan.read_bytes()[:99])
    assert begins(orders.pasted(), [f"cluster --give-up {time}"])
    assert orders.rows() == whole
    assert not orders.table.timeline.pending


@EACH
def test_a_load_that_later_ones_followed(orders):
    """Its files are in the position of the later one, so that a plain load would not load them again."""
    first = orders.table.timeline.commits[-1].time
    orders.run("ingest", load="overwrite")
    torn = orders.table.timeline.commits[-1]
    orders.run("ingest", load="later")
    whole = orders.rows()
    orders.tear(torn.file_name)
    lines = orders.pasted()
    if orders.table.state().layout.logs_tell_writer or not orders.table.state().properties.is_merge_on_read:
        assert begins(lines, [MOVE, ROLLBACK, f"ingest --reload-since {first}"])
    else:
        assert begins(lines, BACK), "later logs of version 6 may need its files"
    assert orders.rows() == whole


@EACH
@pytest.mark.parametrize("left", [0, 0.5])
def test_a_savepoint_is_made_again(orders, left):
    orders.run("savepoint", "create")
    [saved] = orders.table.savepoints()
    orders.tear(".savepoint", left)
    assert begins(orders.pasted(), [MOVE, f"savepoint create --instant {saved.instant}"])
    assert [(each.instant, set(each.paths)) for each in orders.table.savepoints()] == [
        (saved.instant, set(saved.paths))
    ]


@EACH
@pytest.mark.parametrize("left", [0, 0.5])
def test_a_restore_is_ended_by_its_plan(orders, left):
    orders.run("savepoint", "create")
    orders.run("ingest", load="overwrite")
    orders.run("restore", "--yes", "--savepoint", orders.table.savepoints()[0].instant)
    orders.run("ingest", load="later")
    whole = orders.rows()
    orders.tear(".restore", left)
    assert begins(orders.pasted(), [MOVE, FIX])
    assert orders.rows() == whole
