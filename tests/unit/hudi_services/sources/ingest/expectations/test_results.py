"""Results of checks in a commit."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.ingest.expectations.results import KEY, CheckResult, decoded, encoded, refuse_failed, summary

GOOD, BAD = CheckResult("rows > 1", True, "2 rows"), CheckResult("a > 0", False, "1 of 2 rows breaks it")


def test_a_commit_keeps_them():
    assert decoded(encoded([GOOD, BAD])) == [GOOD, BAD]
    assert encoded([]) == {}
    assert decoded({}) == []


@pytest.mark.parametrize("text", ["", "no JSON", "5", '[{"other": 1}]'])
def test_those_of_another_program_are_none(text):
    assert decoded({KEY: text}) == []


def test_in_words():
    assert summary([]) == []
    assert summary([GOOD]) == ["1 check passed"]
    assert summary([GOOD, BAD]) == ["WARNING: 1 of 2 checks failed: expected a > 0: 1 of 2 rows breaks it"]
    refuse_failed("/in", [GOOD])
    with pytest.raises(SourceError, match="The data of /in fails 1 check of 2"):
        refuse_failed("/in", [GOOD, BAD])
