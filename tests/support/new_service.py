"""A new service, known only by its one entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import click
from pydantic import Field as Limit

from hoodie.config import own_options
from hoodie.config.groups import CLEAN_OPTIONS
from hoodie.config.keys.clean import POLICY
from hoodie.engine import Engine
from hoodie.services.decision import Decision
from hoodie.services.stages import Facts, Item, Items
from hudi_services.entry.call import Call
from hudi_services.entry.dag import OPERATION, Arguments, Field, Outlook, Run, RunRequest, Step, Trigger, WhenDue
from hudi_services.entry.service import Command, Dag, KeyPath, Section, ServiceEntry
from hudi_services.entry.size_estimate import Work
from hudi_services.entry.table import Cron, SparkSection, Table
from hudi_services.runtime.result import ServiceResult
from hudi_services.services.entries import ENTRIES


class Expire(SparkSection):
    schedule: Cron | None = None
    days: Annotated[int, Limit(ge=1)] = 30
    archive: str | None = None


@dataclass(frozen=True)
class ExpireTask:
    call: Call
    days: int

    def explain(self, engine: Engine) -> Decision[str]:
        items = Items("expire", (Item("day=1", 10, f"older than {self.days} days"),), 10, noun="partition")
        return Decision("day=1", "1 partition is old", (Facts({"days": self.days}), items))

    def run(self, engine: Engine) -> ServiceResult:
        self.call.tell("looking")
        chosen = own_options(self.call.options, CLEAN_OPTIONS)
        return ServiceResult("expire", f"{self.days} days, {sorted(chosen)}", instant="1", files_deleted=1)

    def work(self, engine: Engine) -> Work:
        return Work(10, "1 partition")


def _contradictions(table: Table, _section: Expire) -> Iterator[tuple[KeyPath, str]]:
    if table.keys is not None and not table.keys.partition_by:
        yield ("expire",), "has no effect on a table without partitions"


def _steps(_table: Table, section: Expire) -> tuple[Step, ...]:
    return WhenDue("due", lambda asked: Outlook(section.days > 7, asked.run_type)), Run("expire", "expire")


def _arguments(_table: Table, section: Expire, asked: RunRequest) -> Arguments:
    return Arguments(("--days", str(asked.params.get("days") or section.days)), section.hoodie)


def _trigger(_table: Table, section: Expire) -> Trigger:
    return Trigger(section.schedule, after=("ingest",))


def _form(_table: Table) -> tuple[Field, ...]:
    return OPERATION, Field("days", "Days", "Of what is kept.", None, {"type": ["null", "integer"]})


def entry(application: str | None) -> ServiceEntry[Any]:
    """The whole declaration; with `application` None it runs in Airflow's worker."""
    return ServiceEntry(
        "expire",
        Command(
            "Drop old partitions.",
            ExpireTask,
            (click.Option(["--days"], type=click.IntRange(min=1), default=30, show_default=True, help="Kept."),),
            application,
        ),
        Section(
            Expire,
            (CLEAN_OPTIONS,),
            always=False,
            replaced={POLICY: "expire.days"},
            places=(("archive",),),
            contradictions=_contradictions,
        ),
        Dag(_steps, _arguments, _trigger, _form, applies=lambda table: table.name != "exempt"),
    )


EXPIRE = entry("expirer.py")
WITH_EXPIRE = (*ENTRIES, EXPIRE)
