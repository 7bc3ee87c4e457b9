"""Requests of operations that replace file groups: which of them plan a clustering, and of which groups."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError, UnsafePathError
from hoodie.formats import avro_file
from hoodie.timeline.codecs.clustering import decode_clustering_plan


def request(*slices, plan=True):
    groups = [{"slices": [{"partitionPath": part, "fileId": file_id} for part, file_id in slices]}] if slices else None
    record = {"clusteringPlan": {"inputGroups": groups}} if plan else {}
    return avro_file.encode("HoodieRequestedReplaceMetadata", record)


def test_the_groups_of_a_plan():
    plan = decode_clustering_plan(request(("p", "a-0"), ("", "b-0")), "here")
    assert plan is not None
    assert plan.groups == (("p", "a-0"), ("", "b-0"))


def test_a_plan_without_groups_is_a_plan():
    plan = decode_clustering_plan(request(), "here")
    assert plan is not None
    assert plan.groups == ()


@pytest.mark.parametrize("data", [b"", request(plan=False)], ids=["empty", "no plan"])
def test_what_other_operations_request_is_no_clustering(data):
    assert decode_clustering_plan(data, "here") is None


@pytest.mark.parametrize("group", [("../p", "a-0"), ("p", "a/0"), (".hoodie", "a-0")])
def test_a_plan_that_leads_out_of_the_table_is_refused(group):
    with pytest.raises(UnsafePathError, match="here"):
        decode_clustering_plan(request(group), "here")


def test_a_torn_plan_is_refused_at_any_byte():
    data = request(("p", "a-0"))
    for end in range(1, len(data)):
        with pytest.raises(CorruptTableError, match="here"):
            decode_clustering_plan(data[:end], "here")
