"""The node that Hudi derives of a base path; the rest is tested on a real ZooKeeper (tests/interop/test_zookeeper_lock.py)."""

from __future__ import annotations

from hoodie.transaction.locks.zookeeper import implicit_base_path


def test_the_node_of_a_path_is_hudis():
    assert implicit_base_path("s3://lake/trips") == "/tmp/52B6F91537859B95"
    assert implicit_base_path("s3a://lake/trips") == implicit_base_path("s3://lake/trips")
    assert implicit_base_path("s3://lake/trips/") != implicit_base_path("s3://lake/trips")
