"""Advice as programs and people read it: sentences, cost and gain, order, exit codes."""

from __future__ import annotations

from datetime import timedelta

from hudi_services.operations.advice.model import Advice, Effect, Severity, by_severity, ended, exit_code, length
from tests.support.advice import AT_NINE, NOW


def advice(severity=Severity.DUE, **more):
    return Advice("orders", severity, "due", "clean", "Text", **more)


def test_sentences_have_the_time_since_when_in_utc():
    assert advice().sentence(NOW) == "Text."
    assert advice(since=AT_NINE, detail="More.").sentence(NOW) == "Text, since 09:00 UTC. More."
    assert advice(since=AT_NINE - timedelta(days=1)).sentence(NOW) == "Text, since 2026-03-04 09:00 UTC."


def test_cost_and_gain_with_and_without_seconds():
    assert str(Effect("Compacting", 8, "file group", 686 << 10)) == "Compacting 8 file groups, 686 KiB."
    assert str(Effect("Compacting", 1, "file group", 0, 0.2)) == "Compacting 1 file group takes about 1 s."
    assert (
        str(Effect("Cleaning", 2, "file", 2048, 3600.0, frees=True))
        == "Cleaning 2 files frees 2.0 KiB and takes about 1 h."
    )
    assert (length(59.6), length(61), length(None)) == ("60 s", "1 min 1 s", "")


def test_the_gravest_comes_first_then_the_most_urgent_then_the_oldest():
    late, early = advice(since=NOW), advice(since=AT_NINE)
    urgent, damage = advice(Severity.MISSED, urgency=9.0), advice(Severity.DAMAGE)
    missed = advice(Severity.MISSED, urgency=1.5)
    assert by_severity([late, missed, early, urgent, damage]) == (damage, urgent, missed, early, late)


def test_exit_codes():
    severities = [[Severity.DAMAGE, Severity.DUE], [Severity.LOSS], [Severity.MISSED], [Severity.DUE], []]
    assert [exit_code(map(advice, each)) for each in severities] == [2, 2, 1, 1, 0]


def test_values_for_programs():
    effect = Effect("Cleaning", 2, "file", 2048, 1.5, frees=True)
    values = advice(since=AT_NINE, effect=effect, parameters={"force": True}).as_dict(NOW)
    assert (values["severity"], values["since"], values["text"]) == (
        "due",
        AT_NINE.isoformat(),
        "Text, since 09:00 UTC.",
    )
    assert (values["items"], values["bytes"], values["seconds"]) == (2, 2048, 1.5)
    assert (values["fix"], values["parameters"]) == (None, {"force": True})


def test_a_command_that_stands_alone_comes_with_all_that_its_remedy_says():
    remedy = "Restore it. Without a copy: run rollback --instant 1, by which other rows are lost."
    lost = advice(fix="rollback --instant 1", remedy=remedy)
    assert (lost.ways, lost.summary(NOW)) == (remedy, f"Text. {remedy}")
    for other in (advice(fix="clean", remedy=remedy), advice(remedy=remedy), advice(fix="clean")):
        assert (other.ways, other.summary(NOW)) == ("", "Text.")


def test_remedies_become_sentences():
    assert ended("run `hudi-services clean`") == "Run hudi-services clean."
    assert (ended("a/b is not there."), ended("")) == ("a/b is not there.", "")
