"""The digest of a plan, as people pass it, and what a service that plans is asked with it."""

from __future__ import annotations

import re
from typing import Any

import click

from hudi_services.entry.dag import Field, RunRequest

_DIGEST = re.compile(r"[0-9a-f]{12}")


class PlanDigest(click.ParamType[str]):
    """A digest of 12 characters, as `--explain` shows it. The empty text of a flag without its value names no plan."""

    name = "digest"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value and not _DIGEST.fullmatch(value):
            self.fail(f"{value!r:.100} is not the digest of a plan: --explain shows it", param, ctx)
        return str(value)


ONLY = "plan"
"""The name of the flag, and of the field of a form."""


def _named(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value == "":
        raise click.BadParameter(
            "it is empty: give the digest that --explain shows, or leave it out", context, parameter
        )
    return value


def only_flag() -> click.Option:
    """The flag of commands that carry out only the plan with this digest; its value is None without the flag.

    An empty value is refused, because it names no plan.
    """
    return click.Option(
        [f"--{ONLY}", "only"],
        type=PlanDigest(),
        metavar="DIGEST",
        callback=_named,
        help="Run only the plan with this digest (from --explain). If the plan has changed, do nothing.",
    )


def approval_flag() -> click.Option:
    """The flag of commands without a question: it approves the plan with this digest."""
    return click.Option(
        ["--yes"],
        type=PlanDigest(),
        metavar="DIGEST",
        help="Approve the plan with this digest (from --explain), also if it exceeds the delete limits (hoodie.delete.max.*).",
    )


def confirmation_flag() -> click.Option:
    """The flag of commands that ask: its value is None without the flag, and empty where no digest follows it."""
    return click.Option(
        ["--yes"],
        is_flag=False,
        flag_value="",
        type=PlanDigest(),
        metavar="[DIGEST]",
        help="Do not ask. To delete more than the limits hoodie.delete.max.* allow without approval, give the digest of the "
        "plan, which --explain shows.",
    )


ONLY_FIELD = Field(
    ONLY,
    "Only this plan",
    "The digest of a plan that explain has shown. If the plan has changed, the run does nothing and fails. Empty: any plan.",
    None,
    {"type": ["null", "string"], "pattern": "^[0-9a-f]{12}$"},
)


def only_flags(request: RunRequest) -> tuple[str, ...]:
    """The flag of a run that was asked for one plan; empty for other runs."""
    digest = request.params.get(ONLY)
    return (f"--{ONLY}", str(digest)) if digest else ()
