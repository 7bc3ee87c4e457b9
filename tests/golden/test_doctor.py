"""The doctor reports the damage that was done to tables of Hudi, and nothing else."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable

MEANT = {"fail_cow_tls": {"failed-write"}, "mor_pendcomp": {"plan-waits"}}
"""Tables that were left in the middle of something."""


@pytest.mark.parametrize("archive", ["12v9", "15v6", "12merge", "15lists"])
def test_nothing_is_wrong_with_them_but_what_was_meant(golden, archive):
    for path in sorted(path.parents[1] for path in golden(archive).glob("*/.hoodie/hoodie.properties")):
        found = HoodieTable.open(path).diagnose(deep=True).findings
        assert {each.check for each in found if each.severity != "note"} == MEANT.get(path.name, set()), path.name
