"""The simulation notices when a step of the protocol is left out. Otherwise its passing would prove nothing."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import pytest

from hoodie.errors import HoodieError
from hoodie.markers import LocalMarkers
from hoodie.markers.names import marker_name
from hoodie.services.clustering import execute as clustering_execute
from hoodie.transaction import conflicts, optimistic, reconcile, repair, transaction
from hoodie.write import bucket_index, execute
from hoodie.write.placement import Placement
from tests.simulation.scene import Plot, Scene
from tests.simulation.test_simulation import PLOTS
from tests.simulation.world import Chances

MOST_SEEDS = 150


@contextmanager
def _no_lock(*_):
    yield


def _markers_go_first(storage, time, files):
    reconcile.reconcile_markers(storage, time, files)
    reconcile.delete_markers(storage, time)


LEFT_OUT = {
    "no lock at the commit": ("COPY_ON_WRITE-9-shared", 5, optimistic, "table_lock", _no_lock),
    "no conflict check": ("MERGE_ON_READ-9-shared", 8, optimistic, "find_conflict", lambda *_: None),
    "no look for the same new keys": (
        "COPY_ON_WRITE-9-shared-apart",
        107,
        execute,
        "refuse_same_keys",
        lambda *_: None,
    ),
    "no rollback": ("COPY_ON_WRITE-9", 2, repair, "rollback_failed_writes", lambda *_: []),
    "a task that does not wait for its marker": (
        "MERGE_ON_READ-6-batched",
        6,
        LocalMarkers,
        "create",
        lambda self, path, kind: self.batches.request(marker_name(path, kind)),
    ),
    "no look for the same new bucket": (
        "MERGE_ON_READ-9-shared-buckets",
        22,
        execute,
        "refuse_same_buckets",
        lambda *_: None,
    ),
    "logs that no commit of others hides": (
        "MERGE_ON_READ-9-appending-replaced",
        127,
        conflicts,
        "_bears_commit",
        lambda *_: True,
    ),
    "a replaced file id used again": (
        "MERGE_ON_READ-9-appending-replaced",
        17,
        bucket_index,
        "replaced_groups",
        lambda *_: {},
    ),
    "markers deleted before the commit": ("MERGE_ON_READ-6", 4, transaction, "reconcile_markers", _markers_go_first),
}


@pytest.mark.parametrize(("plot", "seed", "module", "name", "instead"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_step_that_is_left_out_is_noticed(plot, seed, module, name, instead):
    with mock.patch.object(module, name, instead):
        assert _fails_once(PLOTS[plot], seed)


@pytest.mark.parametrize(("plot", "seed"), [("COPY_ON_WRITE-9-clustered", 32), ("MERGE_ON_READ-6-clustered", 25)])
def test_rows_written_to_clustered_groups_are_noticed(plot, seed):
    """Two looks keep them: the writer's for plans that wait, and the clustering's for what was written since. Each does alone."""
    writers = mock.patch.object(Placement, "_refuse_clustered", return_value=None)
    clustering = mock.patch.object(clustering_execute, "_refuse_changes", return_value=None)
    with writers, clustering:
        assert _fails_once(PLOTS[plot], seed)


def test_listings_that_lag_are_noticed():
    """Listings of folders with data files: the protocol requires them whole, and says so (docs/contributing/reliability.md)."""
    plot = replace(PLOTS["COPY_ON_WRITE-9"], chances=Chances(late=0.2))
    assert _fails_once(plot, seed=2)


def _fails_once(plot: Plot, seed: int) -> bool:
    """Say if a history fails. `seed` is the first that did, so that the others are played only after a change of the code."""
    return any(_fails(plot, each) for each in (seed, *range(MOST_SEEDS)))


def _fails(plot: Plot, seed: int) -> bool:
    try:
        Scene(seed, plot).play()
    except (AssertionError, HoodieError):  # the last look, or the last write, which finds what cannot be
        return True
    return False
