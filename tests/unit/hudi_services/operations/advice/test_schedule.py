"""The sentence about what starts each service."""

from __future__ import annotations

import yaml

from hudi_services.operations.advice.schedule import starts_of
from hudi_services.registry.load import load_registry
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from tests.support.advice import NOW


def starts(folder, **entry):
    """The sentences of the table's services."""
    folder.mkdir(exist_ok=True)
    file = folder / "tables.yaml"
    named = {"name": "orders", "base_path": f"{folder}/orders", "type": "MERGE_ON_READ", **entry}
    file.write_text(yaml.safe_dump({"judge": {"schedule": "@hourly"}, "tables": [named]}))
    (table,) = load_registry(file).tables
    return {each.service: (each.text, each.by_itself) for each in starts_of(table, NOW)}


def test_a_schedule_names_its_next_begin(tmp_path):
    found = starts(tmp_path, clean={"schedule": "30 * * * *"}, archive={"schedule": "0 3 * * *"})
    assert found["clean"] == ("Airflow starts it by the schedule '30 * * * *', next at 12:30 UTC.", True)
    assert found["archive"] == ("Airflow starts it by the schedule '0 3 * * *', next at 2026-03-06 03:00 UTC.", True)


def test_services_that_wait_for_ingestions_or_objectives_or_for_nothing(tmp_path):
    source = {"source": {"path": f"{tmp_path}/land", "format": "json"}, "keys": {"record_key": ["id"]}}
    found = starts(
        tmp_path,
        **source,
        ingest={"schedule": "@daily"},
        clean={"after_ingests": 5},
        cluster={"schedule": "objectives"},
        objectives={"small_files": 5},
    )
    assert found["clean"] == ("It waits for a commit by any program.", True)
    assert found["cluster"] == ("The judge in Airflow starts it once an objective is missed.", True)
    assert found["compact"][0].startswith("Nothing starts it: neither compact.schedule nor")
    assert not found["compact"][1]


def test_a_table_of_a_database_server_is_filled_by_the_runs_of_that_server(tmp_path):
    entry = {"name": "orders", "base_path": "/lake/orders", "source": {"server": "shop", "table": "shop.orders"}}
    [sync] = [each for each in starts_of(table_model(ENTRIES).model_validate(entry), NOW) if each.command]
    assert (sync.service, sync.command) == ("cdc sync", "hudi-services cdc sync shop")
