"""Peers, started when a test first asks; one alive at a time, as each holds gigabytes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.interop import peer_env
from tests.interop.hive_services import JavaService, start_metastore
from tests.interop.lock_peer import compiled
from tests.interop.peer import HudiPeer
from tests.interop.recording import RecordedPeer, mode_of, recording_of

_PASSED = pytest.StashKey[bool]()
_alive: list[HudiPeer] = []


def _peer(version: str) -> HudiPeer:
    if _alive and _alive[0].version == version:
        return _alive[0]
    while _alive:
        _alive.pop().stop()
    peer_env.ensure()
    _alive.append(HudiPeer(version))
    return _alive[0]


def _lent(version: str, request: pytest.FixtureRequest) -> Iterator[HudiPeer]:
    """The peer for one test: what that sets in the session ends with it.

    Our writes put Hudi's metadata table out of use, and its next write makes that again, which takes four times as long as the
    write. So `make test` has it in the tests marked `metadata`, and in those that ask for it by name.
    """
    peer = _peer(version)
    metadata = os.environ.get("DEEP") == "1" or request.node.get_closest_marker("metadata") is not None
    peer.write_defaults = {} if metadata else {"hoodie.metadata.enable": "false"}
    yield peer
    if peer in _alive:
        peer.sql("reset")


@pytest.fixture
def hudi12(request: pytest.FixtureRequest) -> Iterator[HudiPeer]:
    """Apache Hudi 1.2.0: reads and writes table versions 6, 8 and 9."""
    yield from _lent("1.2.0", request)


@pytest.fixture
def hudi15(request: pytest.FixtureRequest) -> Iterator[HudiPeer]:
    """Apache Hudi 0.15.0: table version 6."""
    yield from _lent("0.15.0", request)


@pytest.fixture
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], RecordedPeer]]:
    """Gives `hudi12` or `hudi15`, of which a recording has the answers: for tables that only Hudi writes."""
    given: list[RecordedPeer] = []

    def give(bundle: str) -> RecordedPeer:
        assert not given, "a recording is of one peer"
        version = {"hudi12": "1.2.0", "hudi15": "0.15.0"}[bundle]
        mode = mode_of(request.node.get_closest_marker("deep") is not None)
        recording = recording_of(request.node.nodeid, version)
        given.append(RecordedPeer(mode, recording, tmp_path, lambda: request.getfixturevalue(bundle)))
        return given[0]

    yield give
    for peer in given:
        peer.finish(request.node.stash.get(_PASSED, False))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


@pytest.fixture(scope="module")
def metastore() -> Iterator[JavaService]:
    """A Hive metastore for the tests of one module."""
    peer_env.ensure()
    service = start_metastore()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of Hudi's lock providers."""
    return compiled(tmp_path_factory.mktemp("classes"))


def pytest_sessionfinish() -> None:
    while _alive:
        _alive.pop().stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests of 0.15.0 last. Otherwise its session and that of 1.2.0 would restart again and again.

    With RECORD=1 only the tests that have recordings run. Tests of other suites in the same call come first.
    """
    folder = Path(__file__).parent
    items.sort(key=lambda item: (folder in item.path.parents, folder in item.path.parents and _needs_15(item)))
    if os.environ.get("RECORD") == "1":
        items[:] = [item for item in items if isinstance(item, pytest.Function) and "recorded" in item.fixturenames]


_WITH_SERVERS = ("test_hive_", "test_trino", "test_cloud_")


class _SideBySide(LoadScopeScheduling):
    """Each process takes a test at a time, but some modules whole: their tests share servers."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return module if Path(module).name.startswith(_WITH_SERVERS) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """For `-n 2 --dist loadscope`. The groups of `--dist loadgroup` are lost between pytest 9.2 and xdist 3.8."""
    return _SideBySide(config, log)


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
