"""Findings of the doctor as facts: one for each check, with its first finding as the example."""

from __future__ import annotations

from hoodie.doctor.catalogue import MARKERS, MISSING_FILE
from hoodie.doctor.finding import Finding, Severity
from hudi_services.operations.advice.facts import Damage
from hudi_services.operations.advice.findings import damages_of


def test_findings_of_one_check_are_one():
    missing = [
        MISSING_FILE.finding("A file is missing", "restore it", path=path, bytes=7, found="7 bytes")
        for path in ("a/1", "a/2")
    ]
    left = MARKERS.finding("Markers are left", "remove them", instant="20260101")
    note = Finding("note", Severity.NOTE, "it is small", "nothing")
    assert damages_of([missing[0], left, note, missing[1]]) == (
        Damage(
            "missing-file",
            "A file is missing (a/1)",
            "restore it",
            fixable=False,
            grave=True,
            count=2,
            bytes=14,
            detail="7 bytes",
        ),
        Damage("markers", "Markers are left (20260101)", "remove them", fixable=True, grave=False),
    )
    assert damages_of([note]) == ()
