"""The page of words has each state that the code can show, with the word that the pages have for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from hoodie.timeline.instant import State as InstantState
from hudi_services.operations.alerts.ledger import Happening
from hudi_services.operations.pages.row import Standing
from hudi_services.operations.pages.run import TaskRun
from hudi_services.operations.pages.snapshot_page import Waiting
from hudi_services.operations.watch.model import Health
from hudi_services.sources.databases.status import TableState
from hudi_services.sources.ingest.kafka.lag import State as TopicState

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/page-words.md").read_text()
WEB = ROOT / "plugins/hoodie_airflow/pages/web"


def section(title: str) -> str:
    """The text below a heading."""
    _, _, rest = PAGE.partition(f"\n## {title}\n")
    assert rest, title
    return rest.partition("\n## ")[0]


def shown(file: str, name: str) -> dict[str, str]:
    """State -> word, by a table of a script."""
    block = re.search(rf"const {name} = \{{(.*?)\}};", (WEB / file).read_text(), re.S)
    assert block is not None
    return dict(re.findall(r'(\w+): \["[^"]*", "([^"]*)"', block[1]))


def literal(owner: Any, field: str) -> Iterable[str]:
    return get_args(get_type_hints(owner)[field])


@pytest.mark.parametrize(
    ("title", "states", "script"),
    [
        ("State of a table", get_args(Standing), ("fleet.js", "STATES")),
        ("State of a run", literal(TaskRun, "outcome"), ("run.js", "OUTCOMES")),
        ("State of a table that a server feeds", get_args(TableState), ("server.js", "STATES")),
    ],
)
def test_states_of_the_pages(title, states, script):
    words, text = shown(*script), section(title)
    assert set(words) == set(states)
    for state, word in words.items():
        assert re.search(rf"^\| {re.escape(word.partition(',')[0]) or 'no word'} \| `{state}` \|", text, re.M), state


@pytest.mark.parametrize(
    ("title", "states"),
    [
        ("State of a table", get_args(Health)),
        ("State of an instant", [state.name.lower() for state in InstantState]),
        ("Pending work and blockers", literal(Waiting, "kind")),
        ("State of a table that a server feeds", get_args(TopicState)),
        ("Alerts", get_args(Happening)),
    ],
)
def test_other_states(title, states):
    text = section(title)
    assert states
    assert [state for state in states if f"`{state}`" not in text] == []
