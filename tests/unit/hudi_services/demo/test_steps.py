"""Waiting for Airflow, on answers of its REST API that a real scheduler gives only now and then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hudi_services.demo import steps


class OneTask:
    """A run whose only task goes through some states, a look each."""

    def __init__(self, states: Sequence[str]) -> None:
        self._states = iter(states)
        self.answers: list[str] = []

    def tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        return [{"task_id": "approve", "state": next(self._states), "try_number": 1}]

    def question(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any]:
        return {"subject": "Make the table?"}

    def answer(self, dag_id: str, run_id: str, task_id: str, option: str) -> None:
        self.answers.append(option)

    def task_log(self, dag_id: str, run_id: str, task_id: str, attempt: int) -> str:
        return "the end"


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(steps, "_SETTLE", 0.0)
    monkeypatch.setattr(steps, "_POLL", 0.0)


def test_a_question_that_is_asked_again_is_answered_again():
    """A scheduler that sees the answer before the end of the asking process takes the task for one that was killed."""
    run = OneTask(["running", "awaiting_input", "up_for_retry", "queued", "awaiting_input", "running", "success"])
    assert steps.answer(run, "dag", "run", "approve", "Approve") == "Make the table?"
    assert run.answers == ["Approve", "Approve"]


def test_a_question_that_was_never_asked_is_told():
    with pytest.raises(steps.RunFailedError, match=r"(?s)Task approve of dag, run run, failed.*the end"):
        steps.answer(OneTask(["running", "failed"]), "dag", "run", "approve", "Approve")


def test_a_retry_of_anything_else_is_a_failure():
    with pytest.raises(steps.RunFailedError, match=r"Task approve of dag, run run, failed"):
        steps.wait_for_run(OneTask(["running", "up_for_retry"]), "dag", "run", "approve")
