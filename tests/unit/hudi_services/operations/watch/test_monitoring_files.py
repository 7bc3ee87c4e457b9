"""The dashboard for Grafana and the alert rules for Prometheus name metrics, labels, healths and commands that exist."""

from __future__ import annotations

import json
import re
from typing import get_args

import yaml

from hoodie.clock import SystemClock
from hudi_services.cli.program import cli
from hudi_services.operations.watch.metrics import TableCollector
from hudi_services.operations.watch.model import Health
from hudi_services.operations.watch.server_metrics import ServerCollector
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_metrics import TopicCollector
from hudi_services.registry.load import Reading, Registry
from hudi_services.runtime.folders import MONITORING

DASHBOARD = json.loads((MONITORING / "grafana" / "hudi-tables.json").read_text())
RULES = [
    rule
    for group in yaml.safe_load((MONITORING / "prometheus" / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
QUERIES = [each["query"]["query"] for each in DASHBOARD["templating"]["list"] if each["type"] == "query"]


def metrics(tmp_path):
    """Names of all metrics -> the labels of their samples."""
    store = SnapshotStore.open(str(tmp_path / "s.db"), make=True)
    servers = ServerCollector(lambda: Reading(Registry("tables.yaml"), ()), SystemClock())
    topics = TopicCollector(store, SystemClock())
    found = [*TableCollector(store).collect(), *servers.collect(), *topics.collect()]
    return {family.name: set(family._labelnames) for family in found}


def named(text):
    return set(re.findall(r"\bhudi_\w+", text))


def test_each_metric_exists_and_each_one_is_shown(tmp_path):
    known = metrics(tmp_path)
    for text in (*EXPRESSIONS, *QUERIES, *(rule["expr"] for rule in RULES)):
        assert named(text), text
        assert named(text) <= set(known), text
    assert set.union(*map(named, EXPRESSIONS)) == set(known), "a metric that no panel shows"


def test_labels_and_healths_exist(tmp_path):
    known = metrics(tmp_path)
    healths = set(get_args(Health))
    for text in (*EXPRESSIONS, *(rule["expr"] for rule in RULES)):
        for name, chosen in re.findall(r"(hudi_\w+)\{([^}]*)\}", text):
            assert set(re.findall(r"(\w+)=", chosen)) <= known[name], text
        for health in re.findall(r'health=~?"([^"]*)"', text):
            assert set(health.split("|")) <= healths, text
    for rule in RULES:
        labels = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
        assert all(labels <= known[name] for name in named(rule["expr"])), rule["alert"]


def test_each_alert_has_what_a_person_needs():
    assert len({rule["alert"] for rule in RULES}) == len(RULES) > 5
    for rule in RULES:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        for command in re.findall(r"`hudi-services (\w+)", json.dumps(rule["annotations"])):
            assert command in cli.commands, command


def test_panels_do_not_overlap_and_use_the_chosen_source():
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
        assert panel["datasource"]["uid"] == "${datasource}"
