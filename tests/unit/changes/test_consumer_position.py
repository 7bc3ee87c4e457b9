"""The files of positions: their names, and contents that no consumer has written."""

from __future__ import annotations

import json

import pytest

from hoodie.changes.consumer_position import FOLDER, PositionFile, position_path, positions
from hoodie.errors import ArgumentError, ConfigError, CorruptTableError, StaleConsumerError
from hoodie.model.time import Time
from hoodie.storage import LocalStorage
from hoodie.storage.remote import FsspecStorage
from tests.support.clock import FakeClock


def test_every_name_has_a_file_of_its_own():
    names = [
        "a",
        "A",
        "a b",
        "../../x",
        "..",
        ".",
        "a/b",
        "a\\b",
        "%61",
        "\xe9",
        "e\u0301",
        "con",
        "a.json",
        "a'\"$(x)",
        "日本",
    ]
    paths = [position_path(name) for name in names]
    assert len({path.lower() for path in paths}) == len(names)
    for path in paths:
        folder, _, file = path.rpartition("/")
        assert folder == FOLDER
        assert set(file.removesuffix(".json")) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-%")


def test_names_that_are_refused():
    for name in ("", " ", " a", "a\n", "a\0", "\x1b[2J", "a" * 201, "\xe9" * 40, "\ud800"):
        with pytest.raises(ConfigError, match="cannot have this name"):
            position_path(name)
    for name in (None, b"a", 1):
        with pytest.raises(ArgumentError, match="name"):
            position_path(name)


def test_positions_survive_storing(tmp_path):
    storage, clock = LocalStorage(str(tmp_path)), FakeClock()
    made = {name: PositionFile(storage, name) for name in ("b", "A", "x y")}
    for name, file in made.items():
        assert file.load() is None
        file.store(file.new_position(Time.of("20260101000000000") if name == "b" else None, clock), None)
        file.store(first := file.new_position(None, clock), file.load())
        assert file.load() == first
        file.store(file.new_position(Time.of("20260101000000001"), clock), first)  # leaves the guard of the local disk
    found = list(positions(storage))
    assert [each.consumer for each in found] == ["A", "b", "x y"]
    assert {each.position for each in found} == {"20260101000000001"}


def test_contents_that_no_consumer_has_written(tmp_path):
    storage, clock = LocalStorage(str(tmp_path)), FakeClock()
    file = PositionFile(storage, "x")
    good = json.loads(file.new_position(Time.of("20260101000000001"), clock).content)
    wrong = [
        *({**good, "position": value} for value in (1, "", "2026", "20260101000000001 ", "earliest", [])),
        *({**good, "committed_at": value} for value in (1, "x", "2026-01-01T00:00:00", None)),
        *({**good, "consumer": value} for value in ("y", 1, None, "")),
        {**good, "token": 1},
        {name: value for name, value in good.items() if name != "position"},
        [],
        None,
    ]
    bodies = [json.dumps(body).encode() for body in wrong]
    for body in [*bodies, b"", b"{", b"\xff\xfe", b"[" * 100_000]:
        storage.delete(file.path)
        storage.create(file.path, body)
        with pytest.raises(CorruptTableError, match="has no position of a consumer"):
            file.load()
        (found,) = positions(storage)
        assert isinstance(found, CorruptTableError)
        with pytest.raises(StaleConsumerError, match="has no position"):
            file.store(file.new_position(None, clock), None)
        file.overwrite(made := file.new_position(None, clock))
        assert file.load() == made


def test_a_storage_without_conditions_is_refused():
    storage = FsspecStorage("memory://consumers/t")
    file = PositionFile(storage, "x")
    for store in (lambda made: file.store(made, None), file.overwrite):
        with pytest.raises(ConfigError, match="keep the position yourself"):
            store(file.new_position(None, FakeClock()))
