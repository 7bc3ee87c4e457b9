"""An upgrade that is killed, or out of disk, at any storage call: the table has one of the versions whole, and the same command
ends it."""

from __future__ import annotations

import pytest

from hoodie import Upgrade
from hoodie.services.upgrade.marks import MARK
from hoodie.storage import LocalStorage
from tests.support.archive import archive
from tests.support.crashes import failures, reopen
from tests.support.tables import SMALL_BLOOM, batch, content
from tests.support.upgrades import compact, made

MORE = pytest.mark.deep("the other kinds of failures meet the same calls")


def observed(table):
    """Rows of now, as of the second commit, and those since then."""
    second = table.state().timeline.commits[1].time
    later = sorted(map(str, table.read_incremental(second).to_pylist()))
    return content(table), content(table, as_of=second), later


@pytest.fixture
def origin(tmp_path, request):
    table = made(tmp_path / "origin", request.param)
    for number in range(1, 4):
        table.write(batch([("a", "p", number, number), ("b", "q", number, number)]), "upsert", SMALL_BLOOM)
    compact(table)
    archive(table, table.timeline.commits[:1])
    return tmp_path / "origin"


@pytest.mark.parametrize("kind", ["kill", pytest.param("full", marks=MORE), pytest.param("lost", marks=MORE)])
@pytest.mark.parametrize("origin", ["MERGE_ON_READ", pytest.param("COPY_ON_WRITE", marks=MORE)], indirect=True)
def test_an_upgrade_that_dies_at_any_call(origin, kind):
    whole = observed(reopen(LocalStorage(str(origin)), None))

    def upgrade(storage, clock):
        reopen(storage, clock).run(Upgrade(9))

    versions = set()
    for storage, clock, call in failures(origin, upgrade, kind, beside=()):
        left = reopen(LocalStorage(storage.base_path), clock)
        versions.add(left.version)
        assert observed(left) == whole, call
        again = left.run(Upgrade(9))
        assert again.version == left.version == 9, call
        assert observed(left) == whole, call
        assert left.storage.info(MARK) is None, call
        files = {file.name for file in left.storage.list(".hoodie").files}
        assert files - {"lock"} == {"hoodie.properties"}, call
        left.write(batch([("z", "p", 1, 1)]), "upsert", SMALL_BLOOM)
        assert content(left) == {**whole[0], "z": ("p", 1, 1)}, call
    assert versions == {6, 9}


@pytest.mark.parametrize("origin", ["MERGE_ON_READ"], indirect=True)
def test_writers_of_either_version_go_on_after_a_kill(origin):
    """The next process is a writer, and only then the upgrade is run again."""
    whole = content(reopen(LocalStorage(str(origin)), None))

    def upgrade(storage, clock):
        reopen(storage, clock).run(Upgrade(9))

    for storage, clock, call in failures(origin, upgrade, "kill", beside=()):
        left = reopen(LocalStorage(storage.base_path), clock)
        left.write(batch([("z", "r", 1, 1)]), "upsert", SMALL_BLOOM)
        assert content(left) == {**whole, "z": ("r", 1, 1)}, call
        compact(left)
        left.run(Upgrade(9))
        assert left.version == 9, call
        assert content(left) == {**whole, "z": ("r", 1, 1)}, call
        assert left.storage.info(MARK) is None, call
