"""The few calls of Airflow's REST API that are needed here."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from hoodie.errors import HoodieError

_TIMEOUT = 60.0
_UNKNOWN = 404  # HTTP's code
_PAGE = 100  # DAGs; Airflow gives no more at once


class ApiError(HoodieError):
    """Airflow refused a request; `status` is the HTTP code."""

    status: int = 0


class AirflowApi:
    """A user's session. Answers are Airflow's JSON objects."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self._address = address
        self._login = {"username": user, "password": password}
        self._token: str | None = None
        # Never through a proxy: this is 127.0.0.1.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def healthy(self) -> bool:
        """Return true if the scheduler and the DAG processor report in."""
        try:
            parts = self._request("GET", "/api/v2/monitor/health")
        except (OSError, ApiError):
            return False
        return all((parts.get(name) or {}).get("status") == "healthy" for name in ("scheduler", "dag_processor"))

    def get(self, path: str, **query: Any) -> Any:
        query_string = f"?{urllib.parse.urlencode(query, doseq=True)}" if query else ""
        return self._call("GET", path + query_string)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self._call("POST", path, body)

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        return self._call("PATCH", path, body)

    def text(self, path: str) -> str:
        """A page or a log as plain text."""
        return self._raw("GET", path, None, {"Accept": "text/plain"}).decode(errors="replace")

    def dag_ids(self) -> list[str]:
        result: list[str] = []
        while True:
            page = self.get("/dags", limit=_PAGE, offset=len(result), order_by="dag_id")
            result += [dag["dag_id"] for dag in page["dags"]]
            if not page["dags"] or len(result) >= page["total_entries"]:
                return sorted(result)

    def make_pools(self, pools: Mapping[str, int]) -> None:
        """Create or resize pools, which are names with their numbers of slots."""
        for name, slots in sorted(pools.items()):
            size = {"slots": slots, "include_deferred": False}
            path = f"/pools/{urllib.parse.quote(name, safe='')}?{urllib.parse.urlencode({'update_mask': list(size)}, doseq=True)}"
            try:
                self.patch(path, {"pool": name, **size})  # only these of Airflow's own pool may change
            except ApiError as error:
                if error.status != _UNKNOWN:
                    raise
                self.post("/pools", {"name": name, "description": "from the registry of Hudi tables", **size})

    def unpause(self, dag_id: str) -> None:
        self.patch(f"/dags/{dag_id}", {"is_paused": False})

    def trigger(self, dag_id: str, conf: dict[str, Any]) -> str:
        """Start a run by hand. Returns its id."""
        run: str = self.post(f"/dags/{dag_id}/dagRuns", {"logical_date": None, "conf": conf})["dag_run_id"]
        return run

    def runs(self, dag_id: str) -> list[dict[str, Any]]:
        """All runs of a DAG, the oldest interval first."""
        dag_runs: list[dict[str, Any]] = self.get(f"/dags/{dag_id}/dagRuns", order_by="run_after", limit=1000)[
            "dag_runs"
        ]
        return dag_runs

    def tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        task_instances: list[dict[str, Any]] = self.get(f"{_run(dag_id, run_id)}/taskInstances")["task_instances"]
        return task_instances

    def result(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any]:
        """The value that the task returned."""
        path = f"{_run(dag_id, run_id)}/taskInstances/{task_id}/xcomEntries/return_value"
        value: dict[str, Any] = self.get(path, deserialize="true")["value"]
        return value

    def question(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any]:
        """The question of a task that waits for a person: `subject`, `body`, `options`."""
        result: dict[str, Any] = self.get(_question(dag_id, run_id, task_id))
        return result

    def answer(self, dag_id: str, run_id: str, task_id: str, option: str) -> None:
        """Choose one of the options of such a task, as a person would under Required Actions."""
        self.patch(_question(dag_id, run_id, task_id), {"chosen_options": [option], "params_input": {}})

    def task_log(self, dag_id: str, run_id: str, task_id: str, attempt: int) -> str:
        path = f"{_run(dag_id, run_id)}/taskInstances/{task_id}/logs/{attempt}?full_content=true"
        content = self._call("GET", path)["content"]
        return "\n".join(_text(line) for line in content)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        if self._token is None:
            self._token = self._request("POST", "/auth/token", self._login)["access_token"]
        return self._request(method, f"/api/v2{path}", body, {"Authorization": f"Bearer {self._token}"})

    def _request(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> Any:
        content = self._raw(method, path, body, {"Accept": "application/json", **(headers or {})})
        return json.loads(content) if content else None

    def _raw(self, method: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(self._address + path, data, sent, method=method)
        try:
            with self._open(request, timeout=_TIMEOUT) as answer:
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as error:
            refused = ApiError(f"Airflow refused {method} {path}: HTTP {error.code}", found=error.read().decode()[:500])
            refused.status = error.code
            raise refused from error


def _text(line: Any) -> str:
    """A line of a log; an exception with its cause, which Airflow keeps apart from the line's text."""
    if not isinstance(line, dict):
        return str(line)
    details = [f"{error['exc_type']}: {error['exc_value']}" for error in line.get("error_detail") or ()]
    return "\n".join([str(line.get("event", line)), *details])


def _run(dag_id: str, run_id: str) -> str:
    return f"/dags/{dag_id}/dagRuns/{urllib.parse.quote(run_id, safe='')}"


def _question(dag_id: str, run_id: str, task_id: str) -> str:
    return f"{_run(dag_id, run_id)}/taskInstances/{task_id}/-1/hitlDetails"
