"""The command `restore`: shows what is lost, asks, and takes the table back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hudi_services.cli.commands.confirmation import take_back_command

if TYPE_CHECKING:  # it loads Arrow
    from hoodie.services.restore.service import Restore


def _service(savepoint: str) -> Restore:
    from hoodie.services.restore.service import Restore

    return Restore(savepoint)


restore = take_back_command(
    "restore",
    click.Option(["--savepoint"], required=True, metavar="INSTANT", help="The commit that is the last one then."),
    _service,
    question="The rows of these instants cannot be brought back. Restore the table?",
    help="Take a table back to a savepoint: all that came after its commit goes. Needs no Spark.",
    examples=(
        "hudi-services savepoint list --table orders",
        "hudi-services restore --table orders --savepoint 20260301060000123 --explain",
        "hudi-services restore --table orders --savepoint 20260301060000123",
    ),
)
