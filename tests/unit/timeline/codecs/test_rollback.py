"""Plans and results of rollbacks: what is written comes back."""

from __future__ import annotations

import io

import fastavro
import pytest

from hoodie.formats import avro_file
from hoodie.model.rollback import RollbackPlan, RollbackResult
from hoodie.timeline.codecs.rollback import decode_rollback_plan, encode_rollback_plan, encode_rollback_result
from hoodie.transaction.guard import relative_path


@pytest.mark.parametrize("base", ["/lake/t", "s3://bucket/t", "file:/lake/t"])
def test_a_plan_holds_full_paths_and_comes_back_relative(base):
    plan = RollbackPlan("20240101000000000", "commit", {"": ("a.parquet",), "p": ("p/x", "p/y")})

    def relative(path):
        assert path.startswith(base)
        return relative_path(base, path)

    assert decode_rollback_plan(encode_rollback_plan(plan, base), "here", relative) == plan


def test_a_partition_may_come_in_several_requests():
    """Hudi makes one for each file."""
    requests = [
        {"partitionPath": "p", "fileId": "", "latestBaseInstant": "", "filesToBeDeleted": [f"/lake/t/p/{name}"]}
        for name in ("x", "y")
    ]
    instant = {"commitTime": "20240101000000000", "action": "commit"}
    record = {"instantToRollback": instant, "RollbackRequests": requests, "version": 1}
    body = avro_file.encode("HoodieRollbackPlan", record)
    plan = decode_rollback_plan(body, "here", lambda path: relative_path("/lake/t", path))
    assert plan.files == {"p": ("p/x", "p/y")}


def test_the_result_of_a_rollback_counts_its_files():
    result = RollbackResult("2", 5, "1", "commit", {"": ("a",), "p": ("p/b", "p/c")})
    [record] = fastavro.reader(io.BytesIO(encode_rollback_result(result, "/t")))
    assert record["totalFilesDeleted"] == 3
    assert record["partitionMetadata"]["p"]["successDeleteFiles"] == ["/t/p/b", "/t/p/c"]
    assert record["instantsRollback"] == [{"commitTime": "1", "action": "commit"}]
