"""Tables whose file groups are buckets are not clustered, and plans of Hudi that resize buckets stay with Hudi."""

from __future__ import annotations

from hoodie.display import counted
from hoodie.errors import UnsupportedTableError
from hoodie.index.bucket_layout import is_bucketed
from hoodie.index.hashing_files import is_consistently_hashed
from hoodie.model.clustering import ClusteringPlan
from hoodie.model.time import Time
from hoodie.view import TableState


def refuse_buckets(state: TableState) -> None:
    """Raises UnsupportedTableError: writers would not find the keys of the rows, which would be there twice after the next
    upsert."""
    hashed = is_consistently_hashed(state)
    if hashed or is_bucketed(state):
        raise UnsupportedTableError(
            f"The file groups of table {state.storage.base_path} are buckets (hoodie.index.type=BUCKET)",
            found="metadata of consistent hashing" if hashed else "the file ids of its newest commit",
            fix="nothing was changed; such a table cannot be clustered: keys decide the files of its rows",
        )


def refuse_resizing(state: TableState, plan: ClusteringPlan, time: Time) -> None:
    """Check a plan before it is unscheduled. Raises UnsupportedTableError if it resizes buckets: while it is pending, Hudi's
    writers write each row twice, to the current file groups and to the new ones, which no reader reads before the plan is
    complete. Without the plan, readers would read the new ones."""
    if is_consistently_hashed(state):
        raise UnsupportedTableError(
            f"Clustering {time} of table {state.storage.base_path} splits or merges buckets of its consistent hashing",
            found=f"a plan for {counted(len(plan.groups), 'file group')}, to whose successors Hudi's writers may have written",
            fix="nothing was changed; let Hudi carry it out (call run_clustering, or hoodie.clustering.async.enabled)",
        )
