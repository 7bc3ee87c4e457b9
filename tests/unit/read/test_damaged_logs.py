"""A read passes over any damage in a log, or names the file."""

from __future__ import annotations

import contextlib
import itertools
import re
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie.errors import HoodieError, MissingFileError
from hoodie.read.execute import execute_read
from hoodie.view import log_blocks
from tests.support.matrix import DEEP
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.mark.parametrize("kind", ["PARQUET", "AVRO", "DELETE"])
def test_damage_is_passed_over_or_told(tmp_path, kind):
    def made(ts):
        entries = batch([(f"k{number}", "p", ts, number) for number in range(20)])
        # Ordering fields of type text make Avro blocks.
        return entries.set_column(2, "ts", entries["ts"].cast(pa.string())) if kind == "AVRO" else entries

    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(made(1), "insert", SMALL_BLOOM)
    if kind == "DELETE":
        table.write(made(2).select(["id", "part"]), "delete", SMALL_BLOOM)
    else:
        table.write(made(2), "upsert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})
    (log,) = (path for path in Path(tmp_path).rglob("*.log.*") if "_commits" not in path.name)
    whole = log.read_bytes()
    told = 0
    places = range(0, len(whole) - 3, max(1, len(whole) // 150))
    damages = (b"\xff\x00\xff", b"{,}")
    for place, damage in itertools.product(places, damages) if DEEP else zip(places, itertools.cycle(damages)):
        log.write_bytes(whole[:place] + damage + whole[place + 3 :])
        with contextlib.suppress(HoodieError):
            table.read()
            continue
        told += 1
    assert told > 0
    log.write_bytes(whole)
    assert table.read().num_rows == (0 if kind == "DELETE" else 20)


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("moment", ["before the headers", "before the rows"])
def test_a_log_that_a_cleaner_took_meanwhile(tmp_path, monkeypatch, version, moment):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    plan = table.plan_read()
    (log,) = [log.path for file_slice in plan.slices for log in file_slice.log_files]
    if moment == "before the headers":
        table.storage.delete(log)
    else:
        scan = log_blocks.scan_blocks

        def scanned(storage, path):
            found = list(scan(storage, path))
            storage.delete(path)
            return found

        monkeypatch.setattr(log_blocks, "scan_blocks", scanned)
    with pytest.raises(
        MissingFileError, match=rf"Log file .*{re.escape(log)} is missing.*read again.*commits.retained"
    ):
        execute_read(plan, table.storage, table.engine)
