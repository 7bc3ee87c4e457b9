"""The command `rollback`: shows what goes with an instant, asks, and takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hudi_services.cli.commands.confirmation import take_back_command

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.services.rollback.service import Rollback


def _service(instant: str) -> Rollback:
    from hoodie.services.rollback.service import Rollback

    return Rollback(instant)


rollback = take_back_command(
    "rollback",
    click.Option(["--instant"], required=True, help="The last commit, or an instant that is not complete."),
    _service,
    question="The rows of this instant cannot be brought back. Roll it back?",
    help="Take back the last commit, a write that did not complete, or what was begun of a plan. Needs no Spark.",
    examples=(
        "hudi-services rollback --table orders --instant 20260301060000123 --explain",
        "hudi-services rollback --table orders --instant 20260301060000123",
    ),
)
