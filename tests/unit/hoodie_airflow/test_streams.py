"""DAGs of streams: after the commits of the table that is followed, or one run after the other."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk import AssetAny, AssetOrTimeSchedule

from hoodie_airflow.factory import service_dags

REGISTRY = """
servers: {events: {type: kafka, connection: events}}
tables:
  - {name: orders, base_path: /lake/orders}
  - {name: copy, base_path: /lake/copy, keys: {record_key: id}, stream: {table: orders}}
  - {name: both, base_path: /lake/both, keys: {record_key: id}, stream: {table: orders, schedule: "*/5 * * * *"}}
  - {name: any, base_path: /lake/any, keys: {record_key: id}, stream: {table: orders, commits_by: any}}
  - name: live
    base_path: /lake/live
    keys: {record_key: id}
    stream: {table: orders, mode: continuous}
    clean: {after_ingests: 3}
  - name: topic
    base_path: /lake/topic
    keys: {record_key: id}
    source: {server: events, topic: orders, format: debezium-json}
    stream: {mode: continuous, run_for: 30m}
"""


def test_streams_follow_tables(tmp_path: Path) -> None:
    """No table is there: parsing reads none."""
    file = tmp_path / "tables.yaml"
    file.write_text(REGISTRY)
    dags = {dag.dag_id: dag for dag in service_dags("stream", file)}
    assert set(dags) == {
        "hudi_stream__copy",
        "hudi_stream__both",
        "hudi_stream__any",
        "hudi_stream__live",
        "hudi_stream__topic",
    }
    topic = dags["hudi_stream__topic"]
    assert (topic.schedule, topic.task_ids) == ("@continuous", ["stream"])
    copy, both, live = (dags[f"hudi_stream__{name}"] for name in ("copy", "both", "live"))
    asset = _only(copy.schedule)
    assert (asset.name, asset.uri) == ("hudi.orders", "hudi://tables/orders")
    watched = _only(dags["hudi_stream__any"].schedule)
    assert (watched.name, watched.watchers[0].trigger.table) == ("hudi.orders.commits", "orders")
    assert isinstance(both.schedule, AssetOrTimeSchedule)
    assert live.schedule == "@continuous"
    assert (live.max_active_runs, live.catchup) == (1, False)
    assert (copy.task_ids, live.task_ids) == (["new_commits", "stream"], ["stream"])
    clean = next(dag for dag in service_dags("clean", file) if dag.dag_id == "hudi_clean__live")
    assert [asset.name for asset in clean.schedule.objects] == ["hudi.live", "hudi.live.commits"]
    assert "by hand" not in clean.tags


def _only(schedule: object) -> object:
    """The one asset of a schedule."""
    if isinstance(schedule, AssetAny):
        (schedule,) = schedule.objects
    if isinstance(schedule, list):
        (schedule,) = schedule
    return schedule
