"""Formats of messages by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.messages import message_format


def test_a_format_has_a_name_and_parameters():
    assert message_format("debezium-json", table="shop.orders").table == "shop.orders"


def test_the_documented_example_runs(capsys):
    page = Path(__file__).parents[6] / "docs/reference/messages.md"
    exec(re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[1], {})
    change = "[{'op': 'i', 'number': 0, 'before': None, 'after': {'id': 1, 'name': 'first'}}]"
    assert capsys.readouterr().out == f"{change}\n() () {{}}\n"


def test_unknown_names_are_refused_with_near_ones():
    with pytest.raises(ConfigError, match="'debezum-json' is unknown") as caught:
        message_format("debezum-json")
    assert "use debezium-json" in str(caught.value)
    with pytest.raises(ConfigError, match="no parameter 'tabel'") as caught:
        message_format("debezium-json", tabel="x")
    assert "use table" in str(caught.value)
