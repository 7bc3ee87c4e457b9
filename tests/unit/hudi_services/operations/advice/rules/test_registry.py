"""Mistakes of a registry, and warnings about a table's entry."""

from __future__ import annotations

from hudi_services.entry.target import Target
from hudi_services.operations.advice.facts import TableFacts
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.rules.registry import mistake, warnings
from hudi_services.registry.mistakes import Mistake, merged
from tests.support.advice import NOW, said


def test_a_mistake_names_its_line_and_keeps_the_table_out():
    wrong = mistake(Mistake("t.yaml", 3, "orders.keys", "is not there.", "orders"), ["orders"], "my t.yaml")
    assert wrong.sentence(NOW) == "The registry has a mistake: t.yaml:3: orders.keys: is not there."
    assert (wrong.table, wrong.severity) == ("orders", Severity.FAILED)
    assert wrong.fix == "hudi-services registry check 'my t.yaml'"
    of_all = mistake(Mistake("t.yaml", 1, "file", "cannot be read"), [], "t.yaml")
    assert (of_all.table, of_all.waits) == ("t.yaml", "")


def test_a_mistake_of_a_shared_section_is_advised_once():
    mistakes = [Mistake("t.yaml", 2, f"{name}.ttl", "is not there", name) for name in "abcd"]
    [advice] = [mistake(shared, tables, "t.yaml") for shared, tables in merged(mistakes)]
    assert advice.text == "The registry has a mistake: t.yaml:2: ttl: is not there (of 4 tables: a, b, c and 1 more)"
    assert (advice.table, advice.waits) == ("t.yaml", "No service runs on the tables until the registry is right.")


def test_a_warning_of_the_entry():
    named = {"target": Target.of("/lake/o", "o", "my tables.yaml"), "now": NOW, "warnings": ("a key",)}
    [advice] = warnings(TableFacts("o", "/lake/o", **named))
    assert advice.fix == "hudi-services registry check 'my tables.yaml'"
    assert said(warnings, warnings=("a key is unique per partition only.",)) == [
        "The registry has a warning: a key is unique per partition only. $ hudi-services registry check"
    ]
    assert said(warnings) == []
