"""Files of the timeline in the layout of version 8 and later."""

from __future__ import annotations

import json
from datetime import UTC

import pytest

from hoodie.errors import CorruptTableError
from hoodie.model.time import Time
from hoodie.services.upgrade.state_file import body_in_layout_2, encoded, in_layout_2, is_clustering_request
from hoodie.timeline import Action, Instant, LayoutV1, LayoutV2, State
from hoodie.timeline.codecs.clustering import encode_replace_request
from hoodie.timeline.codecs.commit import decode_commit_avro, decode_commit_json

OLD, NEW = LayoutV1(UTC), LayoutV2(UTC)
TIME = Time.of("20260101000000001")
BODY = {
    "partitionToWriteStats": {"part=p": [{"fileId": "f-0", "path": "part=p/f-0_0-1-2_1.parquet", "numWrites": 3}]},
    "extraMetadata": {"schema": "{}", "nothing": None},
    "operationType": "UPSERT",
    "partitionToReplaceFileIds": {"part=q": ["g-0"]},
}


def instant(action, state=State.COMPLETED):
    return Instant(TIME, action, state)


@pytest.mark.parametrize(
    ("action", "state", "clustering", "name"),
    [
        (Action.COMMIT, State.COMPLETED, False, f"{TIME}_{TIME}.commit"),
        (Action.COMMIT, State.INFLIGHT, False, f"{TIME}.inflight"),
        (Action.COMPACTION, State.REQUESTED, False, f"{TIME}.compaction.requested"),
        (Action.REPLACE_COMMIT, State.COMPLETED, True, f"{TIME}_{TIME}.replacecommit"),
        (Action.REPLACE_COMMIT, State.REQUESTED, True, f"{TIME}.clustering.requested"),
        (Action.REPLACE_COMMIT, State.INFLIGHT, False, f"{TIME}.replacecommit.inflight"),
        (Action.SAVEPOINT, State.COMPLETED, False, f"{TIME}_{TIME}.savepoint"),
    ],
)
def test_names(action, state, clustering, name):
    assert in_layout_2(NEW, instant(action, state), is_clustering=clustering).name == name


@pytest.mark.parametrize("action", [Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT])
def test_commits_become_avro_and_say_the_same(action):
    record = dict(BODY)
    if action is not Action.REPLACE_COMMIT:
        del record["partitionToReplaceFileIds"]
    old = json.dumps(record).encode()
    new = body_in_layout_2(old, instant(action), "here")
    assert new.startswith(b"Obj\x01")
    assert decode_commit_avro(new, "here") == decode_commit_json(old, "here")


def test_a_commit_that_avro_does_not_hold_whole_is_refused():
    """A commit that replaces file groups: their rows would show again."""
    with pytest.raises(CorruptTableError, match="cannot hold whole"):
        body_in_layout_2(json.dumps(BODY).encode(), instant(Action.COMMIT), "here")


def test_pending_files_and_other_actions():
    workload = json.dumps({"partitionToWriteStats": {}, "operationType": "UPSERT"}).encode()
    assert body_in_layout_2(workload, instant(Action.COMMIT, State.INFLIGHT), "here").startswith(b"Obj\x01")
    for body in (b"", b"{}"):
        assert body_in_layout_2(body, instant(Action.COMMIT, State.INFLIGHT), "here") == b""
    request = encode_replace_request("INSERT_OVERWRITE")
    assert body_in_layout_2(request, instant(Action.REPLACE_COMMIT, State.REQUESTED), "here") == request
    assert not is_clustering_request(request, "here")
    assert not is_clustering_request(b"", "here")
    assert body_in_layout_2(b"plan", instant(Action.CLEAN, State.INFLIGHT), "here") == b""
    assert body_in_layout_2(b"plan", instant(Action.CLEAN, State.REQUESTED), "here") == b"plan"


@pytest.mark.parametrize("body", [b"", b"{}", b"{torn", b"Obj\x01"])
def test_a_commit_that_cannot_be_read_is_named(body):
    with pytest.raises(CorruptTableError, match="instant 7"):
        body_in_layout_2(body, instant(Action.COMMIT), "instant 7")


def test_a_record_of_another_schema_is_named():
    with pytest.raises(CorruptTableError, match=r"here cannot be converted.*HoodieCleanMetadata"):
        encoded("HoodieCleanMetadata", {"startCleanTime": 5}, "here")
