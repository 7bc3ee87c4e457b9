"""The command `folder`: the places of files that Airflow, spark-submit, Grafana and Prometheus take."""

from __future__ import annotations

import json

import click

from hudi_services.cli.flags import CONTEXT, json_flag, verbose_flag, with_examples
from hudi_services.runtime.folders import DAGS, MONITORING, SPARK_APPS, SPARK_CONF
from hudi_services.runtime.terminal import echo

_FOLDERS = {"dags": DAGS, "spark-apps": SPARK_APPS, "spark-conf": SPARK_CONF, "monitoring": MONITORING}


def _folder(name: str, as_json: bool) -> None:
    path = str(_FOLDERS[name])
    echo(json.dumps({"folder": path}) if as_json else path)


folder = click.Command(
    "folder",
    callback=_folder,
    params=[click.Argument(["name"], type=click.Choice(list(_FOLDERS))), json_flag(), verbose_flag()],
    help="Print the folder of the DAG files for Airflow (dags), of the applications for spark-submit (spark-apps), of "
    "Spark's settings for one machine (spark-conf), or of the Grafana dashboard and the alert rules (monitoring).",
    epilog=with_examples(
        (
            'ln -s "$(hudi-services folder dags)" "$AIRFLOW_HOME/dags/hudi"',
            'spark-submit "$(hudi-services folder spark-apps)/cleaner.py" --table orders --registry tables.yaml',
        )
    ),
    context_settings=CONTEXT,
)
