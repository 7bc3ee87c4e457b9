"""Plans of compactions and log compactions: what is written comes back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import CorruptTableError, UnsafePathError
from hoodie.formats import avro_file
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.timeline.codecs.compaction import decode_compaction_plan, encode_compaction_plan

BASE, LOG = "f-0_0-1-2_20240101000000000.parquet", ".f-0_20240102000000000.log.1_0-1-2"
OPERATION = CompactionOperation("p", "f-0", "20240101000000000", BASE, (LOG,), {"TOTAL_LOG_FILES": 1.0}, "file:/s/x")
PLAN = CompactionPlan((OPERATION, replace(OPERATION, base_file=None, source=None)), {"k": "v"})


def test_a_plan():
    assert decode_compaction_plan(encode_compaction_plan(PLAN), "here") == PLAN


def test_what_was_planned_for_logs_only_comes_back_without_saying_so():
    assert decode_compaction_plan(encode_compaction_plan(replace(PLAN, logs_only=True)), "here") == PLAN


def test_plans_of_version_1_hold_whole_paths():
    older = replace(OPERATION, base_file=f"/lake/t/p/{BASE}", log_files=(f"/lake/t/p/{LOG}",))
    found = decode_compaction_plan(encode_compaction_plan(CompactionPlan((older,))), "here")
    assert found.operations == (OPERATION,)


@pytest.mark.parametrize("change", [{"partition": "../p"}, {"file_id": "p/f"}, {"base_instant": "20240101/.."}])
def test_a_plan_that_leads_out_of_the_table_is_refused(change):
    data = encode_compaction_plan(CompactionPlan((replace(OPERATION, **change),)))
    with pytest.raises(UnsafePathError, match="here"):
        decode_compaction_plan(data, "here")


def test_an_operation_without_a_group_is_refused():
    data = avro_file.encode("HoodieCompactionPlan", {"operations": [{"partitionPath": "p"}], "version": 2})
    with pytest.raises((CorruptTableError, UnsafePathError), match="here"):
        decode_compaction_plan(data, "here")
