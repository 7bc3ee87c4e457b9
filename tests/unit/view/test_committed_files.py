"""A process's cache of commit bodies."""

from __future__ import annotations

from pathlib import Path

from hoodie.view.committed_files import KnownFiles, Memory, written_files
from tests.support.tables import SMALL_BLOOM, batch, create

ONE, TWO = ("t", "1", "1.commit", 10, 1), ("t", "2", "2.commit", 10, 1)


def test_what_was_asked_for_is_known_and_no_more():
    memory = Memory(1000)
    memory.add(ONE, KnownFiles({"p": {"f": 1}, "q": {}}, complete=False))
    assert memory.find(ONE, ["p", "q"]) == {"p": {"f": 1}, "q": {}}
    assert memory.find(ONE, ["r"]) is None
    assert memory.find(ONE, None) is None
    assert memory.find((*ONE[:4], 2), ["p"]) is None  # another file of this name
    memory.add(ONE, KnownFiles({"r": {}}, complete=False))
    assert memory.find(ONE, ["p", "r"]) is not None
    memory.add(ONE, KnownFiles({"p": {"f": 1}}, complete=True))
    assert memory.find(ONE, ["p", "x"]) == memory.find(ONE, None) == {"p": {"f": 1}}
    memory.add(ONE, KnownFiles({"y": {}}, complete=False))  # another thread was slower
    assert memory.find(ONE, None) == {"p": {"f": 1}}


def test_what_was_used_longest_ago_is_forgotten():
    memory = Memory(10)
    files = {"p": {"f": 1, "g": 2, "h": 3}}  # with the body and the partition five
    memory.add(ONE, KnownFiles(files, complete=True))
    memory.add(TWO, KnownFiles(files, complete=True))
    assert memory.find(ONE, None) == files
    memory.add(("t", "3", "3.commit", 10, 1), KnownFiles(files, complete=True))
    assert memory.find(TWO, None) is None
    assert memory.find(ONE, None) == files


def test_a_torn_body_is_logged_once(tmp_path, caplog):
    table = create(tmp_path)
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    state = table.state()
    Path(tmp_path, state.layout.path(state.timeline.commits[0])).write_bytes(b"torn")
    for _ in range(3):
        torn = table.state()
        assert written_files(torn, torn.timeline.commits) == [{}]
    [record] = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "whether its files are there is not known" in record.getMessage()
