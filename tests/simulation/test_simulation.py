"""Many processes at one table, drawn from seeds: despite kills and lost answers no acknowledged row is lost, no other is seen."""

from __future__ import annotations

import os

import pytest

from tests.simulation.judge import REPLACING
from tests.simulation.scene import Plot, Scene
from tests.support.examples import fixed_seeds
from tests.support.matrix import DEEP

SEEDS = int(os.environ.get("SEEDS") or (45 if DEEP else 4))
SHARES = min(SEEDS, 5)  # tests of a plot, which run side by side
SHARED = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.client.heartbeat.interval_in_ms": "10000",  # a writer counts as dead after 20 s
}
LEASED = {
    "hoodie.write.lock.provider": "StorageBasedLockProvider",
    "hoodie.write.lock.storage.validity.timeout.secs": "20",
    "hoodie.write.lock.storage.renew.interval.secs": "2",
}
TABLES = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("6", "9")]
PLOTS = {f"{kind}-{version}": Plot(kind, version) for kind, version in TABLES}
PLOTS |= {
    f"{kind}-{version}-shared": Plot(kind, version, writers=3, pause=20.0, options=SHARED) for kind, version in TABLES
}
PLOTS |= {
    "COPY_ON_WRITE-9-leased": Plot("COPY_ON_WRITE", "9", options=LEASED),
    "MERGE_ON_READ-6-leased": Plot("MERGE_ON_READ", "6", options=LEASED),
    "MERGE_ON_READ-9-shared-leased": Plot("MERGE_ON_READ", "9", writers=3, pause=20.0, options=SHARED | LEASED),
}
# New keys never go to files that are there: two writers of one key meet in no file group.
APART = SHARED | {"hoodie.parquet.small.file.limit": "0"}
PLOTS |= {
    f"{kind}-{version}-shared-apart": Plot(kind, version, writers=4, operations=("upsert", "delete"), options=APART)
    for kind, version in TABLES
}
PLOTS |= {
    f"{kind}-{version}-archived": Plot(kind, version, writes=4, besides=("archiver",)) for kind, version in TABLES
}
PLOTS |= {
    "COPY_ON_WRITE-9-shared-archived": Plot(
        "COPY_ON_WRITE", "9", writers=3, pause=20.0, besides=("archiver",), options=SHARED | LEASED
    ),
    "MERGE_ON_READ-6-shared-archived": Plot(
        "MERGE_ON_READ", "6", writers=3, pause=20.0, besides=("archiver",), options=SHARED | LEASED
    ),
}
# Markers in few files: of the process that writes, which looks for conflicts by them, and of a server that dies now and then.
BATCHED = {"hoodie.write.markers.type": "timeline_server_based"}
EARLY = {"hoodie.write.concurrency.early.conflict.detection.enable": "true"}
SERVED = BATCHED | {"hoodie.embed.timeline.server": "false", "hoodie.filesystem.view.remote.host": "server"}
PLOTS |= {
    "COPY_ON_WRITE-9-shared-batched": Plot(
        "COPY_ON_WRITE", "9", writers=3, pause=20.0, options=SHARED | BATCHED | EARLY
    ),
    "MERGE_ON_READ-6-batched": Plot("MERGE_ON_READ", "6", options=BATCHED),
    "MERGE_ON_READ-9-served": Plot("MERGE_ON_READ", "9", options=SERVED),
    "MERGE_ON_READ-6-shared-served": Plot("MERGE_ON_READ", "6", writers=3, pause=20.0, options=SHARED | SERVED | EARLY),
}
# Commits that are rolled back, one by one and to a savepoint; files that a clean sets aside and a user brings back.
PLOTS |= {f"{kind}-{version}-undone": Plot(kind, version, besides=("undoer",)) for kind, version in TABLES}
PLOTS |= {f"{kind}-{version}-restored": Plot(kind, version, besides=("keeper",)) for kind, version in TABLES}
PLOTS |= {
    "COPY_ON_WRITE-9-shared-undone": Plot(
        "COPY_ON_WRITE", "9", writers=3, pause=20.0, besides=("undoer",), options=SHARED | LEASED
    ),
    "MERGE_ON_READ-9-shared-restored": Plot(
        "MERGE_ON_READ", "9", writers=3, pause=20.0, besides=("keeper", "archiver"), options=SHARED
    ),
    "COPY_ON_WRITE-9-grace": Plot("COPY_ON_WRITE", "9", besides=("undeleter", "undoer")),
    "MERGE_ON_READ-6-grace": Plot("MERGE_ON_READ", "6", besides=("undeleter", "keeper")),
}
# Whole partitions, and the whole table, in place of which other rows come, or none.
REPLACED = ("upsert", "upsert", "delete", *REPLACING)
PLOTS |= {f"{kind}-{version}-replaced": Plot(kind, version, operations=REPLACED) for kind, version in TABLES}
PLOTS |= {
    f"{kind}-{version}-shared-replaced": Plot(
        kind, version, writers=3, pause=20.0, besides=besides, operations=REPLACED, options=APART
    )
    for (kind, version), besides in zip(TABLES, ((), ("archiver",), ("undoer",), ("keeper",)), strict=True)
}
# File groups that are packed together, while writers go on beside, and commits are taken back.
PLOTS |= {
    f"{kind}-{version}-clustered": Plot(kind, version, besides=besides, options=APART)
    for (kind, version), besides in zip(
        TABLES, (("clusterer",), ("clusterer", "undoer"), ("clusterer", "archiver"), ("clusterer",)), strict=True
    )
}
# Places of stored rows, and of new ones. A key of a global index moves to the partition of its last row.
BUCKETS = (("hoodie.index.type", "BUCKET"), ("hoodie.bucket.index.num.buckets", "4"))
RINGS = (*BUCKETS, ("hoodie.index.bucket.engine", "CONSISTENT_HASHING"))
PLOTS |= {
    "COPY_ON_WRITE-9-shared-bloom": Plot(
        "COPY_ON_WRITE", "9", writers=3, pause=20.0, options=SHARED | {"hoodie.index.type": "BLOOM"}
    ),
    "COPY_ON_WRITE-9-shared-global": Plot(
        "COPY_ON_WRITE", "9", writers=3, pause=20.0, options=SHARED | {"hoodie.index.type": "GLOBAL_SIMPLE"}, moves=True
    ),
    "MERGE_ON_READ-9-global": Plot("MERGE_ON_READ", "9", options={"hoodie.index.type": "GLOBAL_BLOOM"}, moves=True),
    "MERGE_ON_READ-6-shared-global": Plot(
        "MERGE_ON_READ", "6", writers=3, pause=20.0, options=SHARED | {"hoodie.index.type": "GLOBAL_SIMPLE"}, moves=True
    ),
    "COPY_ON_WRITE-6-shared-buckets": Plot("COPY_ON_WRITE", "6", writers=4, options=SHARED, made=BUCKETS),
    "MERGE_ON_READ-9-shared-buckets": Plot("MERGE_ON_READ", "9", writers=4, options=SHARED, made=BUCKETS),
    "MERGE_ON_READ-9-shared-rings": Plot("MERGE_ON_READ", "9", writers=4, options=SHARED, made=RINGS),
    "MERGE_ON_READ-6-rings-undone": Plot("MERGE_ON_READ", "6", besides=("undoer",), made=RINGS),
}
# Writers that append to one bucket at once, in any order of commits. Others replace or take back their rows.
APPENDING = SHARED | {"hoodie.write.concurrency.mode": "non_blocking_concurrency_control"}
PLOTS |= {
    f"MERGE_ON_READ-9-appending{name}": Plot(
        "MERGE_ON_READ",
        "9",
        writers=4,
        operations=operations,
        besides=besides,
        options=APPENDING,
        made=BUCKETS,
        ordered=True,
    )
    for name, operations, besides in (
        ("", ("upsert", "insert"), ("archiver",)),
        ("-replaced", ("upsert", "upsert", *REPLACING), ("undoer",)),
        ("-restored", ("upsert",), ("keeper",)),
    )
}


@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
@pytest.mark.parametrize("share", range(SHARES))
def test_nothing_is_lost(plot, share):
    for seed in fixed_seeds(SEEDS)[share::SHARES]:
        scene = Scene(seed, plot)
        try:
            scene.play()
        except BaseException as error:
            error.add_note(f"seed {seed} of {plot}\n" + "\n".join(scene.world.trace[-60:]))
            raise


@pytest.mark.parametrize("plot", [pytest.param(PLOTS[name], id=name) for name in list(PLOTS)[:: 1 if DEEP else 6]])
def test_a_seed_is_one_history(plot):
    first, second = (Scene(7, plot) for _ in range(2))
    first.play()
    second.play()
    assert first.world.trace == second.world.trace
