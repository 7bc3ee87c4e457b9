"""`hudi-services alerts`: open troubles, and hooks that did not get them."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from hudi_services.cli.program import main
from tests.support.clock import FakeClock
from tests.support.hooks import serving
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def registry(tmp_path):
    made = create(tmp_path / "t", FakeClock())  # whose last commit is long ago
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    file = tmp_path / "tables.yaml"
    hooks = [{"name": "ops", "url": "${NOWHERE}"}]
    file.write_text(
        yaml.safe_dump(
            {
                "alerts": {"hooks": hooks, "late": "1h", "unreadable": "0s"},
                "objectives": {"freshness": "1h"},
                "tables": [{"name": "orders", "base_path": made.base_path}],
            }
        )
    )
    return file


def asked(capsys, file, *flags):
    code = main(["alerts", "--registry", str(file), *flags])
    return code, capsys.readouterr()


def test_what_stands(registry, capsys, tmp_path):
    code, shown = asked(capsys, registry)
    assert code == 1
    assert "hudi-services watch" in shown.err, "there is no store yet"
    assert main(["watch", "--registry", str(registry), "--once"]) == 0
    capsys.readouterr()
    code, shown = asked(capsys, registry, "--json")
    (late,) = json.loads(shown.out)["standing"]
    assert (code, late["table"], late["kind"], late["told"]) == (1, "orders", "late", {"ops": None})
    shutil.rmtree(tmp_path / "t")
    assert main(["watch", "--registry", str(registry), "--once"]) == 0
    capsys.readouterr()
    code, shown = asked(capsys, registry)
    assert code == 1
    assert "it is gone" in shown.out
    assert "ops" in shown.out


def test_nothing_stands(registry, capsys):
    registry.write_text(registry.read_text().replace("late: 1h", "late: 36000d"))
    main(["watch", "--registry", str(registry), "--once"])
    capsys.readouterr()
    code, shown = asked(capsys, registry)
    assert code == 0
    assert "no troubles" in shown.out


def test_a_registry_without_alerts_says_what_to_do(registry, capsys):
    registry.write_text("tables: []\n")
    code, shown = asked(capsys, registry)
    assert code == 2
    assert "alerts" in shown.err


def test_the_watcher_tells_and_a_test_message_arrives(registry, capsys, monkeypatch):
    with serving() as server:
        monkeypatch.setenv("NOWHERE", server.address)
        assert main(["watch", "--registry", str(registry), "--once"]) == 0
        assert "alerts: 1 messages were taken" in capsys.readouterr().out
        (body,) = server.got
        assert [(each["table"], each["kind"]) for each in body["messages"]] == [("orders", "late")]
        _, shown = asked(capsys, registry, "--json")
        assert json.loads(shown.out)["standing"][0]["told"]["ops"] is not None
        code, shown = asked(capsys, registry, "--test")
        assert (code, server.got[-1]["kind"]) == (0, "test")
        server.statuses = [404]
        code, shown = asked(capsys, registry, "--test", "--json")
        assert (code, json.loads(shown.out)) == (1, {"hooks": {"ops": "it answers 404"}})
