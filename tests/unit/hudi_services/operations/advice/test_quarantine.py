"""The most frequent reason of quarantined rows, without the values that it quotes."""

from __future__ import annotations

import json

from hudi_services.entry.table import Table
from hudi_services.operations.advice.quarantine import as_values, bad_rows, of_values
from hudi_services.sources.ingest.quarantine import QuarantineWriter

REASONS = (
    "column n: 'x1' is no number",
    "column id is null",
    "column n: 'x2' is no number",
    "column n: 'x3' is no number",
)


def left(folder):
    """A table whose load left rows with these reasons, and a line that is not whole."""
    table = Table.model_validate(
        {
            "name": "orders",
            "base_path": f"{folder}/orders",
            "source": {"path": f"{folder}/land", "format": "json"},
            "keys": {"record_key": ["id"]},
        }
    )
    writer = QuarantineWriter(f"{folder}/orders.quarantine", table.base_path, "20260101")
    (folder / "orders.quarantine/20260101").mkdir(parents=True)
    lines = [*(json.dumps({"file": "a", "reason": reason, "row": {}}) for reason in REASONS), '{"reas']
    (folder / "orders.quarantine/20260101/0.jsonl").write_text("\n".join(lines) + "\n")
    assert writer.path == f"{folder}/orders.quarantine/20260101"
    return table


def test_the_most_frequent_reason_is_an_example_of_its_kind(tmp_path):
    bad = bad_rows(left(tmp_path))
    assert (bad.rows, bad.reason, bad.reason_rows) == (5, "column n: 'x1' is no number", 3)


def test_who_may_not_see_rows_sees_no_reason(tmp_path):
    bad = bad_rows(left(tmp_path))
    values = json.loads(json.dumps(as_values(bad)))
    assert of_values(values, with_reason=True) == bad
    hidden = of_values(values, with_reason=False)
    assert (hidden.rows, hidden.since, hidden.reason, hidden.reason_rows) == (5, bad.since, "", 0)
