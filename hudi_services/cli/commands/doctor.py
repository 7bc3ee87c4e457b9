"""The command `doctor`: what is wrong with a table, or with all tables of a registry."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import click

from hoodie.clock import SystemClock
from hudi_services.cli.flags import (
    CONTEXT,
    chosen_table,
    json_flag,
    option_flags,
    table_flags,
    verbose_flag,
    with_examples,
)
from hudi_services.cli.properties import merged_options
from hudi_services.registry.load import read_registry
from hudi_services.registry.lookup import registry_file
from hudi_services.runtime.progress import progress_shown
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # it loads Arrow
    from hudi_services.operations.doctor.fix import FixedTable
    from hudi_services.operations.doctor.rounds import Patient, TableDiagnosis

_AT_ONCE = 8


def _doctor(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    props: str | None,
    conf: tuple[str, ...],
    at_once: int,
    deep: bool,
    fix: bool,
    yes: bool,
    as_json: bool,
) -> int:
    from hudi_services.operations.doctor import registry_tables as registered  # they load Arrow
    from hudi_services.operations.doctor import report
    from hudi_services.operations.doctor.rounds import rounds
    from hudi_services.operations.watch.findings import keep_round

    if fix and as_json and not yes:
        raise click.UsageError("--json cannot prompt: add --yes, or leave --fix out to see the findings")
    if yes and not fix:
        raise click.UsageError("--yes has no effect without --fix")
    options = merged_options(props, conf)
    diagnoses: list[TableDiagnosis] = []
    reading = read_registry(registry_file(registry)) if target_base_path is None else None
    if reading is not None and table is None:
        patients, diagnoses = registered.patients(reading, options, deep=deep)
    else:
        chosen = chosen_table(target_base_path, table, registry)
        patients = [registered.patient(chosen.entry, chosen.base_path, options, deep=deep)]
    with progress_shown(None if as_json else partial(echo, err=True)) as progress:
        diagnoses += rounds(patients, at_once, progress)
    diagnoses.sort(key=lambda checked: checked.name)
    results = _fixed(patients, diagnoses, yes=yes, as_json=as_json) if fix else []
    remaining = [table.seen for table in results] if fix else diagnoses
    if reading is not None:
        keep_round(reading.registry, remaining, SystemClock().now(), deep=deep)
    if fix:
        return _report(results, registry, as_json=as_json)
    echo(json.dumps(report.as_dict(diagnoses), indent=2) if as_json else report.as_text(diagnoses, registry))
    return report.exit_code(diagnoses)


def _fixed(patients: list[Patient], diagnoses: list[TableDiagnosis], *, yes: bool, as_json: bool) -> list[FixedTable]:
    """Fix one table after the other. Tables in which nothing can be fixed are reported as they are."""
    from hudi_services.operations.doctor.fix import FixedTable, fix

    by_name = {examined.name: examined for examined in patients}
    show = (lambda _text: None) if as_json else echo
    results: list[FixedTable] = []
    for checked in diagnoses:
        patient = by_name.get(checked.name)
        if patient is None or not checked.diagnosis.findings:
            results.append(FixedTable(checked, {}))
            continue
        results.append(fix(patient, checked, show, lambda: yes or click.confirm("Apply this fix?")))
        if not as_json and (text := results[-1].as_text()):
            echo(text)
    return results


def _report(results: list[FixedTable], registry: str | None, *, as_json: bool) -> int:
    """Print what the fixes have left, and return the exit code."""
    from hudi_services.operations.doctor import report

    remaining = [table.seen for table in results]
    code = max([report.exit_code(remaining), *(report.WARNED for table in results if table.failure is not None)])
    if as_json:
        echo(json.dumps({"exit_code": code, "tables": [table.as_dict() for table in results]}, indent=2))
    else:
        echo(report.as_text(remaining, registry))
    return code


doctor = click.Command(
    "doctor",
    callback=_doctor,
    params=[
        *table_flags(),
        *option_flags(),
        click.Option(
            ["--at-once"],
            type=click.IntRange(min=1, max=64),
            default=_AT_ONCE,
            show_default=True,
            metavar="N",
            help="How many tables of a registry are looked at at the same time.",
        ),
        click.Option(["--deep"], is_flag=True, help="Also read footers of base files, logs, and all record keys."),
        click.Option(["--fix"], is_flag=True, help="Fix the findings that have a fix. Shows each fix first, and asks."),
        click.Option(["--yes"], is_flag=True, help="Do not ask."),
        json_flag("Print what was found as JSON."),
        verbose_flag(),
    ],
    help="Check a table, and name the fix of each finding. Without --table and --target-base-path: every table of the "
    "registry. Without --fix it changes nothing. It reads data files only with --deep. docs/reference/doctor-checks.md "
    "has every check.\n\n"
    "Exit codes: 0 healthy, 1 warnings, 2 damage, or a table that could not be looked at. A wrong use of the command ends "
    "with 2, too: it prints no findings.",
    epilog=with_examples(
        ("hudi-services doctor --table orders --fix", "hudi-services doctor --registry tables.yaml --json")
    ),
    context_settings=CONTEXT,
)
