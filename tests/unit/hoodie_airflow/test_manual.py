"""The forms of runs by hand: Airflow refuses what makes no sense, and what a field says reaches the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import ParamValidationError

from hudi_services.entry.dag import Asked
from hudi_services.ingest.entry import INGEST
from hudi_services.registry.load import load_registry
from tests.unit.hoodie_airflow.test_factory import load


@pytest.mark.parametrize(
    ("dag", "field", "wrong", "right"),
    [
        ("hudi_ingest__events", "reload_since", "yesterday", "20260103061500000"),
        ("hudi_ingest__events", "reload_since", "2026-01-03", "20260103061500"),
        ("hudi_ingest__events", "reload", "maybe", True),
        ("hudi_ingest__events", "files", "a.csv", ["a.csv", "dt=2026-01-03/"]),
        ("hudi_ingest__events", "files", ["/land/a.csv"], None),
        ("hudi_ingest__flights", "from", "soon", "2026-01-03"),
    ],
)
def test_airflow_refuses_what_makes_no_sense(registry: Path, dag: str, field: str, wrong: Any, right: Any) -> None:
    params = load()[dag].params
    params[field] = right
    assert params.validate()[field] == right
    with pytest.raises(ParamValidationError, match=field):
        params[field] = wrong


def test_what_is_loaded_again_reaches_the_service(registry: Path) -> None:
    events = next(table for table in load_registry(registry).tables if table.name == "events")

    def flags(**params: Any) -> tuple[str, ...]:
        return INGEST.called_with(events, Asked("", params)).flags

    again = {"--files", "--reload", "--reload-since"}
    assert not again & set(flags(files=None, reload=False, reload_since=None))
    chosen = flags(files=["a*.csv", "x/"], reload=True)
    at = chosen.index("--files")
    assert chosen[at : at + 5] == ("--files", "a*.csv", "--files", "x/", "--reload")
    since = flags(reload_since="20260103061500000")
    assert since[since.index("--reload-since") + 1] == "20260103061500000"


def test_a_backfill_that_loads_again_leaves_the_days_before_alone(registry: Path) -> None:
    flights = next(table for table in load_registry(registry).tables if table.name == "flights")
    with pytest.raises(ValueError, match="catch_up_late contradicts reload"):
        INGEST.called_with(flights, Asked("", {"catch_up_late": "yes", "reload": True}, "backfill"))
