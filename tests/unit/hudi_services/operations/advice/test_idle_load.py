"""A stale table whose source has nothing new: by a look at the folder, and by the history of its loads."""

from __future__ import annotations

import time

from hudi_services.cli.program import main
from tests.support.registered import advised, registered


def stale_table(tmp_path, **more):
    """A table that was loaded once, and is stale at once."""
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing/1.csv").write_text("id,ts\n1,1\n")
    source = {"path": f"{tmp_path}/landing", "format": "csv"}
    entry = {"name": "orders", "keys": {"record_key": ["id"]}, "source": source, "objectives": {"freshness": "1s"}}
    file = registered(tmp_path, {**entry, **more})
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    time.sleep(1.1)
    return file


def test_without_a_history_the_folder_is_looked_at(tmp_path):
    file = stale_table(tmp_path)
    late = advised(file, "orders")["objective"]
    assert (
        late.detail
        == f"A look at the source now found nothing new in {tmp_path}/landing (0 files to load; 1 loaded before)."
    )
    assert late.fix == "hudi-services ingest --explain --table orders"
    (tmp_path / "landing/2.csv").write_text("id,ts\n2,2\n")
    assert advised(file, "orders")["objective"].fix == "hudi-services ingest --table orders"


def test_the_history_says_when_the_last_load_found_nothing(tmp_path):
    file = stale_table(tmp_path, history={"path": f"{tmp_path}/history"})
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    late = advised(file, "orders")["objective"]
    assert late.detail.startswith("The last load, at ")
    assert late.detail.endswith(f", found nothing new in {tmp_path}/landing (0 files to load; 1 loaded before).")
