"""The registry that docs/how-to/alerts.md shows is right, and says all that there is to say."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

from hudi_services.entry.alerts import Alerts, Hook
from hudi_services.registry.load import read_registry

TEXT = Path(__file__).resolve().parents[5].joinpath("docs/how-to/alerts.md").read_text()


def test_the_registry_that_is_shown(tmp_path):
    _, shown, _ = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)
    file = tmp_path / "tables.yaml"
    file.write_text(shown)
    found = read_registry(file, {})
    assert found.mistakes == ()
    alerts = found.registry.alerts
    assert alerts is not None
    assert all(f"`{name}`" in TEXT for name in Alerts.model_fields.keys() - {"hooks"}), "each key is explained"
    said = alerts.model_fields_set.union(*(hook.model_fields_set for hook in alerts.hooks))
    assert said >= Hook.model_fields.keys()


def test_the_deadline_that_is_shown(tmp_path):
    _, _, shown = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)
    file = tmp_path / "tables.yaml"
    file.write_text(shown)
    (table,) = read_registry(file, {}).registry.tables
    assert table.clean.deadline == timedelta(hours=2)
