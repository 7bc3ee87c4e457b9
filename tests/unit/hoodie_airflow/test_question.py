"""The question before a large deletion: in numbers that a person can judge."""

from __future__ import annotations

import pickle

from hoodie.errors import DeleteCapError
from hoodie_airflow.question import plan_link, question
from hudi_services.entry.table import Table
from hudi_services.runtime.failures import Failure
from hudi_services.services.clean.entry import CLEAN


def test_the_question_says_how_much_of_the_table_and_until_when_it_can_be_restored() -> None:
    sizes = {"files": 12, "bytes": 3 << 20, "of_bytes": 30 << 20, "partitions": 2}
    error = DeleteCapError("x", found="12 files, where the limit is 1", digest="0123456789ab", deletion=sizes)
    failure = Failure.of(pickle.loads(pickle.dumps(error)))  # Spark sends errors so
    for hours, restored in (
        (0, "cannot be restored"),
        (24, "For 24 hours after that, `hudi-services undelete --table t`"),
    ):
        table = Table(name="t", base_path="/t", hoodie={"hoodie.delete.grace.hours": str(hours)})
        text = question(failure, table, CLEAN)
        assert "would delete 12 files, 3.0 MiB, 10% of the table, in 2 partitions." in text
        assert restored in text
        assert "12 files, where the limit is 1. Plan 0123456789ab." in text
    assert plan_link(table, "clean").startswith("[See the plan](")
    assert plan_link(table, "restore") == ""
