"""The JVM of `spark-submit` maps the archive of Spark's classes that `make class-archive` made."""

from __future__ import annotations

from pathlib import Path

from tests.support.jvm import archive


def test_the_jvm_maps_it(spark):
    classes = archive()
    assert classes is not None, "run make class-archive"
    maps = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/maps").read_text()
    assert str(classes.file.resolve()) in maps
    assert spark.conf.get("spark.ui.showConsoleProgress") == "false", "conf/spark reaches it as options"
