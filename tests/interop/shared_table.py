"""A table that Hudi's writers and ours share, and the options that both need for that."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from hoodie import HoodieTable
from tests.support.waiting import PATIENCE

CREATE = {
    "hoodie.table.name": "trips",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.ordering.fields": "ts",
}


def create_shared(path, version):
    """A table with the one row `first`."""
    table = HoodieTable.create(str(path), {**CREATE, "hoodie.write.table.version": version})
    table.write(batch("first"), "upsert")
    return table


def hudi_options(table, attempts=2):
    return {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.write.table.version": str(table.version),
        "hoodie.write.auto.upgrade": "false",
        "hoodie.metadata.enable": "false",
        "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
        "hoodie.cleaner.policy.failed.writes": "LAZY",
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
        "hoodie.write.lock.num_retries": "1",
        "hoodie.write.lock.wait_time_ms": "500",
        "hoodie.write.lock.wait_time_ms_between_retry": "100",
        "hoodie.write.lock.client.num_retries": str(attempts),
        "hoodie.write.lock.client.wait_time_ms_between_retry": "100",
    }


def batch(*ids):
    return pa.table({"id": list(ids), "ts": pa.array([1] * len(ids), pa.int64())})


def ids(table):
    return sorted(table["id"].to_pylist())


def both_at_once(
    hudis: Callable[[int], object], ours: Callable[[int], object], *refusals: type[Exception]
) -> list[Exception]:
    """Writes 1 and 2 of Hudi's beside writes 0 to 11 of ours, each repeated until it is not refused: the refusals."""
    deadline = time.monotonic() + PATIENCE
    refused: list[Exception] = []

    def persist(write: Callable[[int], object], *numbers: int) -> None:
        for number in numbers:
            while True:
                try:
                    write(number)
                    break
                except refusals as error:
                    refused.append(error)
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(persist, hudis, 1, 2), pool.submit(persist, ours, *range(12))]:
            each.result()
    return refused


ALL = sorted(["first", "hudi1", "hudi2", *(f"ours{number}" for number in range(12))])
"""The rows when each of these writes has added one."""
