"""The history of a table has changes by people at a shell: savepoints, and repairs of the doctor."""

from __future__ import annotations

from pathlib import Path

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.entry.table import History
from hudi_services.operations.alerts.evaluation import failed_runs
from hudi_services.operations.history.manual import by_hand
from hudi_services.operations.history.recorder import Recorded
from tests.support.cli import FAILED, fill
from tests.support.tables import create


@pytest.fixture
def registry(tmp_path: Path) -> str:
    fill(create(tmp_path / "orders"))
    file = tmp_path / "tables.yaml"
    history = f"history: {{path: {tmp_path}/history}}\n"
    file.write_text(f"{history}tables:\n  - {{name: orders, base_path: {tmp_path}/orders}}\n")
    return f"--registry={file}"


def records(tmp_path: Path) -> list[tuple[object, ...]]:
    rows = HoodieTable.open(f"{tmp_path}/history").read().sort_by("began").to_pylist()
    return [(row["service"], row["outcome"], row["message"], row["rows_read"]) for row in rows]


def test_savepoints_made_and_deleted(tmp_path: Path, registry: str) -> None:
    last = HoodieTable.open(f"{tmp_path}/orders").timeline.commits[-1].time
    assert main(["savepoint", "create", "--table=orders", registry]) == 0
    assert main(["savepoint", "delete", "--table=orders", registry, f"--instant={last}", "--yes"]) == 0
    assert main(["savepoint", "delete", "--table=orders", registry, "--instant=20200101000000000", "--yes"]) == FAILED
    made, deleted, wrong = records(tmp_path)
    assert made == ("savepoint", "done", f"made savepoint {last}, which keeps 1 file in 1 partition", None)
    assert deleted == ("savepoint", "done", f"deleted savepoint {last}", None)
    assert wrong[:2] == ("savepoint", "failed")


def test_what_the_doctor_mends(tmp_path: Path, registry: str) -> None:
    assert main(["doctor", "--table=orders", registry, "--fix", "--yes"]) == 0
    assert not (tmp_path / "history").exists(), "nothing was wrong"
    (tmp_path / "orders/part=p/aaaa-0_0-1-2_29990101000000000.parquet").write_bytes(b"four")
    assert main(["doctor", "--table=orders", registry]) == 1
    assert not (tmp_path / "history").exists(), "nothing was mended"
    assert main(["doctor", "--table=orders", registry, "--fix", "--yes"]) == 0
    ((service, outcome, message, _),) = records(tmp_path)
    assert (service, outcome) == ("doctor", "done")
    assert "aaaa-0_0-1-2_29990101000000000.parquet" in str(message) or "1 file" in str(message), message


def test_who_typed_it_has_read_that_it_failed(tmp_path: Path) -> None:
    kept = Recorded(History(path=str(tmp_path / "history")), "orders")
    for service in ("savepoint", "clean"):
        with pytest.raises(ZeroDivisionError), by_hand(kept, service, str(tmp_path / "orders")) as say:
            say(str(1 / 0))
    rows = HoodieTable.open(str(tmp_path / "history")).read().sort_by([("began", "descending")])
    assert [(each.table, each.what) for each in failed_runs(rows)] == [("orders", "clean")]
