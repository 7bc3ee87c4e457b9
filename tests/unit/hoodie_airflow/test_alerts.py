"""The triggerer's watcher calls hooks after its rounds, beside the command and never twice."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hoodie_airflow import watcher_rounds as looking
from hudi_services.operations.alerts.send import SECONDS
from tests.support.cli import main
from tests.support.hooks import Server, happenings, serving
from tests.support.tables import SMALL_BLOOM, batch, create


async def rounds(registry: Path, count: int) -> None:
    running = looking.join(registry)
    try:
        for done in range(count):
            await asyncio.wait_for(running.after(done), 10)
        await asyncio.sleep(0.1)  # hooks are called after the waiters
    finally:
        await looking.leave(running)


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(looking, "_pause", lambda _seconds: asyncio.sleep(0.05))
    create(tmp_path / "orders").write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    with serving() as server:
        hooks = [{"name": "ops", "url": server.address}]
        file = tmp_path / "tables.yaml"
        late = {
            "alerts": {"hooks": hooks, "late": "0s"},
            "tables": [{"name": "orders", "base_path": f"{tmp_path}/orders"}],
        }
        file.write_text(json.dumps(late))
        yield file, server


def test_hooks_are_told_once_by_the_triggerer_and_the_command(told: tuple[Path, Server]) -> None:
    file, server = told
    asyncio.run(rounds(file, 3))
    assert happenings(server) == ["began"]
    assert main(["watch", "--once", "--registry", str(file)]) == 0, "it may tell, and has nothing to tell"
    asyncio.run(rounds(file, 3))
    assert happenings(server) == ["began"]


def test_who_waits_for_commits_does_not_wait_for_hooks(told: tuple[Path, Server]) -> None:
    file, server = told
    server.slow = 60.0

    async def first() -> float:
        running = looking.join(file)
        began = asyncio.get_running_loop().time()
        await running.after(0)
        took = asyncio.get_running_loop().time() - began
        server.released.set()  # else the hook is waited for until its time is over
        await looking.leave(running)
        return took

    assert asyncio.run(first()) < SECONDS


def test_what_is_wrong_with_alerts_does_not_end_the_rounds(
    told: tuple[Path, Server], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def wrong(*_args: object) -> int:
        raise ValueError("wrong")

    monkeypatch.setattr(looking.AlertSender, "tell", wrong)
    asyncio.run(rounds(told[0], 3))
    assert "Alerts are tried again with the next round" in caplog.text
