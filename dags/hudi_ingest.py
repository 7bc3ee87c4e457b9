"""One DAG for each table of the registry that loads their source."""

from airflow.sdk import DAG

from hoodie_airflow.factory import service_dags

dag: DAG
for dag in service_dags("ingest"):
    globals()[dag.dag_id] = dag
