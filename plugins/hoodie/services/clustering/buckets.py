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
    """Raises UnsupportedTableError: rows would go where no writer looks for their keys, and stand twice after the next upsert."""
    hashed = is_consistently_hashed(state)
    if hashed or is_bucketed(state):
        raise UnsupportedTableError(
            f"The file groups of table {state.storage.base_path} are buckets (hoodie.index.type=BUCKET)",
            found="metadata of consistent hashing" if hashed else "the file ids of its newest commit",
            fix="nothing was changed; such a table is not clustered: its rows lie where their keys say",
        )


def refuse_resizing(state: TableState, plan: ClusteringPlan, time: Time) -> None:
    """Before the plan of a clustering is given up. Raises UnsupportedTableError where it resizes buckets: while it waits, Hudi's
    writers write each row twice, to the file groups that are and to those that are to be, which nobody reads before it is done.
    Once the plan is gone, nothing would say that these must not be read."""
    if is_consistently_hashed(state):
        raise UnsupportedTableError(
            f"Clustering {time} of table {state.storage.base_path} splits or merges buckets of its consistent hashing",
            found=f"a plan for {counted(len(plan.groups), 'file group')}, to whose successors Hudi's writers may have written",
            fix="nothing was changed; let Hudi carry it out (call run_clustering, or hoodie.clustering.async.enabled)",
        )
