"""`writeStream.format("hoodie")`: each batch of a query is in the table once."""

from __future__ import annotations

import json

import pytest

import hoodie.spark
from hoodie.spark.stream.batches import KEY
from hoodie.table import HoodieTable
from tests.support.changes import write
from tests.support.tables import OPTIONS, SMALL_BLOOM, content, create

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def registered(spark):
    hoodie.spark.register(spark)


def run(rows, path, checkpoint, **options):
    """Run a query to its end."""
    given = {"path": str(path), "checkpointLocation": str(checkpoint), **SMALL_BLOOM, **options}
    query = rows.writeStream.format("hoodie").options(**given).trigger(availableNow=True).start()
    query.awaitTermination(180)
    return query


def test_a_query_makes_a_table_and_goes_on_after_a_restart(spark, tmp_path):
    source, target = create(tmp_path / "s"), tmp_path / "t"
    for number in range(2):
        write(source, [("a", "p", number, number), (f"n{number}", "q", 1, 1)], "insert" if not number else "upsert")
    stream = spark.readStream.format("hoodie").option("maxCommitsPerTrigger", 1).load(source.base_path)
    query = run(stream, target, tmp_path / "c", **OPTIONS)
    write(source, [("a", "p", 5, 5)])
    run(stream, target, tmp_path / "c", **OPTIONS, **{"hoodie.stream.local.rows": 0})  # by tasks of Spark
    table = HoodieTable.open(target)
    assert content(table) == content(source)
    texts = [table.state().commit_metadata(commit).extra[KEY + query.id] for commit in table.timeline.commits]
    batches = [json.loads(text) for text in texts]
    assert [each["batch"] for each in batches] == [0, 1, 2]
    assert {each["checkpoint"] for each in batches} == {query.id}
    assert batches[0]["run"] == batches[1]["run"] != batches[2]["run"], "one token for a run of the query"


def test_changes_are_applied_and_errors_of_a_batch_leave_nothing(spark, tmp_path):
    source, target = (create(tmp_path / name, **{"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}) for name in "st")
    write(source, [("a", "p", 1, 1), ("b", "p", 1, 1)])
    write(source, [("a", "q", 1, 2)], **{"hoodie.index.type": "GLOBAL_SIMPLE"})
    write(source, [("b", "p", 2, 2)], "delete")
    feed = spark.readStream.format("hoodie").option("hoodie.datasource.query.incremental.format", "cdc")
    rows = feed.load(source.base_path)
    wrong = {"hoodie.stream.op.column": "_hoodie_record_key"}
    with pytest.raises(Exception, match="operation that is not known"):
        run(rows, target.base_path, tmp_path / "c", **wrong)
    assert not target.timeline.commits
    run(rows, target.base_path, tmp_path / "c", **{"hoodie.stream.op.column": "op"})
    assert content(target) == content(source) == {"a": ("q", 1, 2)}
