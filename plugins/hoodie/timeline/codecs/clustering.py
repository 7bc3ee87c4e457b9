"""Requests of replacecommits: HoodieRequestedReplaceMetadata <-> ClusteringPlan (format notes, section 2.5)."""

from __future__ import annotations

from typing import Any

from hoodie.formats import avro_file
from hoodie.model.clustering import SORT_AND_SIZE, ClusteringGroup, ClusteringPlan, ClusteringSlice
from hoodie.storage.base import join
from hoodie.timeline.name_checks import named_part, named_path, reading

_RECORD, _OPERATION = "HoodieRequestedReplaceMetadata", "CLUSTER"


def encode_replace_request(operation: str | None) -> bytes:
    """Request of a replacecommit that is not a clustering: without a plan. Hudi names the operation where it writes no files."""
    params = (
        {"operationType": operation, "extraMetadata": {}, "version": 1} if operation is not None else {"version": None}
    )
    return avro_file.encode(_RECORD, params)


def encode_clustering_plan(plan: ClusteringPlan) -> bytes:
    """The request of a clustering. Rows keep the commit that wrote them (`preserveHoodieMetadata`)."""
    groups = [
        {
            "slices": [_slice_to_record(file_slice, plan.base_path) for file_slice in group.slices],
            "metrics": dict(group.metrics),
            "numOutputFileGroups": group.outputs,
            "extraMetadata": None,
            "version": 1,
        }
        for group in plan.inputs
    ]
    strategy = {"strategyClassName": plan.strategy, "strategyParams": dict(plan.params), "version": 1}
    record: dict[str, Any] = {
        "inputGroups": groups,
        "strategy": strategy,
        "extraMetadata": {},
        "version": 1,
        "preserveHoodieMetadata": True,
        "missingSchedulePartitions": [],
    }
    return avro_file.encode(
        _RECORD, {"operationType": _OPERATION, "clusteringPlan": record, "extraMetadata": {}, "version": 1}
    )


def _slice_to_record(file_slice: ClusteringSlice, base_path: str) -> dict[str, Any]:
    folder = join(base_path, file_slice.partition)
    return {
        "dataFilePath": join(folder, file_slice.base_file) if file_slice.base_file else "",
        "deltaFilePaths": [join(folder, name) for name in file_slice.log_files],
        "fileId": file_slice.file_id,
        "partitionPath": file_slice.partition,
        "bootstrapFilePath": file_slice.source or "",
        "version": 1,
    }


def decode_clustering_plan(data: bytes, where: str) -> ClusteringPlan | None:
    """None when the request plans no clustering: other operations that replace file groups leave it empty, or without a plan.

    Raises CorruptTableError naming `where` for a torn request, UnsafePathError for one whose names are more than names.
    """
    record = avro_file.decode(data, where) if data else {}
    plan = record.get("clusteringPlan")
    if plan is None:
        return None
    with reading(where, "clustering plan"):
        strategy = plan.get("strategy") or {}
        return ClusteringPlan(
            tuple(_group_of(group, where) for group in plan.get("inputGroups") or ()),
            strategy.get("strategyClassName") or SORT_AND_SIZE,
            strategy.get("strategyParams") or {},
        )


def _group_of(group: dict[str, Any], where: str) -> ClusteringGroup:
    slices = tuple(
        ClusteringSlice(
            named_path(file_slice["partitionPath"], where),
            named_part(file_slice["fileId"], where),
            _name(file_slice.get("dataFilePath"), where) or None,
            tuple(_name(path, where) for path in file_slice.get("deltaFilePaths") or ()),
            file_slice.get("bootstrapFilePath") or None,
        )
        for file_slice in group.get("slices") or ()
    )
    return ClusteringGroup(slices, group.get("numOutputFileGroups") or 1, group.get("metrics") or {})


def _name(path: str | None, where: str) -> str:
    """The file's name: plans hold whole paths, and a table may have been moved since."""
    return named_part(path.rpartition("/")[2], where) if path else ""
