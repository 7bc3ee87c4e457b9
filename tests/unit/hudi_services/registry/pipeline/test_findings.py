"""Options of a section: each is read, ignored with a reason, or refused."""

from __future__ import annotations

from hudi_services.registry.pipeline.findings import Findings, Section


def test_options_that_nothing_read_are_left_for_a_refusal():
    findings = Findings()
    section = Section(("source",), {"a": True, "b": [1], "c": 3, "d": "x", "e": None}, findings)
    assert (section.text("a"), section.text("b"), section.text("e"), section.required("f")) == ("true", None, None, "")
    section.note("c", "is about Flink")
    section.note("g", "is not said")
    section.only("a", "true", "has to be true")
    assert list(section.rest()) == ["d"]
    assert findings.refusals == [(("source", "b"), "must be one value"), (("source", "f"), "is missing")]
    assert findings.notes == [(("source", "c"), "is about Flink")]
