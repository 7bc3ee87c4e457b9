"""Tables that cannot be read, and findings of the doctor."""

from __future__ import annotations

from dataclasses import replace

from hudi_services.operations.advice.facts import Damage, Unreadable
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.rules.damage import damages, leftovers, unreadable
from hudi_services.operations.objectives.verdict import Verdict
from tests.support.advice import AT_NINE, facts, said, start, work

FIX = "run `hudi-services doctor --fix`, which writes it"


def test_a_table_that_cannot_be_read_is_gone_or_is_not_there_yet():
    torn = Unreadable("hoodie.properties is empty.", "run `hudi-services rollback --instant 7`", since=AT_NINE)
    assert said(unreadable, unreadable=torn) == [
        "The table cannot be read: hoodie.properties is empty, since 09:00 UTC. Run hudi-services rollback --instant 7 "
        "--table orders. $ hudi-services rollback --instant 7 --table orders"
    ]
    found = Unreadable("It is torn", cause="byte 7", since=AT_NINE)
    assert said(unreadable, unreadable=found)[0].startswith(
        "The table cannot be read: It is torn, since 09:00 UTC. Byte 7."
    )
    rest = "Correct base_path in the registry, put the table back, or remove the entry."
    [never] = unreadable(facts(unreadable=Unreadable("no table", absent=True)))
    assert (never.severity, never.text, never.remedy) == (Severity.FAILED, "There is no table at /lake/orders", rest)
    [gone] = unreadable(facts(unreadable=Unreadable("no table", absent=True, was_there=True)))
    assert (gone.severity, gone.text) == (Severity.DAMAGE, "There is no table at /lake/orders, where there was one")
    awaited = Unreadable("no table", absent=True, awaited=True)
    [advice] = unreadable(facts(unreadable=awaited, starts=start("ingest", "Airflow starts it.")))
    assert (advice.severity, advice.waits, advice.service) == (Severity.DUE, "Airflow starts it.", "ingest")
    assert advice.fix == "hudi-services ingest --table orders"
    assert advice.text == "There is no table at /lake/orders yet: no load has made it"
    assert said(unreadable) == []


def test_a_missing_right_is_no_damage_and_names_the_command_that_gives_it():
    fix = "give it the right, such as by `sudo setfacl -m u:eva:rwX /lake/orders`, or run as the owner"
    command = "sudo setfacl -m u:eva:rwX /lake/orders"
    denied = Unreadable(
        "A right is missing", fix, "user eva may not use /lake/orders", obstacle="right", command=command
    )
    [advice] = unreadable(facts(unreadable=denied))
    assert (advice.severity, advice.fix) == (Severity.FAILED, "sudo setfacl -m u:eva:rwX /lake/orders")
    assert (advice.detail, advice.remedy) == ("User eva may not use /lake/orders.", "Or run it as the owner.")
    [of_store] = unreadable(facts(unreadable=Unreadable("A right is missing", "ask for `it`", obstacle="right")))
    assert (of_store.fix, of_store.remedy) == ("", "Ask for it.")


def test_a_storage_that_does_not_answer_is_no_damage():
    silent = Unreadable(
        "The storage of s3://lake does not answer", "look whether it runs", "timeout", obstacle="storage"
    )
    [advice] = unreadable(facts(unreadable=silent))
    assert (advice.severity, advice.detail, advice.remedy) == (Severity.FAILED, "Timeout.", "Look whether it runs.")
    assert advice.fix == "hudi-services show table --table orders"
    of_doctor = Damage("unreachable", "The storage does not answer", "try again", fixable=False, grave=False)
    [seen] = leftovers(facts(damages=(of_doctor,)))
    assert (seen.severity, seen.text) == (Severity.FAILED, "The storage does not answer")
    assert said(leftovers, damages=(replace(of_doctor, looked_at=AT_NINE),)) == [], "a later look answers it"


def test_findings_of_the_doctor_come_once_for_each_check():
    found = Damage("partition-metafile", "a metafile is missing (p=1)", FIX, fixable=True, count=3, bytes=9)
    assert said(damages, damages=(found,)) == [
        "A metafile is missing (p=1). It is the first of 3 findings. $ hudi-services doctor --fix --table orders"
    ]
    lost = Damage(
        "missing-file", "a file is missing", "restore it from a copy (`hudi-services restore`)", fixable=False
    )
    assert said(damages, damages=(lost,)) == [
        "A file is missing. Restore it from a copy (hudi-services restore --table orders). $ hudi-services restore --table orders"
    ]
    assert said(damages) == []


def test_problems_of_a_look_count_where_the_doctor_has_not_looked():
    problem = "File p/a.parquet is missing. To do: look at it."
    assert said(damages, problems=(problem,)) == [
        "File p/a.parquet is missing. Look at it. $ hudi-services doctor --table orders"
    ]
    grave = Damage("missing-file", "a file is missing", "", fixable=False)
    assert len(said(damages, problems=(problem,), damages=(grave,))) == 1


def test_leftovers_are_no_damage_and_are_not_said_twice():
    orphan = Damage("orphan-file", "a file is of no commit", FIX, fixable=True, grave=False, bytes=2048)
    assert said(leftovers, damages=(orphan,)) == [
        "A file is of no commit (2.0 KiB). $ hudi-services doctor --fix --table orders"
    ]
    assert said(damages, damages=(orphan,)) == []
    ratio = Damage("log-ratio", "logs are large", "run `hudi-services compact`", fixable=False, grave=False)
    assert said(leftovers, damages=(ratio,)) == ["Logs are large. $ hudi-services compact --table orders"]
    missed = Verdict("log_ratio", False, 2.0, 1.0, "bytes per byte", None, 2.0, "compact")
    assert said(leftovers, damages=(ratio,), objectives=(missed,)) == []
    assert said(leftovers, damages=(ratio,), work=work("compact")) == []
    assert len(said(leftovers, damages=(ratio,), work=work("clean"))) == 1
    assert said(leftovers, damages=(Damage("lock", "a lock", "", fixable=False, grave=False),)) == []
