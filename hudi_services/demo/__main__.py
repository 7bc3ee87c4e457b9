"""`python -m hudi_services.demo`: run, serve, stream, database, land. The Makefile's demos call it."""

from __future__ import annotations

import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path

import click

from hoodie.errors import HoodieError
from hudi_services.demo import report
from hudi_services.demo import run as demo
from hudi_services.demo.land import land
from hudi_services.demo.launcher import serve as serve_demo
from hudi_services.runtime.folders import PROJECT
from hudi_services.runtime.terminal import echo

_folder = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=PROJECT / ".demo",
    help="The folder of the lake, the landed files and Airflow's home. [default: .demo]",
)
_stream_folder = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=PROJECT / ".demo" / "stream",
    help="Folder of the events, the tables and Spark's checkpoints. [default: .demo/stream]",
)
_cores = click.option("--cores", type=click.IntRange(1, 64), default=2, show_default=True, help="Cores of Spark.")


@click.group()
def cli() -> None:
    """Real flights, loaded and cleaned by a real Airflow."""


@cli.command()
@click.option("--days", type=click.IntRange(2, 60), default=5, show_default=True, help="Days of flights to load.")
@_folder
def run(days: int, folder: Path) -> None:
    """Load some days of flights, update and clean the table, and print what happened."""
    demo.run(folder, days)


@cli.command()
@click.option("--days", type=click.IntRange(2, 60), default=5, show_default=True, help="Days of flights to land.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the pages. [default: 8080, or another if that is in use]"
)
@_folder
def serve(days: int, port: int | None, folder: Path) -> None:
    """Leave Airflow running on the demo's tables until Ctrl-C."""
    serve_demo(report.console(), folder, port, demo.FIRST + timedelta(days=days - 1))


@cli.command()
@click.option("--rate", type=click.IntRange(10, 20_000), default=2000, show_default=True, help="Events in a second.")
@click.option("--seed", type=int, default=7, show_default=True, help="The same seed gives the same events.")
@_cores
@_stream_folder
def stream(rate: int, seed: int, cores: int, folder: Path) -> None:
    """Join two streams, feed three tables by each other's changes, kill the driver, and compare at each stop."""
    from hudi_services.demo.stream.run import run as run_stream

    run_stream(folder, rate, seed, cores)


@cli.command(hidden=True)
@_cores
@_stream_folder
def stream_queries(cores: int, folder: Path) -> None:
    """Run only the streaming queries, as `stream` does in a process of its own."""
    from hudi_services.demo.stream.app import run_application

    run_application(folder, cores)


@cli.command()
@click.option("--tables", type=click.IntRange(2, 10_000), default=60, show_default=True, help="Tables at the server.")
@click.option("--rows", type=click.IntRange(10, 1_000_000), default=1000, show_default=True, help="Rows of a table.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    default=PROJECT / ".demo" / "database",
    help="Folder of the server and the tables, which is emptied first. [default: .demo/database]",
)
def database(tables: int, rows: int, folder: Path) -> None:
    """Load two databases of a MariaDB server by nine lines of SQL, follow their changes, and compare all rows."""
    from hudi_services.demo.database.run import run as run_database

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the server of the demo ends, too
    run_database(folder, tables, rows)


@cli.command("land")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), default="2013-01-01", show_default=True)
@click.option("--to", "last", type=click.DateTime(["%Y-%m-%d"]), default="2013-12-31", show_default=True)
def land_command(folder: Path, first: datetime, last: datetime) -> None:
    """Only write the files of the feed into FOLDER."""
    files = land(folder, first.date(), last.date())
    echo(f"{len(files)} files, {sum(rows for _, rows in files):,} rows in {folder}")


def main() -> int:
    """0 done, 1 failed, 2 wrong usage."""
    try:
        cli.main(prog_name="python -m hudi_services.demo", standalone_mode=False)
    except click.exceptions.Abort:
        return 1
    except click.ClickException as error:
        error.show()
        return 2
    except HoodieError as error:
        echo(f"\n{type(error).__name__}: {error}", err=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
