"""Pages as the API has them: a run, and a server of many tables."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hudi_services.entry.server import server_dags
from hudi_services.operations.pages.run import Tried, run_page
from hudi_services.operations.pages.server import StateFolder, server_page
from hudi_services.operations.pages.snapshots import DagOutcome, FleetState
from hudi_services.operations.watch.model import Summary
from hudi_services.registry.load import read_registry
from hudi_services.sources.cdc.cuts import Behind, Cut, TablePlace
from hudi_services.sources.cdc.sync_progress import Loading, LogRetention, SyncProgress
from hudi_services.sources.databases.table_verifications import TableVerification


def server_body(file: Path, count: int, text: str) -> str:
    """The JSON of a server of `count` tables, by a registry that is written to `file`. A parked table says `text`.

    Every 100th table is parked, every 100th tried again, four are loading, and ten are new. The first 1,000 were compared at cut
    40: every 200th of them differs.
    """
    names = [f"t{number:04}" for number in range(count)]
    entries = [f"  - {{name: {n}, base_path: /lake/{n}, source: {{server: shop, table: shop.{n}}}}}\n" for n in names]
    server = "servers:\n  shop: {type: mysql, connection: shop, server_id: 1, state: /lake/_state, schedule: '*/5 * * * *'}\n"
    file.write_text(server + "tables:\n" + "".join(entries))
    now = datetime.now(UTC)
    past = (now - timedelta(minutes=90)).isoformat()
    behind = {
        f"shop.{name}": Behind(text, "run again", past, number % 100 == 0, "bin.000001:4", "", "bin.000001:4")
        for number, name in enumerate(names)
        if number % 100 in (0, 50)
    }
    places = {
        f"shop.{n}": TablePlace(f"/lake/{n}", "20261126000000000", "bin.000009:4")
        for n in names[:-10]
        if f"shop.{n}" not in behind
    }
    cut = Cut(41, "bin.000009:4711", "", (now - timedelta(seconds=20)).isoformat(), places, behind)
    loading = {f"shop.{name}": Loading(70, 1000) for name in names[-4:]}
    kept = LogRetention(86_400, "bin.000001:4", (now + timedelta(hours=3)).isoformat())
    progress = SyncProgress(past, now.isoformat(), None, kept, loading, count - 14, count, 90_000, 110_000)
    seen = {
        n: Summary(n, f"/lake/{n}", "ok", now, now, verified_at=past, verified_position="bin.000008:4")
        for n in names[:200]
    }
    dag, *others = server_dags("shop", read_registry(file).registry.servers["shop"])
    known = FleetState(ran={dag: DagOutcome("manual__1", "running", now, "failed")}, seen=seen)
    registry = read_registry(file).registry
    at = (now - timedelta(minutes=5)).isoformat()
    verified = {
        f"shop.{name}": TableVerification(
            f"shop.{name}",
            "differs" if number % 200 == 1 else "equal",
            40,
            "bin.000009:4",
            at,
            1_000,
            int(number % 200 == 1) * 3,
        )
        for number, name in enumerate(names[:1_000])
    }
    folder = StateFolder(cut, progress, verified=verified)
    return json.dumps(asdict(server_page("shop", registry, names, {dag, *others}, folder, known, now)))


def run_body(text: str) -> str:
    """The JSON of a run of a clean: a try that failed with a `text`, a plan with a digest, one that goes on."""
    now = datetime(2026, 11, 24, tzinfo=UTC)
    files = [
        {"path": f"part=p/{number}.parquet", "bytes": 10**number, "reason": "older version"} for number in range(9)
    ]
    plan = {
        "service": "clean",
        "digest": "0123456789ab",
        "verb": "delete",
        "noun": "file",
        "bytes": 10**9,
        "files": files,
    }
    begun = {"step": "deleting files", "at": now.isoformat(), "seconds": 2, "files": 9, "files_done": 3, "bytes": 0}
    left = {"failed": {"failure": {"message": text}}, "explained": {"plan": plan}, "running": {"progress": begun}}
    tried = [Tried(state, state, now, None, 1, found) for state, found in left.items()]
    return json.dumps(asdict(run_page("hudi_clean__orders", "manual__1", tried, now)))
