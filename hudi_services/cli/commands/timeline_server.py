"""The command `timeline-server`: a server that runs by itself, for the tables given to it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from hoodie.config.keys.marker import BATCH_INTERVAL_MS, BATCH_THREADS, SERVER_PORT, SERVER_SECRET
from hoodie.display import counted
from hoodie.errors import missing_extra
from hudi_services.cli.flags import CONTEXT, chosen_table, json_flag, table_flags, verbose_flag, with_examples
from hudi_services.registry.load import load_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:
    from hudi_services.services.timeline_server.tables import ServedTable


def _serve(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    host: str,
    port: int,
    interval_ms: int,
    threads: int,
    as_json: bool,
) -> None:
    from hoodie.markers.server import checked_secret  # loads Arrow

    secret = checked_secret(os.environ.get(SERVER_SECRET, ""), SERVER_SECRET)
    places = _places(target_base_path, table, registry)
    try:
        from hudi_services.services.timeline_server.server_thread import listening, web_server
    except ImportError as error:
        raise missing_extra("timeline-server", "The timeline server", error) from error
    tables = _tables(places, interval_ms, threads)
    with listening(host, port) as listener, suppress(KeyboardInterrupt):
        server = web_server(tables, secret)
        place = f"{host}:{listener.getsockname()[1]}"
        if as_json:
            echo(json.dumps({"address": place, "tables": list(tables)}))
        else:
            echo(f"the timeline server of {counted(len(tables), 'table')} is at {place}; Ctrl-C ends it")
        try:
            server.run([listener])
        finally:
            for entry in tables.values():
                entry.close()


def _places(target_base_path: str | None, table: str | None, registry: str | None) -> list[str]:
    if target_base_path is not None or table is not None:
        return [chosen_table(target_base_path, table, registry).base_path]
    return [entry.base_path for entry in load_registry(registry_file(registry)).tables]


def _tables(places: list[str], interval_ms: int, threads: int) -> dict[str, ServedTable]:
    from hoodie.clock import SystemClock
    from hoodie.markers import Batching
    from hoodie.storage import open_storage  # loads Arrow
    from hudi_services.services.timeline_server.tables import ServedTable

    storages = [open_storage(place) for place in places]
    batching = Batching(interval_ms, threads)
    return {storage.base_path: ServedTable(storage, SystemClock(), batching) for storage in storages}


timeline_server = click.Command(
    "timeline-server",
    callback=_serve,
    params=[
        *table_flags(),
        click.Option(["--host"], default="127.0.0.1", show_default=True, help="Name or address at which it listens."),
        click.Option(
            ["--port"],
            type=click.IntRange(0, 65535),
            default=SERVER_PORT.default,
            show_default=True,
            help="Port at which it listens; 0: any that is free.",
        ),
        click.Option(
            ["--interval-ms"],
            type=click.IntRange(1),
            default=BATCH_INTERVAL_MS.default,
            show_default=True,
            help="How long it gathers markers before it writes them.",
        ),
        click.Option(
            ["--threads"],
            type=click.IntRange(1),
            default=BATCH_THREADS.default,
            show_default=True,
            help="Files of markers of a write, and threads that write them.",
        ),
        json_flag("Print its address and the paths of its tables as JSON."),
        verbose_flag(),
    ],
    help="Serve timelines, file slices and markers of one table, or of all in the registry. The secret is the variable "
    f"{SERVER_SECRET}.",
    epilog=with_examples(
        (
            "hudi-services timeline-server --table orders",
            "hudi-services timeline-server --table orders --host 0.0.0.0 --port 0 --json",
        )
    ),
    context_settings=CONTEXT,
)
