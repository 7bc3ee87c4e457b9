"""A resync beside loads that commit in the meantime: it compares again what they changed."""

from __future__ import annotations

import random
from itertools import product

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import PendingInstantError
from hudi_services.sources.cdc.mysql.equality import verify as module
from hudi_services.sources.cdc.mysql.equality.row_changes import later_rows
from hudi_services.sources.cdc.mysql.equality.verify import EqualityCheck
from hudi_services.sources.cdc.mysql.log_identity import KEY, stored_position
from hudi_services.sources.positions import find_position
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM
from tests.unit.hudi_services.sources.cdc.mysql.equality.test_verify import database, fill, lake, load, rows_of
from tests.unit.hudi_services.sources.cdc.mysql.test_table_load import lake_rows, server_rows

__all__ = ["database"]
pytestmark = pytest.mark.process


def lake_at(target):
    """The position that the newest commit holds."""
    return stored_position(find_position(lake(target).state(), KEY, start_fresh=False).text, "").position


@pytest.mark.parametrize(("kind", "seed"), sample(product(["COPY_ON_WRITE", "MERGE_ON_READ"], range(6)), 7))
def test_a_resync_ends_beside_loads_that_commit_all_the_time(server, database, tmp_path, monkeypatch, kind, seed):
    """Loads change rows that the resync has compared, or not yet, to what the server had before and has after its moment."""
    draw = random.Random(seed)
    options = {"hoodie.table.type": kind}
    fill(server, database)
    load(server, database, tmp_path, options).run()
    kept = rows_of(tmp_path)
    ids = pa.array(draw.sample(range(1, 51), 10), pa.int32())
    lake(tmp_path).write(pa.table({"id": ids[:5]}), "delete", SMALL_BLOOM)
    wrong = pa.Table.from_pylist([row | {"v": "wrong"} for row in kept if row["id"] in ids[5:].to_pylist()])
    lake(tmp_path).write(wrong.cast(lake(tmp_path).stored_schema), "upsert", SMALL_BLOOM)
    note, run = EqualityCheck._note, load(server, database, tmp_path, options).run

    def change():
        for _ in range(8):
            one, other = draw.randrange(1, 60), draw.randrange(1, 60)
            statement = draw.choice([
                f"UPDATE t SET v = '{draw.choice('ab')}' WHERE id = {one}",
                f"DELETE FROM t WHERE id = {one}",
                f"INSERT IGNORE INTO t VALUES ({one}, 'new', 1)",
                f"UPDATE IGNORE t SET id = {other} WHERE id = {one}",
                f"UPDATE t SET v = CONCAT('v', id) WHERE id = {one}",
            ])  # fmt: skip
            server.run(f"USE {database}", statement)

    beside, moment = [], []

    def noted(self, *arguments, **more):
        note(self, *arguments, **more)
        moment.append(server_rows(server, database, columns="id, v, n"))
        if len(beside) < 4:
            change()
            beside.append(run().commits)

    monkeypatch.setattr(module, "_PAUSES", (0,) * 6)
    monkeypatch.setattr(EqualityCheck, "_note", noted)
    change()
    report = EqualityCheck(load(server, database, tmp_path, options)).resync()
    assert len(beside) == 4
    assert report.written
    assert lake_at(tmp_path) == report.position
    assert lake_rows(tmp_path) == moment[0]
    monkeypatch.undo()
    run()
    assert EqualityCheck(load(server, database, tmp_path, options)).verify().differing == 0


def test_a_resync_beside_loads_that_are_always_faster_gives_up(server, database, tmp_path, monkeypatch):
    fill(server, database)
    load(server, database, tmp_path).run()
    note = EqualityCheck._note

    def beside(self, *arguments, **more):
        note(self, *arguments, **more)
        server.run(f"UPDATE {database}.t SET n = n + 1 WHERE id = 3")
        load(server, database, tmp_path).run()

    monkeypatch.setattr(module, "_PAUSES", (0,) * 3)
    monkeypatch.setattr(EqualityCheck, "_note", beside)
    server.run(f"UPDATE {database}.t SET n = n + 1 WHERE id = 4")
    with pytest.raises(PendingInstantError, match="Another writer committed"):
        EqualityCheck(load(server, database, tmp_path)).resync()
    monkeypatch.undo()
    load(server, database, tmp_path).run()
    assert EqualityCheck(load(server, database, tmp_path)).verify().differing == 0


def test_rows_that_changed_between_two_states(server, database, tmp_path):
    fill(server, database, rows=4)
    load(server, database, tmp_path).run()
    then = lake(tmp_path).state()
    server.run(f"USE {database}", "DELETE FROM t WHERE id = 1", "UPDATE t SET v = 'b' WHERE id = 2")
    load(server, database, tmp_path).run()
    server.run(f"USE {database}", "UPDATE t SET v = 'v2' WHERE id = 2", "INSERT INTO t VALUES (9, 'n', 1)")
    load(server, database, tmp_path).run()
    columns = pa.schema([("id", pa.int32()), ("v", pa.string())])
    gone, later = later_rows(then, lake(tmp_path).state(), LocalEngine(1), columns)
    assert sorted(gone.to_pylist(), key=str) == [{"id": 1, "v": "v1"}]
    assert sorted(later.to_pylist(), key=str) == [{"id": 9, "v": "n"}]
    with pytest.raises(PendingInstantError, match="does not order"):
        later_rows(lake(tmp_path).state(), then, LocalEngine(1), columns)
