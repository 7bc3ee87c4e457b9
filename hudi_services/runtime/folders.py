"""Files of this program that other programs take: DAG files for Airflow, applications and settings for spark-submit, dashboards
and alert rules."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]
PROJECT = _HERE.parent
"""The folder that `hudi_services` is imported from: the checkout, or that of installed packages."""


def _folder(in_checkout: str, in_wheel: str) -> Path:
    """A wheel has them inside the package, a checkout beside it."""
    packaged = _HERE / in_wheel
    return packaged if packaged.is_dir() else _HERE.parent / in_checkout


DAGS = _folder("dags", "dags")
SPARK_APPS = _folder("spark_apps", "spark_apps")
SPARK_CONF = _folder("conf/spark", "spark_conf")
MONITORING = _folder("conf/monitoring", "monitoring")
