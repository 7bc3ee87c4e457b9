"""Commits that overlap: what a range of completion times, or a moment of time travel, shows is held against a model."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from hoodie import COMPACTION
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.examples import seeds
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.histories

OPTIONS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


def overlapping(path, version, kind, seed):
    """A table, and its writes: (requested, completed, partition, rows that it wrote, keys that it deleted).

    Writes of one partition follow each other, those of several overlap: the timeline gets later completions.
    """
    chance, clock = random.Random(seed), FakeClock()
    table = create(path, clock, **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    done = []
    for value in range(1, 9):
        clock.sleep(10)
        part = chance.choice("pq")
        keys = chance.sample("abc", 2)
        if chance.random() < 0.2 and any(entry[1] == part for entry in done):
            instant = table.write(batch([(part + key, part, value, value) for key in keys]), "delete", OPTIONS).instant
            done.append((instant, part, {}, {part + key for key in keys}))
        else:
            instant = table.write(batch([(part + key, part, value, value) for key in keys]), "upsert", OPTIONS).instant
            done.append((instant, part, {part + key: (part, value, value) for key in keys}, set()))
        if kind == "MERGE_ON_READ" and chance.random() < 0.3:
            clock.sleep(10)
            time = table.schedule(COMPACTION, force=True)
            if time is not None:
                table.run(COMPACTION, SMALL_BLOOM, time=time)
    begins = sorted(instant.time for instant in table.timeline.commits)
    compactions = [i.time for i in table.timeline.completed(Action.COMMIT)] if kind == "MERGE_ON_READ" else []
    writes = []
    for number, (instant, part, rows, gone) in enumerate(done):
        following = [other.time for other, place, *_ in done[number + 1 :] if place == part]
        following += [time for time in compactions if time > instant.time]
        last = begins.index(min(following)) - 1 if following else len(begins) - 1
        completed = instant.time
        if version != "6":
            completed = str(int(begins[chance.randint(begins.index(instant.time), last)]) + 1000 + number)
            folder = Path(table.base_path, table.state().layout.folder)
            (folder / instant.file_name).rename(folder / f"{instant.time}_{completed}.{instant.action}")
        writes.append((instant.time, completed, part, rows, gone))
    return table, writes


def model(writes, seen):
    """Key -> (row, completion of its last write), after the writes that are seen."""
    rows = {}
    for write in writes:
        if seen(write):
            _, completed, _, new, gone = write
            rows.update({key: (row, completed) for key, row in new.items()})
            for key in gone:
                rows.pop(key, None)
    return rows


@pytest.mark.parametrize("seed", seeds(4, part=4))
@pytest.mark.parametrize(("kind", "version"), [("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("MERGE_ON_READ", "6")])
def test_every_range_and_every_moment(tmp_path, kind, version, seed):
    table, writes = overlapping(tmp_path / "t", version, kind, seed)
    begins, completions = ([write[place] for write in writes] for place in (0, 1))
    for start, end in itertools.combinations([None, *sorted(completions)], 2):
        rows = model(writes, lambda write, end=end: write[1] <= end)
        expected = {key: row for key, (row, completed) in rows.items() if start is None or completed > start}
        found = table.read_incremental(start, end).to_pylist()
        assert {row["id"]: (row["part"], row["ts"], row["value"]) for row in found} == expected, (start, end)
        assert len(found) == len(expected)
    for moment in (*begins, *(time for time in completions if time > begins[0])):
        rows = model(writes, lambda write, moment=moment: write[0] <= moment)
        assert content(table, as_of=moment) == {key: row for key, (row, _) in rows.items()}, moment
