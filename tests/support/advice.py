"""Facts about a table that wants no advice, and the advice of a rule as a test compares it."""

from __future__ import annotations

from datetime import UTC, datetime

from hudi_services.entry.target import Target
from hudi_services.operations.advice.facts import Start, TableFacts, Work

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
AT_NINE = datetime(2026, 3, 5, 9, 0, tzinfo=UTC)


def facts(**more):
    """A table of a registry with nothing to do."""
    return TableFacts("orders", "/lake/orders", Target.of("/lake/orders", "orders"), NOW, **more)


def work(service, items=3, size=2048, **more):
    """Work of a service that is due."""
    nouns = {"compact": "file group", "archive": "instant", "ttl": "partition", "cluster": "file group"}
    return {service: Work(service, True, "5 delta commits", items, size, nouns.get(service, "file"), **more)}


def start(service, text="It waits for an ingestion in Airflow.", *, by_itself=True):
    """The starter of a service."""
    return {service: Start(service, text, by_itself)}


def said(rule, **more):
    """All that a rule says of a table: sentences, commands."""
    return [
        " ".join(
            filter(
                None,
                [each.sentence(NOW), str(each.effect or ""), each.remedy, each.waits, each.fix and f"$ {each.fix}"],
            )
        )
        for each in rule(facts(**more))
    ]
