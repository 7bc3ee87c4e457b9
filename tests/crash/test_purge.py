"""A purge killed at any storage call: the same call goes on, and then no file holds the rows."""

from __future__ import annotations

import pytest

from hoodie import Purge
from hoodie.storage import walk_files
from tests.support.clock import FakeClock
from tests.support.crashes import reopen, run_to_failure
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, content, create

PERSON = "person-4711"
WAYS = [
    ("9", "COPY_ON_WRITE", "kill", False),
    ("9", "MERGE_ON_READ", "kill", True),
    ("6", "MERGE_ON_READ", "full", False),
]


@pytest.mark.parametrize(("version", "table_type", "kind", "half"), sample(WAYS, 1))
def test_a_purge_that_dies_at_any_call(tmp_path, version, table_type, kind, half):
    options = {"hoodie.write.table.version": version, "hoodie.table.type": table_type}

    def prepare(path):
        table = create(path, FakeClock(), **options)
        for step in range(2):
            rows = [(PERSON, "p", step, step), ("other-12", "p", step, step), ("third-13", "q", step, step)]
            table.write(batch(rows), "upsert", SMALL_BLOOM)

    purge = Purge(f"id = '{PERSON}'")
    for storage, clock, call in run_to_failure(tmp_path, prepare, lambda table: table.run(purge), kind, half):
        done = reopen(storage, clock).run(purge)
        assert done.is_erased, call
        assert content(reopen(storage, clock)) == {"other-12": ("p", 1, 1), "third-13": ("q", 1, 1)}, call
        files = list(walk_files(storage, ""))
        assert not [file.path for file in files if PERSON.encode() in storage.read(file.path)], call
        assert not [file.path for file in files if file.path.startswith(".hoodie/.purge/")], call
