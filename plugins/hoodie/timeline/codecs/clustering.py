"""Requests of replacecommits: HoodieRequestedReplaceMetadata -> ClusteringPlan (format notes, section 2.5)."""

from __future__ import annotations

from hoodie.formats import avro_file
from hoodie.model.clustering import ClusteringPlan
from hoodie.model.files import GroupId
from hoodie.timeline.named import named_part, named_path, reading


def encode_replace_request(operation: str | None) -> bytes:
    """The request of a replacecommit that is no clustering: without a plan. Hudi names the operation where it writes no files."""
    told = (
        {"operationType": operation, "extraMetadata": {}, "version": 1} if operation is not None else {"version": None}
    )
    return avro_file.encode("HoodieRequestedReplaceMetadata", told)


def decode_clustering_plan(data: bytes, where: str) -> ClusteringPlan | None:
    """None when the request plans no clustering: other operations that replace file groups leave it empty, or without a plan.

    Raises CorruptTableError naming `where` for a torn request, UnsafePathError for one whose names are more than names.
    """
    record = avro_file.decode(data, where) if data else {}
    if record.get("clusteringPlan") is None:
        return None
    with reading(where, "clustering plan"):
        return ClusteringPlan(
            tuple(
                GroupId(named_path(file_slice["partitionPath"], where), named_part(file_slice["fileId"], where))
                for group in record["clusteringPlan"].get("inputGroups") or ()
                for file_slice in group.get("slices") or ()
            )
        )
