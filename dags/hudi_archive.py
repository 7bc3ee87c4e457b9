"""One DAG for each table of the registry with a section `archive`: it keeps the timeline short."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("archive"):
    globals()[dag.dag_id] = dag
