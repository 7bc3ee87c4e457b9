"""The service `bootstrap`: makes a Hudi table of a table of plain Parquet or ORC files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import click
from pydantic import AfterValidator

from hoodie.config import laid_over, own_options, select_keys
from hoodie.config.groups import BOOTSTRAP_OPTIONS
from hoodie.config.key import regex
from hoodie.config.keys import bootstrap as keys
from hoodie.config.keys.table import CREATE_KEYS, VERSION
from hoodie.errors import ConfigError, RegistryError
from hudi_services.entry.call import Call, Task
from hudi_services.entry.dag import Approval, Arguments, Run, RunRequest, Step, SwitchOn
from hudi_services.entry.new_table import options_of_new
from hudi_services.entry.place import Place
from hudi_services.entry.service import Command, Dag, KeyPath, Section, ServiceEntry
from hudi_services.entry.table import SparkSection, Table
from hudi_services.sources.ingest.entry import SWITCH


def _regex(value: str) -> str:
    try:
        return regex(value)
    except ValueError as error:
        raise ValueError(f"{value!r} must be {error}") from None


class Bootstrap(SparkSection):
    """The plain table that this one is made of, once, before anything is ingested.

    `mode` goes for partitions whose path matches `mode_regex`, the other mode for the others. With `approval` a person looks at
    what the preflight found before anything is written.
    """

    source_path: Place
    source_format: Literal["parquet", "orc"] = "parquet"
    mode: Literal["METADATA_ONLY", "FULL_RECORD"] = "METADATA_ONLY"
    mode_regex: Annotated[str, AfterValidator(_regex)] = ".*"
    check_keys: Literal["none", "sample", "full"] = "full"
    approval: bool = True


def _task(
    call: Call,
    source_path: str,
    source_format: str,
    mode: str,
    mode_regex: str | None,
    parallelism: int | None,
    check_keys: str,
    step: str,
) -> Task:
    own = own_options(call.options, BOOTSTRAP_OPTIONS)
    flags: dict[str, object] = {
        keys.SOURCE.name: source_path,
        keys.SOURCE_FORMAT.name: source_format,
        keys.MODE.name: mode,
        keys.CHECK_KEYS.name: check_keys,
    }
    flags |= {keys.MODE_REGEX.name: mode_regex} if mode_regex is not None else {}
    flags |= {keys.PARALLELISM.name: parallelism} if parallelism is not None else {}
    registered = select_keys(own, keys.BOOTSTRAP_KEYS)
    twice = sorted(flags.keys() & registered.keys())
    if twice:
        raise ConfigError(f"Option {twice[0]} has a flag of its own", fix="give the flag alone")
    from hoodie.services.bootstrap import BootstrapRequest
    from hudi_services.services.bootstrap.task import BootstrapTask

    request = BootstrapRequest(call.base_path, select_keys(own, CREATE_KEYS), {**registered, **flags})
    return BootstrapTask(request, step, call.tell)


def _contradictions(table: Table, _section: Bootstrap) -> Iterator[tuple[KeyPath, str]]:
    if table.keys is None:
        yield ("keys",), "is missing; a bootstrap needs the columns of the table's record key"


def _steps(table: Table, section: Bootstrap) -> tuple[Step, ...]:
    """The migration of a plain table. A rejected approval skips all that follows."""
    steps: list[Step] = [Run("preflight", "bootstrap", "preflight")]
    if section.approval:
        steps.append(
            Approval(
                "approve",
                subject=f"Make the Hudi table {table.name} of {section.source_path}?",
                shows="preflight",
                text=f"Mode {section.mode}; the new table is at `{table.base_path}`. The source is not written.",
            )
        )
    steps += [Run(step, "bootstrap", step) for step in ("bootstrap", "validate")]
    if table.section("sync") is not None:
        steps.append(Run("sync", "sync"))
    steps.append(SwitchOn("ingestion_on", SWITCH, "set by the table's bootstrap; delete it to stop ingestion"))
    return tuple(steps)


def _arguments(table: Table, section: Bootstrap, request: RunRequest) -> Arguments:
    """The mode is the step: `preflight`, `bootstrap` or `validate`; none is all of them."""
    if table.keys is None:
        raise RegistryError(f"Table {table.name} has nothing to bootstrap", fix="give it `bootstrap` and `keys`")
    flags = ["--source-path", section.source_path, "--source-format", section.source_format]
    flags += ["--mode", section.mode, "--mode-regex", section.mode_regex]
    flags += ["--check-keys", section.check_keys]
    flags += ["--step", request.mode] if request.mode else []
    version = {VERSION.name: str(table.version)}
    return Arguments(
        tuple(flags),
        laid_over(section.hoodie, laid_over(table.hoodie, {**options_of_new(table, table.keys), **version})),
    )


BOOTSTRAP = ServiceEntry(
    "bootstrap",
    Command(
        "Make a Hudi table of plain Parquet or ORC files, without rewriting them or with a copy of their rows.",
        _task,
        (
            click.Option(
                ["--source-path"],
                required=True,
                help="Path or URL of the table that is taken over; it is never written.",
            ),
            click.Option(
                ["--source-format"], type=click.Choice(["parquet", "orc"]), default="parquet", show_default=True
            ),
            click.Option(
                ["--mode"],
                type=click.Choice([keys.METADATA_ONLY, keys.FULL_RECORD]),
                default=keys.METADATA_ONLY,
                show_default=True,
                help="Leave the rows in their files, or copy them.",
            ),
            click.Option(
                ["--mode-regex"], help="Only for partitions whose path matches; the others get the other mode."
            ),
            click.Option(["--parallelism"], type=click.IntRange(min=1), help="Most tasks of a stage. [default: 1500]"),
            click.Option(
                ["--check-keys"],
                type=click.Choice(["none", "sample", "full"]),
                default="full",
                show_default=True,
                help="Look for duplicate keys: not at all, in one key of 64, or in all.",
            ),
            click.Option(
                ["--step"],
                type=click.Choice(["all", "preflight", "bootstrap", "validate"]),
                default="all",
                show_default=True,
                help="Do only one step; preflight fails if there is an obstacle.",
            ),
        ),
        application="bootstrap.py",
        examples=(
            "hudi-services bootstrap --table trips --explain",
            "hudi-services bootstrap --target-base-path /data/lake/trips --source-path /data/warehouse/trips \\\n"
            "    --hoodie-conf hoodie.table.name=trips --hoodie-conf hoodie.table.recordkey.fields=trip_id",
        ),
    ),
    Section(
        Bootstrap,
        (BOOTSTRAP_OPTIONS,),
        only=keys.BOOTSTRAP_KEYS,
        always=False,
        replaced={
            keys.SOURCE: "bootstrap.source_path",
            keys.SOURCE_FORMAT: "bootstrap.source_format",
            keys.MODE: "bootstrap.mode",
            keys.MODE_REGEX: "bootstrap.mode_regex",
            keys.CHECK_KEYS: "bootstrap.check_keys",
        },
        places=(("source_path",),),
        contradictions=_contradictions,
    ),
    Dag(_steps, _arguments, once=True),
)
