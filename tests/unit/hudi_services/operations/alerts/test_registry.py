"""The section `alerts` of a registry: what it may say, and that nothing which may be a secret is shown."""

from __future__ import annotations

from datetime import time, timedelta

import pytest
import yaml

from hudi_services.cli.program import main
from hudi_services.registry.load import read_registry

SECRET = "T0PSECRET"


def read(tmp_path, section):
    file = tmp_path / "tables.yaml"
    file.write_text(yaml.safe_dump({"alerts": section, "tables": [{"name": "t", "base_path": "/t"}]}))
    return read_registry(file, {})


def test_what_it_says(tmp_path):
    hooks = [
        {"name": "ops", "url": "${NOWHERE}"},
        {"name": "chat", "url": "http://h:1/${KEY}", "form": "text", "token": "K"},
    ]
    found = read(tmp_path, {"hooks": hooks, "late": "6h", "digest": "08:30", "zone": "Europe/Berlin"})
    assert found.mistakes == ()
    alerts = found.registry.alerts
    assert alerts is not None
    assert (alerts.late, alerts.unreadable, alerts.runs) == (timedelta(hours=6), None, False)
    assert (alerts.repeat, alerts.digest_at) == (timedelta(days=1), time(8, 30))
    assert "http" not in repr(alerts)


def hook(**values):
    return {"hooks": [{"name": "ops", "url": "https://example.org"} | values]}


@pytest.mark.parametrize(
    ("section", "key", "words"),
    [
        (hook(url=f"ftp://h/{SECRET}"), "hooks.0.url", "https://"),
        (hook(url=f"file:///{SECRET}"), "hooks.0.url", "https://"),
        (hook(url=f"https://me:{SECRET}@h/"), "hooks.0.url", "token"),
        (hook(url=f"https://h/{SECRET}\n"), "hooks.0.url", "no address"),
        (hook(url=f"https:///{SECRET}"), "hooks.0.url", "no address"),
        (hook(url=f"https://h:{SECRET}/"), "hooks.0.url", "no address"),
        (hook(url=[f"https://h/{SECRET}"]), "hooks.0.url", "address"),
        (hook(token=f"{SECRET}-x"), "hooks.0.token", "environment variable"),
        (hook(form=SECRET), "hooks.0.form", "'text'"),
        (hook(name="a\nb"), "hooks.0.name", "no name"),
        (f"https://h/{SECRET}", "alerts", "dictionary"),
        ({"hooks": f"https://h/{SECRET}"}, "hooks", "tuple"),
        ({"hooks": [f"https://h/{SECRET}"]}, "hooks.0", "dictionary"),
        ({"hooks": []}, "hooks", "names no hook"),
        ({"hooks": hook()["hooks"] * 2}, "hooks", "twice"),
        (hook() | {"digest": 480}, "digest", "08:00"),
        (hook() | {"zone": "Mars/Olympus"}, "zone", "time zone"),
        (hook() | {"repeat": "1s"}, "repeat", "seconds=60"),
        (hook() | {"lat": "1h"}, "lat", "'late'"),
    ],
)
def test_mistakes_are_told_without_what_may_be_a_secret(tmp_path, section, key, words):
    found = read(tmp_path, section)
    (mistake,) = found.mistakes
    assert mistake.key == f"alerts.{key}".removesuffix(".alerts")
    assert words in mistake.message
    assert SECRET not in str(mistake)
    assert found.registry.alerts is None
    assert found.registry.tables


@pytest.mark.parametrize(
    ("section", "table", "of", "warned"),
    [
        ({}, {}, "nothing", ["no condition is set, so no hook receives a message"]),
        ({"runs": True}, {}, "runs", ["runs: true has no effect, as no table has a history"]),
        ({"runs": True, "digest": "08:00"}, {"history": {"path": "/h"}}, "runs, digest", []),
        ({}, {"clean": {"deadline": "1h"}}, "deadline", []),
    ],
)
def test_hooks_that_would_be_told_of_nothing_are_warned_of(tmp_path, capsys, section, table, of, warned):
    file = tmp_path / "tables.yaml"
    tables = [{"name": "t", "base_path": "/t", **table}]
    file.write_text(yaml.safe_dump({"alerts": hook() | section, "tables": tables}))
    assert main(["registry", "check", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"alerts  ops: {of}" in lines
    found = [line for line in lines if "WARNING" in line and "runs by itself" not in line]
    assert [words in line for words, line in zip(warned, found, strict=True)] == [True] * len(warned)
