"""Mistakes of a registry, and warnings about a table's entry."""

from __future__ import annotations

from hudi_services.entry.target import Target
from hudi_services.operations.advice.facts import TableFacts
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.rules.registry import mistake, warnings
from hudi_services.registry.mistakes import Mistake
from tests.support.advice import NOW, said


def test_a_mistake_names_its_line_and_keeps_the_table_out():
    wrong = mistake(Mistake("t.yaml", 3, "orders.keys", "is not there.", "orders"), "my t.yaml")
    assert wrong.sentence(NOW) == "The registry has a mistake: t.yaml:3: orders.keys: is not there."
    assert (wrong.table, wrong.severity) == ("orders", Severity.FAILED)
    assert wrong.fix == "hudi-services registry check 'my t.yaml'"
    of_all = mistake(Mistake("t.yaml", 1, "file", "cannot be read"), "t.yaml")
    assert (of_all.table, of_all.waits) == ("t.yaml", "")


def test_a_warning_of_the_entry():
    named = {"target": Target.of("/lake/o", "o", "my tables.yaml"), "now": NOW, "warnings": ("a key",)}
    [advice] = warnings(TableFacts("o", "/lake/o", **named))
    assert advice.fix == "hudi-services registry check 'my tables.yaml'"
    assert said(warnings, warnings=("a key is unique per partition only.",)) == [
        "The registry has a warning: a key is unique per partition only. $ hudi-services registry check"
    ]
    assert said(warnings) == []
