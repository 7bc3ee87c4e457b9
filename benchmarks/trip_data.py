"""Trips with random keys, then batches of updates and new rows, as Parquet files. The same seed, the same rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.shapes import TRIPS

CITIES = ("chennai", "san_francisco", "sao_paulo", "stockholm")
_FILES = 4  # files of the first load


def make_trips(folder: Path, rows: int, seed: int = 42) -> None:
    """`base-*.parquet` with `rows` trips, `upsert-<n>.parquet` with 10 % updates and 2 % inserts each, and the small
    `warm-up.parquet`."""
    if (folder / "done").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    base = _trips(random, _uuids(random, rows), random.integers(0, len(CITIES), rows), 1_600_000_000_000)
    for part in range(_FILES):
        start, end = part * rows // _FILES, (part + 1) * rows // _FILES
        pq.write_table(base.slice(start, end - start), folder / f"base-{part}.parquet", compression="zstd")
    pq.write_table(base.slice(0, 1000), folder / "warm-up.parquet", compression="zstd")
    cities = base["city"].combine_chunks().dictionary_encode().indices.to_numpy()
    names = base["city"].combine_chunks().dictionary_encode().dictionary.to_pylist()
    place = np.array([CITIES.index(name) for name in names])
    for batch in range(TRIPS.upserts):
        chosen = random.choice(rows, rows // 10, replace=False)
        moment = 1_700_000_000_000 + batch * 1_000_000_000  # later than all before: every update wins
        updates = _trips(random, base["uuid"].take(pa.array(chosen)), place[cities[chosen]], moment)
        inserts = _trips(random, _uuids(random, rows // 50), random.integers(0, len(CITIES), rows // 50), moment)
        table = pa.concat_tables([updates, inserts])
        pq.write_table(
            table, folder / f"upsert-{batch}.parquet", compression="zstd", row_group_size=max(1, table.num_rows // 2)
        )
    (folder / "done").touch()


def make_plain(source: Path) -> None:
    """The same trips as plain hive-partitioned tables: `plain` of the whole load, `plain-warm-up` of its first rows."""
    for name, files in (("plain", "base-*.parquet"), ("plain-warm-up", "warm-up.parquet")):
        if (source / name / "_SUCCESS").exists():
            continue
        for number, file in enumerate(sorted(source.glob(files))):
            trips = pq.read_table(file)
            for city in CITIES:
                target = source / name / f"city={city}" / f"part-{number}.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                rows = trips.filter(pc.equal(trips["city"], city)).drop_columns("city")
                pq.write_table(rows, target, compression="zstd")
        (source / name / "_SUCCESS").touch()


def _uuids(random: np.random.Generator, count: int) -> pa.Array:
    text = random.bytes(16 * count).hex()
    return pa.array(
        [
            f"{text[i : i + 8]}-{text[i + 8 : i + 12]}-{text[i + 12 : i + 16]}-{text[i + 16 : i + 20]}-{text[i + 20 : i + 32]}"
            for i in range(0, 32 * count, 32)
        ]
    )


def _trips(random: np.random.Generator, uuids: pa.Array, city: np.ndarray, moment: int) -> pa.Table:
    count = len(uuids)
    people = pa.array([f"person-{number:05d}" for number in range(20_000)])
    return pa.table(
        {
            "uuid": uuids,
            "ts": pa.array(moment + random.integers(0, 1_000_000_000, count)),
            "rider": people.take(pa.array(random.integers(0, 20_000, count))),
            "driver": people.take(pa.array(random.integers(0, 20_000, count))),
            "begin_lat": random.uniform(-90, 90, count),
            "begin_lon": random.uniform(-180, 180, count),
            "end_lat": random.uniform(-90, 90, count),
            "end_lon": random.uniform(-180, 180, count),
            "distance_km": random.uniform(0, 40, count),
            "fare": np.round(random.uniform(3, 120, count), 2),
            "tip": np.round(random.uniform(0, 20, count), 2),
            "payment": pa.array(["card", "cash", "app", "voucher"]).take(pa.array(random.integers(0, 4, count))),
            "city": pa.array(CITIES).take(pa.array(city)),
        }
    )
