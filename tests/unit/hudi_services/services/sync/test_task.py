"""The command `sync`: what it refuses before it asks any server, and how it shows a plan."""

from __future__ import annotations

import json

import pytest

from hoodie.services.sync import Sync
from hudi_services.cli.program import main
from tests.support.catalog import MemoryCatalog
from tests.support.tables import batch, create

PREFIX = "hoodie.datasource.hive_sync."


@pytest.fixture
def table(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "x", 1, 1)]))
    return table


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--engine", "spark"], "does not run on Spark"),
        (["--hoodie-conf", PREFIX + "mode=hiveql"], "one of JDBC, HMS"),
        (["--hoodie-conf", PREFIX + "use_jdbc=false"], "say hoodie.datasource.hive_sync.mode=hms"),
    ],
)
def test_wrong_usage(table, capsys, flags, said):
    assert main(["sync", "--target-base-path", table.base_path, *flags]) == 2
    assert said in capsys.readouterr().err


def test_switched_off_asks_no_server(table, capsys):
    flags = ["--target-base-path", table.base_path, "--hoodie-conf", PREFIX + "enable=false", "--json"]
    assert main(["sync", *flags]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["instant"], result["message"]) == (None, f"switched off by {PREFIX}enable=false")


def test_a_plan_in_words(table):
    text = table.explain(Sync(MemoryCatalog())).as_text("sync").splitlines()
    assert text[0] == "sync: every partition: not synced before"
    assert text[2].startswith("  create external table default.trips: 8 columns partitioned by part string at ")
    assert text[3] == "  add 1 partition to default.trips: x"
    assert text[-1] == "would make 3 changes to the catalog; nothing was changed"
