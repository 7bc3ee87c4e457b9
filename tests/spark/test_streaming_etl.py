"""The streaming demo in small: its driver is killed, and another one goes on."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import hoodie.spark
from hudi_services.demo.stream.driver import Driver
from hudi_services.demo.stream.events import Feed
from hudi_services.demo.stream.land import land
from hudi_services.demo.stream.layers import BY_COUNTRY, BY_MINUTE, LAYERS, PAID_ORDERS, ROLLUPS
from hudi_services.demo.stream.proof import differences, stored
from hudi_services.demo.stream.queries import Folders, create_layers, start_join, start_rollup
from tests.support.waiting import until

pytestmark = pytest.mark.spark

FEED = Feed(datetime(2026, 11, 26, 23, 59, 30, tzinfo=UTC), 40)


@pytest.mark.deep("two minutes: the test below has all layers, and those of streams have kills")
def test_three_layers_equal_their_batch_recomputation_after_a_kill(spark, tmp_path):
    """The first driver is a process of its own, killed right after the first commit of the first layer."""
    folders = Folders(tmp_path)
    create_layers(folders)
    for second in range(60):
        land(FEED, folders.landing, second)
    driver = Driver(tmp_path, 2, print)
    try:
        until(lambda: driver.check() or PAID_ORDERS.table(folders.lake).timeline.commits, pause=0.05)
    finally:
        driver.kill()
    for second in range(60, 80):
        land(FEED, folders.landing, second)
    hoodie.spark.register(spark)
    now = {"availableNow": True}
    start_join(spark, folders, now).awaitTermination(120)
    for rollup in ROLLUPS:
        start_rollup(spark, folders, now, rollup).awaitTermination(120)
    assert differences(folders.landing, folders.lake) == []
    forget_last_batch(folders.checkpoint(BY_MINUTE.name))
    start_rollup(spark, folders, now, ROLLUPS[0]).awaitTermination(120)
    assert differences(folders.landing, folders.lake) == [], "a batch that comes again adds nothing"
    assert min(len(layer.table(folders.lake).timeline.commits) for layer in LAYERS) >= 1
    assert BY_COUNTRY.table(folders.lake).read().num_rows == 10
    changes = PAID_ORDERS.table(folders.lake).read_changes()["op"].value_counts().to_pylist()
    assert {row["values"] for row in changes} == {"i", "u", "d"}, "rows were changed and deleted on the way"


def test_a_first_batch_with_events_of_one_stream_alone(spark, tmp_path):
    """Spark then has other columns of state, and refused them at the next start."""
    folders = Folders(tmp_path)
    create_layers(folders)
    for second in range(3, 6):
        land(FEED, folders.landing, second)
    orders, away = folders.landing / "orders", folders.landing / "away"
    orders.rename(away)
    for _ in range(2):
        start_join(spark, folders, {"availableNow": True}).awaitTermination(120)
        for file in away.iterdir():
            file.rename(orders / file.name)
    hoodie.spark.register(spark)
    for rollup in ROLLUPS:
        start_rollup(spark, folders, {"availableNow": True}, rollup).awaitTermination(120)
    assert stored(PAID_ORDERS, folders.lake).num_rows
    assert differences(folders.landing, folders.lake) == []


def forget_last_batch(checkpoint):
    """Leave the checkpoint as a kill does between the commit of a batch in the table and its end in Spark."""
    batches = checkpoint / "commits"
    last = max(int(path.name) for path in batches.iterdir() if path.name.isdecimal())
    for name in (str(last), f".{last}.crc"):
        (batches / name).unlink()
