"""spark-submit as people type it: without the virtual environment on the path, and on machines without the checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hoodie import COMPACTION, HoodieTable
from tests.support.archives import ROOT
from tests.support.cluster import bare_environment, settings
from tests.support.jvm import submit_environment
from tests.support.tables import SMALL_BLOOM, batch, content, create

SUBMIT = Path(sys.executable).with_name("spark-submit")


def run(command, cwd, **environment):
    run = subprocess.run(
        command,
        cwd=cwd,
        env={**bare_environment(), **environment},
        shell=isinstance(command, str),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout[-3000:]
    return run.stdout


def documented():
    """The command of the guide."""
    (command,) = re.findall(
        r"```sh\n(PYSPARK_PYTHON=.*?)```", (ROOT / "docs" / "how-to" / "shell.md").read_text(), re.DOTALL
    )
    return command


def test_the_command_of_the_guide_works_as_it_stands(tmp_path):
    table = create(tmp_path / "orders")
    for step in range(4):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    properties = tmp_path / "clean.properties"
    properties.write_text("hoodie.clean.commits.retained=1\n")
    command = documented().replace("/data/lake/orders", str(tmp_path / "orders"))
    said = run(command.replace("clean.properties", str(properties)), ROOT)
    assert "clean: 2 files removed" in said
    assert content(HoodieTable.open(str(tmp_path / "orders"))) == {"a": ("p", 3, 3)}


def test_an_ingestion_on_a_cluster_whose_machines_have_no_checkout(cluster, library, s3, tmp_path):
    """The files of the applications differ in the name of their service alone: one of them stands for all."""
    bucket = s3.bucket()
    place = f"{bucket}/trips"
    table = create(place, **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 0, 0), ("b", "q", 0, 0)]), "upsert", SMALL_BLOOM)
    s3.files().pipe_file(f"{bucket}/land/1.csv", b"id,part,ts,value\na,p,1,1\nc,r,1,1\n")
    result = f"{bucket}/.results/ingest.json"
    source = ("--source-path", f"{bucket}/land", "--source-format", "csv", "--result-path", result)
    printed = submit(tmp_path, cluster, library, s3, "ingest.py", "--target-base-path", place, *source)
    assert "1 row inserted, 1 updated" in printed
    assert content(table) == {"a": ("p", 1, 1), "b": ("q", 0, 0), "c": ("r", 1, 1)}
    assert b'"rows_inserted": 1' in s3.files().cat_file(result)


@pytest.mark.deep("the same way of submitting as the ingestion")
@pytest.mark.parametrize("compactor", [False, True])
def test_services_on_a_cluster_whose_machines_have_no_checkout(cluster, library, s3, tmp_path, compactor):
    bucket = s3.bucket()
    place = f"{bucket}/trips"
    table = create(place, **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 0, 0), ("b", "q", 0, 0)]), "upsert", SMALL_BLOOM)
    s3.files().pipe_file(f"{bucket}/land/1.csv", b"id,part,ts,value\na,p,1,1\nc,r,1,1\n")

    def service(application, *arguments):
        return submit(tmp_path, cluster, library, s3, application, "--target-base-path", place, *arguments)

    source = ("--source-path", f"{bucket}/land", "--source-format", "csv")
    assert "1 row inserted, 1 updated" in service("ingest.py", *source)
    expected = {"a": ("p", 1, 1), "b": ("q", 0, 0), "c": ("r", 1, 1)}
    assert content(table) == expected
    if compactor:
        due = ("--hoodie-conf", "hoodie.compact.inline.max.delta.commits=1")
        assert "compact: scheduled" in service("compactor.py", *due)
    else:
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    assert content(table, read_optimized=True) == expected
    table.write(batch([("b", "q", 2, 2)]), "upsert", SMALL_BLOOM)
    kept = ("--hoodie-conf", "hoodie.clean.commits.retained=1", "--result-path", f"{bucket}/.results/clean.json")
    assert "files removed" in service("cleaner.py", *kept)
    assert b'"files_deleted": ' in s3.files().cat_file(f"{bucket}/.results/clean.json")
    assert content(table) == {**expected, "b": ("q", 2, 2)}


def submit(folder, cluster, library, s3, application, *arguments):
    """The application alone in a folder of its own: the library can only come from the archive."""
    application = shutil.copy(ROOT / "spark_apps" / application, folder)
    options = settings(cluster, library, s3.environment)
    archive = options.pop("spark.submit.pyFiles")
    flags = [part for name, value in options.items() for part in ("--conf", f"{name}={value}")]
    command = [str(SUBMIT), "--py-files", archive, *flags, str(application), *map(str, arguments)]
    own = submit_environment()
    quiet = {name: own[name] for name in ("SPARK_SUBMIT_OPTS", "SPARK_CONF_DIR", "SPARK_LOCAL_IP")}
    return run(command, folder, PYSPARK_PYTHON=sys.executable, **quiet, **s3.environment)
