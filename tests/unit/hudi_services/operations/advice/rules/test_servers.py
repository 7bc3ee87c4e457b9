"""Database servers: logs that will be gone, and tables that are left behind."""

from __future__ import annotations

from dataclasses import replace

from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.rules import servers as rules
from hudi_services.sources.databases.status import LogLeft, ServerStatus, TableStatus
from tests.support.advice import AT_NINE, NOW


def status(log=None, tables=(), time=None, running=None):
    return ServerStatus("shop", None, None, time, None, None, log, running, None, tables)


def server(status, schedule=None):
    return rules.server(status, schedule, NOW)


def table(state, reason=""):
    return TableStatus(
        "orders", "db.orders", "/lake/orders", state, since=AT_NINE.isoformat(), reason=reason, fix="widen it"
    )


def test_a_log_that_is_gone_or_soon_will_be():
    [gone] = server(status(LogLeft("bin.7", None, 0.0, without=True)))
    assert gone.severity is Severity.LOSS
    assert gone.text == "The log of server shop no longer has bin.7, which its tables need"
    [soon] = server(status(LogLeft("bin.7", 7200.0, 86_400.0, without=False)))
    assert soon.text == "Server shop keeps its log from bin.7 on for 2 h more, and its tables need it"
    assert (soon.fix, soon.table) == ("hudi-services cdc sync shop", "shop")
    [now] = server(status(LogLeft("bin.7", -1.0, 86_400.0, without=False)))
    assert "no longer for certain" in now.text


def test_tables_that_are_parked_failed_refused_or_skipped():
    [parked] = server(status(tables=(table("parked", "a column is too wide."),)))
    assert parked.sentence(NOW) == "Server shop has db.orders as parked: a column is too wide, since 09:00 UTC."
    assert (parked.table, parked.fix, parked.remedy) == ("orders", "hudi-services cdc status shop", "widen it.")
    states = [
        each.severity for state in ("failed", "refused", "skipped") for each in server(status(tables=(table(state),)))
    ]
    assert states == [Severity.FAILED, Severity.FAILED, Severity.WAITING]


def test_a_server_that_is_well_is_silent():
    kept = LogLeft("bin.7", 172_800.0, 604_800.0, without=False)
    forever = LogLeft("bin.7", None, 0.0, without=False)
    well = (table("current"), table("loading"), table("new"), table("dropped"))
    assert [*server(status(kept, well)), *server(status(forever)), *server(status())] == []


def test_runs_that_do_not_come():
    late = status(time=AT_NINE.isoformat())
    [advice] = server(late, "0 * * * *")
    assert advice.sentence(NOW) == (
        "No run of server shop has brought its changes, though its schedule is '0 * * * *', since 09:00 UTC."
    )
    assert (advice.severity, advice.fix) == (Severity.FAILED, "hudi-services cdc sync shop")
    assert list(server(late, "0 11 * * *")) == [], "one start that is missed may be a run that begins now"
    assert list(server(late)) == [], "nothing starts its runs"
    assert list(server(status(time=AT_NINE.isoformat(), running=AT_NINE.isoformat()), "0 * * * *")) == []


def test_a_table_has_its_own_advice_and_that_of_its_server():
    gone = LogLeft("bin.7", None, 0.0, without=True)
    customers = replace(table("failed"), name="customers")
    whole = list(server(status(gone, (table("parked"), customers))))
    found = list(rules.of_table(whole, "shop", "orders"))
    assert [(advice.kind, advice.table) for advice in found] == [("server log", "orders"), ("server", "orders")]
