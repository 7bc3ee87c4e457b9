"""A plain Parquet table is taken over by its DAG: asked for, approved or rejected, and only then ingested into."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hudi_services.demo.flights import KEY
from hudi_services.demo.history import BOOTSTRAP, history_now
from hudi_services.demo.steps import answer
from tests.e2e.conftest import Running

pytestmark = pytest.mark.e2e


def test_the_demos_history_was_approved_and_not_copied(airflow: Running) -> None:
    (run,) = airflow.api.runs(BOOTSTRAP)
    name = run["dag_run_id"]
    states = airflow.ended(BOOTSTRAP, name)
    assert set(states) == {"preflight", "approve", "bootstrap", "validate", "ingestion_on"}
    assert set(states.values()) == {"success"}
    asked = airflow.api.question(BOOTSTRAP, name, "approve")
    assert asked["chosen_options"] == ["Approve"]
    assert asked["responded_by_user"]["name"] == "admin"
    assert "files with 335,032 rows in 12 partitions can be taken over" in asked["body"], "people see the preflight"
    made = airflow.api.result(BOOTSTRAP, name, "bootstrap")
    plain = sum(path.stat().st_size for path in (airflow.home.landing / "history").rglob("*.parquet"))
    assert 0 < made["bytes_read"] < plain / 3, "only keys and partitions are read"
    assert "have the checksums of the source" in airflow.api.result(BOOTSTRAP, name, "validate")["message"]
    table = HoodieTable.open(str(airflow.home.lake / "flights_history"))
    assert sum(piece.base_file.source is not None for piece in table.file_slices()) == 11  # December was updated
    month = [piece for piece in table.file_slices() if piece.partition == "month=2013-12"]
    assert all(piece.base_file.source is None for piece in month)
    wanted = history_now()
    found = table.read(columns=wanted.column_names).sort_by([(name, "ascending") for name in KEY])
    assert found.cast(wanted.schema).combine_chunks().equals(wanted.combine_chunks())


def test_nothing_is_ingested_or_written_without_approval(airflow: Running) -> None:
    """A run of ingestion before the bootstrap would make a table without history."""
    ingest, bootstrap = "hudi_ingest__rejected", "hudi_bootstrap__rejected"
    early, asked = airflow.begun[ingest], airflow.begun[bootstrap]
    assert airflow.ended(ingest, early) == {"bootstrapped": "success", "ingest": "skipped"}
    assert "rejected" in answer(airflow.api, bootstrap, asked, "approve", "Reject")
    states = airflow.ended(bootstrap, asked)
    assert states.pop("preflight") == states.pop("approve") == "success"
    assert set(states.values()) == {"skipped"}
    assert airflow.ended(ingest, airflow.api.trigger(ingest, {}))["ingest"] == "skipped"
    assert not (airflow.home.lake / "rejected").exists()
