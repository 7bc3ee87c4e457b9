"""Changes that wait for their commit, in memory and in files."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql import held_changes
from hudi_services.sources.cdc.mysql.held_changes import HeldChanges
from hudi_services.sources.cdc.mysql.position import LogPosition


@pytest.mark.parametrize("memory", [0, 500, 1 << 20])
def test_it_is_a_list_of_pieces_wherever_they_are(monkeypatch, memory):
    monkeypatch.setattr(held_changes, "_MEMORY", memory)
    monkeypatch.setattr(held_changes, "_ROWS", 30)
    draw, held, model, place = random.Random(memory), HeldChanges(), [], 0
    for number in range(300):
        kind = draw.randrange(10)
        if kind == 0 and model:
            held.drop(LogPosition("bin.000001", place))
            model = [piece for piece in model if piece[0] != place]
        elif kind == 1 and number % 3 == 0:
            held.clear()
            model = []
        else:
            place += draw.randrange(2)
            rows = draw.randrange(20)
            held.add(
                LogPosition("bin.000001", place), pa.table({"n": pa.array(range(number, number + rows), pa.int64())})
            )
            model.append((place, list(range(number, number + rows))))
        assert [n for table in held.tables() for n in table["n"].to_pylist()] == [
            n for _, piece in model for n in piece
        ]
        assert held.rows == sum(len(piece) for _, piece in model)
        assert held.size == 8 * held.rows
        assert held.position == (LogPosition("bin.000001", model[-1][0]) if model else None)
        assert held.memory <= memory
    held.clear()


def test_files_go_with_the_changes(monkeypatch, tmp_path):
    monkeypatch.setattr(held_changes, "_MEMORY", 0)
    monkeypatch.setattr(held_changes.tempfile, "tempdir", str(tmp_path))
    held = HeldChanges()
    held.add(LogPosition("bin.000001", 4), pa.table({"n": [1]}))
    assert list(tmp_path.iterdir())
    held.clear()
    assert not list(tmp_path.iterdir())
