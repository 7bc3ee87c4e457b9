"""One DAG for each table of the registry that loads their source."""

from airflow.sdk import DAG

from hoodie_airflow.factory import ingest_dags

dag: DAG
for dag in ingest_dags():
    globals()[dag.dag_id] = dag
