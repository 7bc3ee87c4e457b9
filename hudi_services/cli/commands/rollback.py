"""The command `rollback`: shows what goes with an instant, asks, and takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hoodie.errors import ConfigError
from hudi_services.cli.commands.confirmation import take_back_command

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.services.rollback.service import Rollback
    from hoodie.table import HoodieTable


def _service(instant: str) -> Rollback:
    from hoodie.services.rollback.service import Rollback

    return Rollback(instant)


def _last_commit(table: HoodieTable) -> str:
    """The complete commit that began last. Raises ConfigError for a table without one."""
    commits = table.timeline.commits
    if not commits:
        raise ConfigError(f"Table {table.base_path} has no commit to roll back", fix="name an instant by --instant")
    return max(commit.time for commit in commits)


rollback = take_back_command(
    "rollback",
    click.Option(["--instant"], help="The last commit, or an instant that is not complete. [default: the last commit]"),
    _service,
    question="The rows of this instant cannot be brought back. Roll it back?",
    newest=_last_commit,
    help="Take back the last commit, a write that did not complete, or what was begun of a plan. Without --instant it shows the "
    "last commit and asks. Without a terminal it prints the command. Needs no Spark.",
    examples=(
        "hudi-services rollback --table orders",
        "hudi-services rollback --table orders --instant 20260301060000123 --explain",
        "hudi-services rollback --table orders --instant 20260301060000123",
    ),
)
