"""Partitions that do not fit the rows of a table."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.operations.advice.facts import Skew
from hudi_services.operations.advice.rules.layout import skewed, tiny
from tests.support.advice import facts, said
from tests.support.pasted import usage_fault
from tests.support.tables import batch, create

MIB = 1024 * 1024
LARGE = Skew(("shop",), 8, 640 * MIB, "shop=web", 600 * MIB, 5 * MIB, keys=("id",), ordering=("ts",))
MANY = Skew(("id",), 199, 9 * MIB, "id=7", MIB // 2, MIB // 10, 100, ("id",))
SORT = "hoodie.clustering.plan.strategy.sort.columns"
WAITS = "No service does that: a copy has another path, which readers and the registry have to name."


def test_the_sentences_have_the_cause_the_numbers_and_the_copy():
    [text] = said(skewed, skew=LARGE)
    assert text.startswith(
        "Partition shop=web has 94% of the bytes, 600 MiB of 640 MiB in 8 partitions, of which half have at most 5.0 MiB. A "
    )
    copy = (
        'hudi-services sql --warehouse /lake -e "CREATE TABLE orders_copy USING hudi TBLPROPERTIES '
        "(primaryKey = 'id', preCombineField = 'ts') PARTITIONED BY (COLUMN) AS SELECT * FROM orders\""
    )
    cluster = f"hudi-services cluster --force --hoodie-conf {SORT}=COLUMN --table orders"
    assert f"name it for COLUMN in `{copy}`. Or, if the partitions stay, `{cluster}` sorts rows by a column, " in text
    assert text.endswith(f" {WAITS} $ {copy}")
    [advice] = skewed(facts(skew=LARGE))
    assert advice.commands == (copy, cluster)
    assert all(usage_fault(command) is None for command in advice.commands)
    [advice] = skewed(facts(skew=replace(LARGE, keys=())))
    assert (advice.fix, advice.commands) == ("hudi-services show partitions --table orders", (cluster,))
    [text] = said(tiny, skew=MANY)
    assert text.startswith(
        "100 of 199 partitions by id have at most 10 rows, 9.0 MiB in all. Each read and each service lists "
    )
    assert (
        " A copy without partitions ends that. If a key is unique within a partition alone, it needs id, too. " in text
    )
    assert text.endswith(
        ' $ hudi-services sql --warehouse /lake -e "CREATE TABLE orders_copy USING hudi TBLPROPERTIES '
        "(primaryKey = 'id') AS SELECT * FROM orders\""
    )
    [advice] = tiny(facts(skew=replace(MANY, bytes=2 * 1024 * MIB, merges_on_read=True)))
    assert "with a coarser partition column" in advice.remedy
    assert "type = 'mor') PARTITIONED BY (COLUMN) AS" in advice.fix


@pytest.mark.parametrize(
    "change",
    [
        {"partitions": 7},
        {"bytes": 63 * MIB, "largest_bytes": 60 * MIB},
        {"largest_bytes": 320 * MIB},
        {"median_bytes": 61 * MIB},
    ],
)
def test_few_partitions_little_data_and_a_little_skew_are_fine(change):
    assert said(skewed, skew=replace(LARGE, **change)) == []
    assert said(skewed) == []


@pytest.mark.parametrize("change", [{"few_rows": 99}, {"partitions": 200}])
def test_some_partitions_with_few_rows_are_fine(change):
    assert said(tiny, skew=replace(MANY, **change)) == []
    assert said(tiny) == []


@pytest.mark.parametrize("change", [{"keys": ()}, {"keys": ("a b",)}, {"ordering": ("$(date)",)}])
def test_a_copy_that_a_shell_might_read_otherwise_is_no_command(change):
    [advice] = tiny(facts(skew=replace(MANY, **change)))
    assert advice.fix == "hudi-services show partitions --table orders"
    [advice] = tiny(replace(facts(skew=MANY), base_path="/my lake/orders"))
    assert advice.fix == "hudi-services show partitions --table orders"


def test_the_command_copies_each_row(tmp_path, capsys):
    table = create(tmp_path / "orders")
    table.write(batch([(f"k{number}", f"p{number}", 1, number) for number in range(100)]), "bulk_insert")
    where = f"--target-base-path={tmp_path}/orders"
    assert main(["show", "table", where, "--json"]) == 0
    [advice] = json.loads(capsys.readouterr().out)["advice"]
    assert (advice["severity"], advice["kind"]) == ("due", "skew")
    head, statement, _ = advice["fix"].split('"')
    assert main([*head.split()[1:], statement]) == 0
    copy = HoodieTable.open(f"{tmp_path}/orders_copy")
    assert sorted(copy.read().column("id").to_pylist()) == sorted(table.read().column("id").to_pylist())
    assert main(["show", "table", f"--target-base-path={tmp_path}/orders_copy"]) == 0
    assert "Nothing to do" in capsys.readouterr().out
