"""Peers, started when a test first asks; one alive at a time, as each holds gigabytes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.interop import peer_env
from tests.interop.peer import HudiPeer

_alive: list[HudiPeer] = []


def _peer(version: str) -> HudiPeer:
    if _alive and _alive[0].version == version:
        return _alive[0]
    while _alive:
        _alive.pop().stop()
    peer_env.ensure()
    _alive.append(HudiPeer(version))
    return _alive[0]


@pytest.fixture
def hudi12() -> HudiPeer:
    """Apache Hudi 1.2.0: reads and writes table versions 6, 8 and 9."""
    return _peer("1.2.0")


@pytest.fixture
def hudi15() -> HudiPeer:
    """Apache Hudi 0.15.0: table version 6."""
    return _peer("0.15.0")


def pytest_sessionfinish() -> None:
    while _alive:
        _alive.pop().stop()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of 0.15.0 come last: else its session and that of 1.2.0 would be started again and again.

    Of tests side by side those of a module that share its metastore stay in one process.
    """
    items.sort(key=_needs_15)
    for item in items:
        if "metastore" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group(item.path.name))


def _needs_15(item: pytest.Item) -> bool:
    parameters = (
        item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    )
    return "hudi15" in item.fixturenames or any(
        "hudi15" in (value if isinstance(value, tuple) else (value,)) for value in parameters
    )


@pytest.fixture
def hudi_rs_read():
    """Reads a snapshot with hudi-rs: path -> Arrow table, meta columns included."""

    def read(path: object) -> pa.Table:
        from hudi import HudiTableBuilder

        batches = HudiTableBuilder.from_base_uri(str(path)).build().read()
        return pa.Table.from_batches(batches)

    return read
