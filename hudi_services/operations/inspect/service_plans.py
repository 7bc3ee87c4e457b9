"""The services' next work on a table: what each would do now, why, and what holds it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hoodie.config.service_options import own_options
from hoodie.display import counted
from hoodie.services.archive.service import ARCHIVE
from hoodie.services.blockers import Blocker
from hoodie.services.clean.service import CLEAN
from hoodie.services.clustering.service import CLUSTERING
from hoodie.services.compaction.service import COMPACTION
from hoodie.services.decision import Decision
from hoodie.transaction.approvals import asked_at
from hudi_services.operations.inspect.findings import has_crowded_partitions
from hudi_services.operations.inspect.problems import guarded
from hudi_services.operations.inspect.savepoints import with_savepoints
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import size

_DOES = {
    "clean": ("remove", "file"),
    "archive": ("archive", "instant"),
    "compact": ("compact", "file group"),
    "cluster": ("cluster", "file group"),
    "ttl": ("drop", "partition"),
}


def next_plans(look: Look, problems: list[str]) -> tuple[dict[str, Any], list[tuple[str, Blocker]]]:
    """The next cleaning, archival and compaction: what they would do now, and why, or why not; with the options of the
    registry. Also what holds them back."""
    result: dict[str, Any] = {}
    blockers: list[tuple[str, Blocker]] = []
    clean = own_options(look.options("clean"), CLEAN.options)
    decided = guarded(problems, lambda: CLEAN.decide(look.state, clean, look.clock))
    if decided is not None:
        result["clean"] = {**planned(look, decided), "policy": decided.facts["policy"]}
        blockers += [("clean", blocker) for blocker in with_savepoints(look, clean, decided.blockers)]
    archive = own_options(look.options("archive"), ARCHIVE.options)
    moved = guarded(problems, lambda: ARCHIVE.decide(look.state, archive, look.clock))
    if moved is not None:
        result["archive"] = planned(look, moved)
        blockers += [("archive", blocker) for blocker in moved.blockers]
    if look.state.properties.is_merge_on_read:
        compact = own_options(look.options("compact"), COMPACTION.options)
        due = guarded(problems, lambda: COMPACTION.decide(look.state, compact, look.clock))
        if due is not None:
            result["compact"] = {**planned(look, due), "backlog": due.facts["backlog"]}
            blockers += [("compact", blocker) for blocker in due.blockers]
    if _clusters(look):
        cluster = own_options(look.options("cluster"), CLUSTERING.options)
        packed = guarded(problems, lambda: CLUSTERING.decide(look.state, cluster, look.clock))
        if packed is not None:
            groups = packed.plan.inputs if packed.plan is not None else ()
            result["cluster"] = {
                **planned(look, packed),
                "inputs": sum(len(group.slices) for group in groups),
                "outputs": sum(group.outputs for group in groups),
            }
            blockers += [("cluster", blocker) for blocker in packed.blockers]
    return result, blockers


def _clusters(look: Look) -> bool:
    """True if the entry in the registry has a clustering, or an objective that asks for one, or if there is much to pack."""
    entry = look.entry
    is_declared = entry is not None and (
        entry.section("cluster") is not None or entry.objectives.small_files is not None
    )
    return is_declared or has_crowded_partitions(look)


def planned(look: Look, decision: Decision[Any]) -> dict[str, Any]:
    """The plan of a decision in values.

    One that deletes more than a run may has the limits that it passes, its digest, and the time since when runs ask for an
    approval: that is one storage call, and none for other plans.
    """
    items = decision.items
    over = decision.deletion.over_texts if decision.deletion is not None and decision.plan is not None else ()
    return {
        "due": decision.plan is not None and bool(items),
        "reason": decision.reason,
        "items": len(items) if items is not None else 0,
        "bytes": items.bytes if items is not None else 0,
        "verb": items.verb if items is not None else None,
        "noun": items.noun if items is not None else None,
        **(_asks(look, over, decision.digest) if over else {}),
    }


def _asks(look: Look, over: Sequence[str], digest: str) -> dict[str, Any]:
    asked_since = asked_at(look.storage, digest)
    return {
        "over_caps": list(over),
        "digest": digest,
        "asked_since": asked_since.isoformat() if asked_since is not None else None,
    }


def next_words(name: str, outlook: Mapping[str, Any]) -> str:
    """The next work of a service, and why, in words."""
    verb, noun = _DOES[name]
    due = (
        f"would {verb} {counted(outlook['items'], noun)}, {size(outlook['bytes'])}"
        if outlook["due"]
        else "nothing to do"
    )
    backlog = outlook.get("backlog")
    waits = (
        f"; {size(backlog['log_bytes'])} of logs wait, {counted(backlog['pending_plans'], 'plan')}" if backlog else ""
    )
    return f"{due}: {outlook['reason']}{waits}"
