"""One DAG that starts services whose tables miss their objectives, where the registry has a section `judge`."""

from airflow.sdk import DAG

from hoodie_airflow.judge import judge_dag

dag: DAG | None = judge_dag()
