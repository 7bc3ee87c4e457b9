"""Plans and results of restores."""

from __future__ import annotations

import pytest

from hoodie.errors import CorruptTableError, UnsafePathError, UnsupportedTableError
from hoodie.formats import avro_file
from hoodie.model.restore import RestorePlan, RestoreResult
from hoodie.model.rollback import RollbackResult
from hoodie.timeline.codecs.restore import (
    decode_restore_plan,
    encode_restore_plan,
    encode_restore_result,
    restored_instants,
    restored_rollbacks,
)

NEW, OLD, SAVED, RESTORE = (f"2026010{day}000000000" for day in (3, 2, 1, 4))
FILE = f"p/f_0-0-0_{NEW}.parquet"


def test_a_plan_keeps_its_order():
    plan = RestorePlan(SAVED, ((NEW, "commit"), (OLD, "deltacommit")))
    assert decode_restore_plan(encode_restore_plan(plan), "here") == plan
    without = RestorePlan(None, ())
    assert decode_restore_plan(encode_restore_plan(without), "here") == without


def encoded(time, action, savepoint=SAVED):
    instants = [{"commitTime": time, "action": action}]
    record = {"instantsToRollback": instants, "version": 1, "savepointToRestoreTimestamp": savepoint}
    return avro_file.encode("HoodieRestorePlan", record)


def test_a_plan_with_what_is_not_known_is_refused():
    assert decode_restore_plan(encoded(NEW, "commit", ""), "here").savepoint is None
    with pytest.raises(UnsupportedTableError, match=r"restore here.*unknown action 'vacuum'.*nothing was"):
        decode_restore_plan(encoded(NEW, "vacuum"), "here")
    with pytest.raises(UnsafePathError, match="here"):
        decode_restore_plan(encoded("../x", "commit"), "here")
    with pytest.raises(CorruptTableError, match="here"):
        decode_restore_plan(encoded(NEW, "commit")[:-20], "here")


def test_a_result_names_what_was_taken_back():
    """Files by their whole paths, as Hudi does."""
    rollbacks = (
        RollbackResult(RESTORE, 1, NEW, "commit", {"p": (FILE,)}),
        RollbackResult(RESTORE, 2, OLD, "deltacommit", {}),
    )
    body = encode_restore_result(RestoreResult(RESTORE, 5, rollbacks), "/lake/t")
    assert restored_instants(body, "here") == {NEW, OLD}
    assert [(each.instant, dict(each.deleted)) for each in restored_rollbacks(body, "here")] == [
        (NEW, {"p": (f"/lake/t/{FILE}",)}),
        (OLD, {}),
    ]
    with pytest.raises(CorruptTableError, match="here"):
        restored_instants(body[:-20], "here")
