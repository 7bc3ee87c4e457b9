"""The command `sql`: runs statements on the tables of a registry or a warehouse, and prints what they give."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hoodie.display import counted
from hoodie.errors import ArgumentError, ConfigError
from hudi_services.cli.flags import (
    CONTEXT,
    VERBOSE,
    WIDE,
    json_flag,
    option_flags,
    registry_flag,
    verbose_flag,
    wide_flag,
    with_examples,
)
from hudi_services.cli.properties import merged_options
from hudi_services.cli.spark_session import spark_session
from hudi_services.entry.size_estimate import SPARK
from hudi_services.registry.load import Reading, read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.runtime.result import DONE, SERVICE_FAILED
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:
    from hoodie.sql.catalog import Catalog

DUCKDB = "duckdb"
_WORD = re.compile(r"\w+")


def _sql(
    warehouse: str | None,
    registry: str | None,
    metastore: str | None,
    execute: str | None,
    file: str | None,
    props: str | None,
    conf: tuple[str, ...],
    as_json: bool,
    engine: str,
    spark_master: str | None,
) -> int:
    if execute is not None and file is not None:
        raise click.UsageError("-e contradicts -f: keep one")
    if spark_master is not None and engine != SPARK:
        raise click.UsageError("--spark-master is for --engine spark")
    typed = execute is None and file is None and sys.stdin.isatty()
    if typed and as_json:
        raise click.UsageError(
            "--json is for statements that are given: -e 'STATEMENTS', -f FILE, or on standard input"
        )
    text = "" if typed else execute if execute is not None else _read(file)
    from hoodie.engine import LocalEngine  # loads Arrow
    from hoodie.sql import connect  # and DuckDB
    from hudi_services.sql.database_statements import DatabaseStatements
    from hudi_services.sql.output import print_json, print_table
    from hudi_services.sql.progress import Running

    meta = click.get_current_context().meta
    verbose, wide = bool(meta.get(VERBOSE)), bool(meta.get(WIDE))
    spark = spark_session(spark_master, "hudi sql", verbose=verbose) if engine == SPARK else None
    if spark is not None:
        from hoodie.spark import register

        register(spark)  # statements for Spark alone may say USING hoodie
    options = merged_options(props, conf)
    catalog, running = _catalog(warehouse, registry, metastore, options, text), Running()
    tasks = LocalEngine(progress=running.tell)
    extensions = [DatabaseStatements(_reading(registry), os.environ)]
    with connect(catalog=catalog, options=options, spark=spark, tasks=tasks, extensions=extensions) as connection:
        if typed:
            from hudi_services.sql.shell import Shell

            echo(f"Tables of {catalog.path}; \\? for help")
            Shell(connection, lambda statement: running.with_progress(connection.run(statement)), wide=wide).loop()
            return DONE
        last, code = None, DONE
        for result in running.with_progress(connection.run(text)):
            if any(service.failed and service.counts for service in result.services):
                code = SERVICE_FAILED
            if result.message is not None:
                echo(result.message, err=True)
            else:
                if not as_json:
                    print_table(result, wide=wide)
                if result.note is not None:
                    echo(result.note, err=True)
                last = result
        if as_json and last is not None:
            print_json(last)
    return code


def _catalog(
    warehouse: str | None, registry: str | None, metastore: str | None, options: Mapping[str, str], text: str
) -> Catalog:
    """The catalog that a flag names, or that of the registry that a command finds by itself. Mistakes of the registry are shown
    if they concern all of it, or a table that `text` names."""
    named = {"--warehouse": warehouse, "--registry": registry, "--metastore": metastore}
    flags = [flag for flag, value in named.items() if value is not None]
    if len(flags) > 1:
        raise click.UsageError(f"{flags[0]} contradicts {flags[1]}: keep one")
    if metastore is not None:
        from hoodie.sql.hive import HiveCatalog

        return HiveCatalog(metastore, options)
    if warehouse is not None:
        from hoodie.sql.warehouse import Warehouse

        return Warehouse(warehouse)
    from hudi_services.sql.registry_catalog import registered_tables

    file = registry_file(registry)
    reading = read_registry(file)
    words = {word.lower() for word in _WORD.findall(text)}
    own = [mistake for mistake in reading.mistakes if mistake.table is None or mistake.table.lower() in words]
    for mistake in own:
        echo(f"warning: {mistake}", err=True)
    others = {mistake.table for mistake in reading.mistakes} - {mistake.table for mistake in own}
    if others and (not words or "tables" in words):
        omitted = f"{counted(len(others), 'table')} with mistakes {'is' if len(others) == 1 else 'are'} left out"
        echo(f"warning: {omitted}: `hudi-services registry check` shows them", err=True)
    return registered_tables(reading, file)


def _reading(registry: str | None) -> Reading | None:
    """The registry whose servers statements may name, None where there is none."""
    try:
        return read_registry(registry_file(registry))
    except ConfigError:
        return None


def _read(file: str | None) -> str:
    if file is None or file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"The file {file} is no text of UTF-8", found=str(error), fix="save it as UTF-8") from error


sql = click.Command(
    "sql",
    callback=_sql,
    params=[
        click.Option(
            ["--warehouse"], metavar="DIR", help="Folder or URL of the tables, which CREATE TABLE makes there."
        ),
        registry_flag(),
        click.Option(
            ["--metastore"], metavar="URI", help="Hive metastores, such as thrift://metastore:9083, with commas."
        ),
        click.Option(["-e", "--execute"], metavar="STATEMENTS", help="Statements, with semicolons between them."),
        click.Option(["-f", "--file"], metavar="FILE", help="A file of statements; - is standard input."),
        *option_flags(),
        json_flag("Print the rows of the last query, one JSON object a line, and nothing else on standard output."),
        click.Option(
            ["--engine"],
            type=click.Choice((DUCKDB, SPARK)),
            default=DUCKDB,
            show_default=True,
            help="The engine of the queries: DuckDB in this process, or Spark.",
        ),
        click.Option(
            ["--spark-master"], help="Spark master, when spark-submit does not give it; for instance local[2]."
        ),
        wide_flag(),
        verbose_flag(),
    ],
    help="Run SQL on the tables of a registry, a warehouse or a Hive metastore: queries, CREATE TABLE, INSERT, UPDATE, DELETE, "
    "MERGE INTO. Each statement that changes a table is one commit. DuckDB runs the queries, without Spark, unless --engine "
    "says so. On a terminal, without -e and -f, it is a shell: statements are run as they are typed."
    "\n\nExit code 3: all is committed, but a service after a commit failed, such as the sync with a metastore, or a "
    "table of a database is behind or differs from it.",
    epilog=with_examples(
        (
            'hudi-services sql --registry tables.yaml -e "SELECT count(*) FROM orders"',
            'hudi-services sql --warehouse /data/lake -e "SELECT count(*) FROM orders"',
            "hudi-services sql --warehouse /data/lake -f nightly.sql --json",
            "hudi-services sql --warehouse /data/lake --engine spark --spark-master 'local[4]' -f nightly.sql",
        )
    ),
    context_settings=CONTEXT,
)
