"""Writes beside a clustering of Hudi that waits: its file groups are left alone."""

from __future__ import annotations

import pytest

from hoodie.errors import PendingInstantError
from hoodie.formats import avro_file
from hoodie.timeline import Action
from hoodie.transaction import instants
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    made.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "upsert", SMALL_BLOOM)
    (waiting,) = [s for s in made.file_slices() if s.partition == "part=p"]
    group = {"slices": [{"fileId": waiting.file_id, "partitionPath": waiting.partition}]}
    plan = avro_file.encode("HoodieRequestedReplaceMetadata", {"clusteringPlan": {"inputGroups": [group]}})
    action = Action.CLUSTERING if made.version == 9 else Action.REPLACE_COMMIT
    instants.request(made.state(), "20260101000100000", action, plan)
    return made


@pytest.mark.format("11j")
@pytest.mark.parametrize("operation", ["upsert", "delete"])
def test_updates_of_its_groups_are_refused(table, operation):
    before = content(table)
    with pytest.raises(PendingInstantError, match="20260101000100000"):
        table.write(batch([("a", "p", 2, 2)]), operation, SMALL_BLOOM)
    assert content(table) == before
    assert [instant.time for instant in table.timeline.pending] == ["20260101000100000"], "it is not rolled back"


@pytest.mark.format("11j")
def test_other_groups_are_written_and_new_rows_go_elsewhere(table):
    table.write(batch([("b", "q", 2, 2), ("c", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 2, 2), "c": ("p", 2, 2)}
    assert len([s for s in table.file_slices() if s.partition == "part=p"]) == 2
