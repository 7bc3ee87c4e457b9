"""The command line as tests call it."""

from __future__ import annotations

import pyarrow.parquet as pq

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hudi_services.cli.program import main
from tests.support.tables import OPTIONS, SMALL_BLOOM, batch, content

DONE, FAILED, USAGE = 0, 1, 2
CONF = [f"--hoodie-conf={key}={value}" for key, value in {**OPTIONS, **SMALL_BLOOM}.items()]


def fill(table):
    for step in (1, 2, 3):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)


def deliver(folder, name, rows):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(batch(rows), folder / name)


def ingest(path, land, *more):
    return main(["ingest", f"--target-base-path={path}", f"--source-path={land}", *CONF, *map(str, more)])


def clean(path, *more):
    return main(["clean", f"--target-base-path={path}", "--hoodie-conf=hoodie.clean.commits.retained=1", *more])


def rows(path):
    return content(HoodieTable.open(str(path), engine=LocalEngine(1)))


def everything(folder):
    """Every file and folder with content and time of change: what must not change at all."""
    return {
        str(each): (each.stat().st_mtime_ns, each.read_bytes() if each.is_file() else None)
        for each in folder.rglob("*")
    }


def said(capsys):
    return capsys.readouterr().err
