"""The commands of `savepoint`: make one, delete one, show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hoodie.config import laid_over
from hoodie.display import counted
from hudi_services.cli.flags import (
    CONTEXT,
    chosen_table,
    json_flag,
    single_option_flag,
    table_flags,
    verbose_flag,
    with_examples,
)
from hudi_services.cli.properties import merged_options
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.history.flag import recorded_table
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # they load Arrow
    from hoodie.model.savepoint import Savepoint
    from hoodie.table import HoodieTable


def _opened(chosen: ChosenTable) -> HoodieTable:
    from hoodie.table import HoodieTable

    return HoodieTable.open(chosen.base_path)


def _create(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    instant: str | None,
    user: str | None,
    comments: str,
    conf: tuple[str, ...],
    as_json: bool,
) -> None:
    from hudi_services.operations.history.manual import by_hand  # loads Arrow

    chosen = chosen_table(target_base_path, table, registry)
    options = laid_over(merged_options(None, conf), chosen.common)
    with by_hand(recorded_table(chosen.entry), "savepoint", chosen.base_path) as say:
        new_savepoint = _opened(chosen).savepoint(instant, user=user, comments=comments, options=options)
        facts = _facts(new_savepoint)
        text = f"made savepoint {new_savepoint.instant}, which keeps {_size_text(facts)}"
        say(text)
    echo(json.dumps(facts, indent=2) if as_json else text)


def _delete(
    target_base_path: str | None,
    table: str | None,
    registry: str | None,
    instant: str,
    yes: bool,
    conf: tuple[str, ...],
    as_json: bool,
) -> None:
    from hudi_services.operations.history.manual import by_hand  # loads Arrow

    if as_json and not yes:
        raise click.UsageError("--json cannot prompt: add --yes to delete the savepoint")
    chosen = chosen_table(target_base_path, table, registry)
    opened = _opened(chosen)
    facts = next((_facts(saved) for saved in opened.savepoints() if saved.instant == instant), None)
    if facts is not None and not yes:
        echo(_line(facts))
        click.confirm("The table can no longer be restored to it, and cleans remove its files. Delete it?", abort=True)
    with by_hand(recorded_table(chosen.entry), "savepoint", chosen.base_path) as say:
        opened.delete_savepoint(instant, laid_over(merged_options(None, conf), chosen.common))
        say(f"deleted savepoint {instant}")
    echo(json.dumps({"deleted": instant}, indent=2) if as_json else f"deleted savepoint {instant}")


def _list(target_base_path: str | None, table: str | None, registry: str | None, as_json: bool) -> None:
    savepoints = [_facts(saved) for saved in _opened(chosen_table(target_base_path, table, registry)).savepoints()]
    if as_json:
        echo(json.dumps({"savepoints": savepoints}, indent=2))
    else:
        echo("\n".join(map(_line, savepoints)) or "the table has no savepoints")


def _facts(savepoint: Savepoint) -> dict[str, Any]:
    made_at = datetime.fromtimestamp(savepoint.at_ms / 1000, UTC).isoformat(timespec="seconds")
    return {
        "instant": savepoint.instant,
        "made_at": made_at,
        "made_by": savepoint.by,
        "comments": savepoint.comments,
        "files": sum(1 for _ in savepoint.paths),
        "partitions": len(savepoint.files),
    }


def _line(facts: Mapping[str, Any]) -> str:
    remarks = filter(None, (facts["made_by"], facts["comments"]))
    words = " ".join(": ".join(remarks).split())  # anybody may have written them
    return f"{facts['instant']}  made {facts['made_at']} by {words}  ({_size_text(facts)})"


def _size_text(facts: Mapping[str, Any]) -> str:
    return f"{counted(facts['files'], 'file')} in {counted(facts['partitions'], 'partition')}"


_CONF = single_option_flag()
_YES = click.Option(["--yes"], is_flag=True, help="Do not ask.")

savepoint = click.Group(
    "savepoint",
    help="Keep the files of a commit, so that the table can be restored to it.",
    context_settings=CONTEXT,
    commands=[
        click.Command(
            "create",
            callback=_create,
            params=[
                *table_flags(),
                click.Option(["--instant"], help="The commit that is kept. [default: the last one]"),
                click.Option(["--user"], help="The user who makes it. [default: the user who runs this]"),
                click.Option(["--comments"], default="", help="Why: shown with it."),
                _CONF,
                json_flag(),
                verbose_flag(),
            ],
            help="Make a savepoint of a commit: no clean removes its files until the savepoint is deleted.",
            epilog=with_examples(('hudi-services savepoint create --table orders --comments "before the migration"',)),
            context_settings=CONTEXT,
        ),
        click.Command(
            "delete",
            callback=_delete,
            params=[
                *table_flags(),
                click.Option(["--instant"], required=True, help="The commit whose savepoint is deleted."),
                _YES,
                _CONF,
                json_flag(),
                verbose_flag(),
            ],
            help="Delete a savepoint: the next cleans remove the files that only it keeps.",
            epilog=with_examples(("hudi-services savepoint delete --table orders --instant 20260301060000123",)),
            context_settings=CONTEXT,
        ),
        click.Command(
            "list",
            callback=_list,
            params=[*table_flags(), json_flag(), verbose_flag()],
            help="The savepoints of a table: of which commits, since when, by whom, and why.",
            epilog=with_examples(("hudi-services savepoint list --table orders",)),
            context_settings=CONTEXT,
        ),
    ],
)
