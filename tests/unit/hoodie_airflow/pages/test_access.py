"""Rights to the DAGs of a table are rights to the table: to see it one is enough, to pause it all are needed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from hoodie_airflow.pages import access
from hudi_services.operations.pages.fleet import dags_of
from hudi_services.registry.load import read_registry

pytestmark = pytest.mark.process
CLEAN, ARCHIVE = "hudi_clean__orders", "hudi_archive__orders"


@pytest.mark.parametrize(
    ("read", "edited", "sees", "pauses"),
    [
        ({CLEAN, ARCHIVE}, {CLEAN, ARCHIVE, "other"}, True, True),
        ({CLEAN}, {CLEAN}, True, False),
        ({"other"}, {"other"}, False, False),
        (set(), set(), False, False),
    ],
)
def test_who_sees_and_who_pauses_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: set[str], edited: set[str], sees: bool, pauses: bool
) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text("tables: [{name: orders, base_path: /lake/orders, clean: {}, archive: {}}]")
    table = read_registry(file).registry.table("orders")
    assert table is not None
    assert dags_of(table) == {CLEAN, ARCHIVE}
    manager = SimpleNamespace(get_authorized_dag_ids=lambda user, method: {"GET": read, "PUT": edited}[method])
    monkeypatch.setattr(access, "get_auth_manager", lambda: manager)
    rights = access.Rights("somebody")
    assert (rights.sees(table), rights.pauses(table)) == (sees, pauses)
