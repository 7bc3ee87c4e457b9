"""The command `bootstrap`: takes over a table of plain Parquet or ORC files."""

from __future__ import annotations

import time
from typing import Any

import click

from hoodie.clock import SystemClock
from hoodie.config import Service, own_options, select_keys
from hoodie.config import bootstrap_keys as keys
from hoodie.config.bootstrap_keys import BOOTSTRAP_KEYS
from hoodie.config.table_keys import CREATE_KEYS
from hoodie.errors import ConfigError, SourceError
from hoodie.services.bootstrap import BootstrapRequest, BootstrapResult, preflight, run_bootstrap
from hoodie.services.bootstrap_plan import BootstrapPlan
from hoodie.services.bootstrap_validate import Validation, validate_bootstrap
from hudi_services.explain import print_plan
from hudi_services.options import Common, common_options
from hudi_services.result import ServiceResult, finish

_SHOWN = 200  # partitions that are printed


@click.command()
@common_options
@click.option("--source-path", required=True, help="Path or URL of the table that is taken over; it is never written.")
@click.option("--source-format", type=click.Choice(["parquet", "orc"]), default="parquet", show_default=True)
@click.option(
    "--mode",
    type=click.Choice([keys.METADATA_ONLY, keys.FULL_RECORD]),
    default=keys.METADATA_ONLY,
    show_default=True,
    help="Leave the rows in their files, or copy them.",
)
@click.option("--mode-regex", help="Only for partitions whose path matches; the others get the other mode.")
@click.option("--parallelism", type=click.IntRange(min=1), help="Most tasks of a stage. [default: 1500]")
@click.option(
    "--check-keys",
    type=click.Choice(["none", "sample", "full"]),
    default="full",
    show_default=True,
    help="Look for duplicate keys: not at all, in one key of 64, or in all.",
)
@click.option(
    "--step",
    type=click.Choice(["all", "preflight", "bootstrap", "validate"]),
    default="all",
    show_default=True,
    help="Do only one step; preflight fails when something stands in the way.",
)
def bootstrap(
    common: Common,
    source_path: str,
    source_format: str,
    mode: str,
    mode_regex: str | None,
    parallelism: int | None,
    check_keys: str,
    step: str,
) -> None:
    """Make a Hudi table of plain Parquet or ORC files, without rewriting them or with a copy of their rows."""
    begun = time.monotonic()
    request = _request(common, source_path, source_format, mode, mode_regex, parallelism, check_keys)
    engine = common.open_engine("hudi bootstrap")
    if common.explain:
        print_plan(plan_as_dict(preflight(request, engine)), common.as_json)
        return
    said: list[str] = []
    plan: BootstrapPlan | None = None
    done: BootstrapResult | None = None
    if step == "preflight":
        plan = preflight(request, engine)
        _tell(plan, common.as_json)
        said.append(_refused(plan))
    if step in ("all", "bootstrap"):
        done = run_bootstrap(request, SystemClock(), engine)
        plan = done.plan
        _tell(plan, common.as_json)
        said.append(_done(done))
    if step in ("all", "validate"):
        said.append(_validated(validate_bootstrap(request, SystemClock(), engine), common))
    result = ServiceResult(
        "bootstrap",
        message="; ".join(said),
        instant=done.instant if done is not None and not done.repeated else None,
        rows_read=plan.rows if plan else 0,
        rows_written=done.rows if done else 0,
        rows_inserted=done.rows if done else 0,
        files_read=len(plan.files) if plan else 0,
        bytes_read=plan.bytes_read if plan else 0,
        files_written=done.files_written if done else 0,
        bytes_written=done.bytes_written if done else 0,
        seconds=time.monotonic() - begun,
    )
    finish(result, common.as_json, common.result_path)


def _request(
    common: Common,
    source_path: str,
    source_format: str,
    mode: str,
    mode_regex: str | None,
    parallelism: int | None,
    check: str,
) -> BootstrapRequest:
    own = own_options(common.options, Service.BOOTSTRAP)
    flags: dict[str, object] = {
        keys.SOURCE.name: source_path,
        keys.SOURCE_FORMAT.name: source_format,
        keys.MODE.name: mode,
        keys.CHECK_KEYS.name: check,
    }
    flags |= {keys.MODE_REGEX.name: mode_regex} if mode_regex is not None else {}
    flags |= {keys.PARALLELISM.name: parallelism} if parallelism is not None else {}
    given = select_keys(own, BOOTSTRAP_KEYS)
    twice = sorted(flags.keys() & given.keys())
    if twice:
        raise ConfigError(f"Option {twice[0]} has a flag of its own", fix="give the flag alone")
    return BootstrapRequest(common.base_path, select_keys(own, CREATE_KEYS), {**given, **flags})


def _refused(plan: BootstrapPlan) -> str:
    if plan.problems:
        raise SourceError(
            f"The source {plan.source} cannot be bootstrapped",
            found="; ".join(plan.problems),
            fix="correct it and run again; nothing was written",
        )
    return (
        f"{len(plan.files)} files with {plan.rows:,} rows in {plan.partitions} partitions can be taken over; all of them as "
        f"METADATA_ONLY would write about {plan.skeleton_bytes:,} bytes, as FULL_RECORD {plan.full_bytes:,}"
    )


def _done(result: BootstrapResult) -> str:
    if result.repeated:
        return "bootstrapped already by an earlier run"
    return (
        f"{len(result.plan.files)} source files with {result.rows:,} rows taken over; {result.files_written} files of "
        f"{result.bytes_written:,} bytes written"
    )


def _validated(found: Validation, common: Common) -> str:
    names = sorted(found.source.keys() | found.table.keys())
    if not common.as_json:
        for name in names[:_SHOWN]:
            source, table = found.source.get(name), found.table.get(name)
            rows, checksum = (source.rows, source.checksum) if source else (0, 0)
            same = "equal" if source == table else f"DIFFERENT: the table has {table}"
            click.echo(f"  {name or '(all)'}: {rows:,} rows, checksum {checksum:016x}: {same}")
        if len(names) > _SHOWN:
            click.echo(f"  … and {len(names) - _SHOWN} more")
    if found.different:
        raise SourceError(
            f"Table {common.base_path} differs from its source in {len(found.different)} of {len(names)} partitions",
            found=", ".join(found.different[:5]),
            fix="do not switch over; delete the table, and bootstrap it again when the source is at rest",
        )
    return f"{found.rows:,} rows in {len(names)} partitions have the checksums of the source"


def _tell(plan: BootstrapPlan, as_json: bool) -> None:
    if not as_json:
        for note in plan.notes:
            click.echo(f"note: {note}")


def plan_as_dict(plan: BootstrapPlan) -> dict[str, Any]:
    """What a bootstrap would do, file by file, and what stands in its way."""
    return {
        "service": "bootstrap",
        "reason": "refused" if plan.problems else "nothing stands in the way",
        "source": plan.source,
        "problems": list(plan.problems),
        "notes": list(plan.notes),
        "rows": plan.rows,
        "partitions": plan.partitions,
        "layout": plan.layout,
        "partition_columns_inside": list(plan.inside),
        "partition_columns_outside": list(plan.outside),
        "schema": {field.name: str(field.type) for field in plan.schema or ()},
        "bytes": plan.bytes,
        "bytes_read": {keys.METADATA_ONLY: plan.key_bytes, keys.FULL_RECORD: plan.key_bytes + plan.bytes},
        "bytes_written": {keys.METADATA_ONLY: plan.skeleton_bytes, keys.FULL_RECORD: plan.full_bytes},
        "files": [
            {"path": file.info.path, "bytes": file.info.size, "rows": file.rows, "reason": file.mode}
            for file in plan.files
        ],
    }
