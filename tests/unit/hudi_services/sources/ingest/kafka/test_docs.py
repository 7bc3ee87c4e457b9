"""The quick start of docs/how-to/kafka.md runs as it is written, and docs/reference/kafka.md names every key."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import TopicSource
from tests.support.orders import delete, insert, update

DOCS = Path(__file__).resolve().parents[6] / "docs"


def section(page: str, title: str) -> str:
    return (DOCS / page).read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.process
def test_the_quick_start(broker, tmp_path, monkeypatch, capsys):
    broker.create("orders", 2)
    start = section("how-to/kafka.md", "A topic in a table")
    [registry] = re.findall(r"```yaml\n(.*?)```", start, re.S)
    exported, commands = (block.strip() for block in re.findall(r"```sh\n(.*?)```", start, re.S))
    declared = yaml.safe_load(registry.replace("/lake", str(tmp_path / "lake")))
    monkeypatch.chdir(tmp_path)
    Path("tables.yaml").write_text(yaml.safe_dump(declared))
    name, value = shlex.split(exported)[1].split("=", 1)
    monkeypatch.setenv(name, value.replace("broker1:9092,broker2:9092", broker.brokers))
    explain, load = (shlex.split(line)[1:] for line in commands.splitlines())
    broker.send("orders", [insert(1), insert(2), update(1, "a")], 0)
    assert main(explain) == 0
    told = capsys.readouterr().out
    assert "3 new offsets in 1 partition of topic orders of server events" in told
    assert "partition 0, offsets 0 to 3" in told
    assert main(load) == 0
    broker.send("orders", [delete(2), insert(3)], 0)
    assert main(load) == 0
    assert "2 changes in 2 messages" in capsys.readouterr().out
    rows = HoodieTable.open(str(tmp_path / "lake/orders")).read(columns=["id", "name"]).sort_by("id")
    assert rows.to_pylist() == [{"id": 1, "name": "a"}, {"id": 3, "name": "new"}]


@pytest.mark.parametrize(("title", "model"), [("The server", KafkaServer), ("The source", TopicSource)])
def test_every_key_is_described(title, model):
    cells = [
        line.split(" | ")[0] for line in section("reference/kafka.md", title).splitlines() if line.startswith("| `")
    ]
    named = {name.partition(".")[0] for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    assert named == set(model.model_fields)
