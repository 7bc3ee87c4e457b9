"""Small files, by the limit of the table's writers."""

from __future__ import annotations

from hoodie.doctor.checks import shape
from tests.support.tables import SMALL_BLOOM, batch, create


def test_small_files_are_those_below_the_limit_of_the_writers(tmp_path, monkeypatch):
    monkeypatch.setattr(shape, "MANY", 2)
    monkeypatch.setattr(shape, "_FEWER", 2)
    table = create(tmp_path)
    for key in ("a", "b"):
        table.write(batch([(key, "p", 1, 1)]), "bulk_insert", SMALL_BLOOM)
    (small,) = table.diagnose().findings
    assert (small.check, small.path) == ("small-files", "part=p")
    assert small.found.startswith("2 files below 104,857,600 bytes")
    for limit, found in ((1, []), (10**6, ["2 files below 1,000,000 bytes"]), (0, ["2 files below 104,857,600 bytes"])):
        findings = table.diagnose({"hoodie.parquet.small.file.limit": limit}).findings
        assert [finding.found.partition(" bytes")[0] + " bytes" for finding in findings] == found
