"""The command `airflow`."""

from __future__ import annotations

from pathlib import Path

import click

from hudi_services.cli.flags import CONTEXT, registry_flag, verbose_flag, with_examples
from hudi_services.registry.lookup import registry_file


def _airflow(registry: str | None, home: Path | None, port: int | None, keep_logs: int) -> None:
    from rich.console import Console

    from hudi_services.local_airflow.home import AirflowHome
    from hudi_services.local_airflow.launcher import absolute, serve

    file = absolute(registry_file(registry))
    folder = absolute(home) if home else file.parent / ".airflow"
    serve(Console(), AirflowHome(folder, file, log_days=keep_logs), port)


airflow = click.Command(
    "airflow",
    callback=_airflow,
    params=[
        registry_flag(),
        click.Option(
            ["--home"],
            type=click.Path(path_type=Path, file_okay=False),
            metavar="FOLDER",
            help="The folder of Airflow's database, logs and passwords. [default: .airflow beside the registry]",
        ),
        click.Option(
            ["--port"],
            type=click.IntRange(1, 65535),
            help="Port of the pages. [default: 8080, or another one if that is in use]",
        ),
        click.Option(
            ["--keep-logs"],
            type=click.IntRange(1),
            default=30,
            show_default=True,
            metavar="DAYS",
            help="Older logs of tasks are removed at the start.",
        ),
        verbose_flag(),
    ],
    help="""Start an Airflow on this machine that runs the tables of a registry, until Ctrl-C.

    It says which tables and mistakes it found, and which services nothing starts. Its DAGs are switched on; edits of the registry
    are followed while it runs. It is for one person on one machine: SQLite, and Spark in local[2].
    """,
    epilog=with_examples(("hudi-services airflow --registry tables.yaml", "hudi-services airflow --port 8081")),
    context_settings=CONTEXT,
)
